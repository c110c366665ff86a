"""Makes drivers that run in workers of their own known to this process, and asks them."""

import asyncio
import base64

import structlog
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from jeroboam import temporal
from jeroboam.activities.driver_questions import PURPOSE
from jeroboam.drivers.coe_api import SupportsCoeApi
from jeroboam.drivers.described_routes import describe
from jeroboam.drivers.registry import BrokenDriver, DriverEntry, DriverRegistry
from jeroboam.drivers.remote import stand_in
from jeroboam.drivers.sources import Source, abilities
from jeroboam.errors import CloudUnavailableError, DriverContractError, NotFoundError
from jeroboam.models import DriverFiles, new_uuid
from jeroboam.models.driver_wire import (
    ASK_DRIVER_WORKFLOW,
    DriverDescription,
    DriverQuestion,
    Kind,
    driver_queue,
)
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows import limits
from jeroboam.workflows.raised import raised_by

REFRESH_SECONDS = 10.0

log = structlog.get_logger(__name__)


class DriversElsewhere:
    """Keeps a registry up to date with what the drivers' own workers tell.

    Args:
        client: A client of the product's namespace.
        registry: Which gets stand-ins for them.
        cipher: The key that API and workers share.
    """

    def __init__(
        self,
        client: Client,
        store: Store,
        settings: Settings,
        registry: DriverRegistry,
        cipher: Cipher,
    ) -> None:
        self._client = client
        self._store = store
        self._settings = settings
        self._registry = registry
        self._cipher = Cipher(cipher.derive(PURPOSE))
        self._files: dict[str, DriverFiles] = {}
        self._entries: dict[str, tuple[DriverDescription, DriverEntry]] = {}

    async def follow(self) -> None:
        """Refresh the registry until the task is cancelled."""
        while self._settings.own_worker_drivers:
            try:
                await self.refresh()
            except Exception:
                log.exception("drivers_not_refreshed")
            await asyncio.sleep(REFRESH_SECONDS)

    async def refresh(self) -> None:
        """Read what is told by now, of the drivers that the settings name."""
        wanted = self._settings.own_worker_drivers
        if not wanted:
            return
        known = {one.name: one for one in await self._store.driver_descriptions.list()}
        loop = asyncio.get_running_loop()
        found: list[DriverEntry | BrokenDriver] = [
            await self._entry(known[name], loop) if name in known else _silent(name)
            for name in sorted(wanted)
        ]
        self._registry.put_elsewhere(
            [one for one in found if isinstance(one, DriverEntry)],
            [one for one in found if isinstance(one, BrokenDriver)],
        )

    async def _entry(
        self, described: DriverDescription, loop: asyncio.AbstractEventLoop
    ) -> DriverEntry | BrokenDriver:
        # Whoever follows the registry sees a change only where there is one.
        before = self._entries.get(described.name)
        if before and before[0] == described.model_copy(update={"seen_at": before[0].seen_at}):
            return before[1]
        made = await self._made(described, loop)
        if isinstance(made, DriverEntry):
            self._entries[described.name] = described, made
        return made

    async def _made(
        self, described: DriverDescription, loop: asyncio.AbstractEventLoop
    ) -> DriverEntry | BrokenDriver:
        def ask(driver: str, method: str, arguments: bytes) -> None:
            question = asyncio.run_coroutine_threadsafe(self.ask(driver, method, arguments), loop)
            question.result(limits.ASK_PATIENCE.total_seconds())

        source = Source(package=described.source, host=described.host)
        try:
            files = await self._kept(described.files)
        except (NotFoundError, DriverContractError) as error:
            return BrokenDriver(described.name, source, error.message)
        return DriverEntry(
            stand_in(described, files.contents if files else {}, ask),
            self._registry.disabled_reason(described.name),
            source,
            driver_queue(self._settings.task_queue, described.name),
        )

    async def _kept(self, digest: str | None) -> DriverFiles | None:
        if digest and digest not in self._files:
            self._files[digest] = await self._store.driver_files.get(digest)
        return self._files[digest] if digest else None

    async def ask(self, driver: str, method: str, arguments: bytes) -> None:
        """Ask a driver for its objection.

        Args:
            arguments: Of the method, as JSON.

        Raises:
            JeroboamError: What the driver raises, of the same class.
            CloudUnavailableError: No worker of the driver answers.
        """
        sealed = base64.b64encode(self._cipher.encrypt(arguments, driver)).decode()
        try:
            async with asyncio.timeout(limits.ASK_TOTAL.total_seconds()):
                handle = await self._client.start_workflow(
                    ASK_DRIVER_WORKFLOW,
                    DriverQuestion(driver=driver, method=method, sealed=sealed),
                    id=f"driver/{driver}/{new_uuid()}",
                    task_queue=driver_queue(self._settings.task_queue, driver),
                    execution_timeout=limits.ASK_TOTAL,
                    rpc_timeout=temporal.RPC_TIMEOUT,
                )
                await handle.result()
        except WorkflowFailureError as error:
            raise raised_by(error) or _unanswered(driver) from None
        except (RPCError, TimeoutError, RuntimeError) as error:
            log.warning("driver_not_asked", driver=driver, reason=str(error) or "no answer")
            raise _unanswered(driver) from None


def _unanswered(driver: str) -> CloudUnavailableError:
    return CloudUnavailableError(
        f"No worker of the driver '{driver}' answers. Try again; if it stays so, tell your "
        "operator."
    )


def _silent(name: str) -> BrokenDriver:
    return BrokenDriver(
        name,
        Source(package="a worker of its own"),
        f"None of its workers has reported yet. Start one: jeroboam worker --driver {name}",
    )


async def announce(store: Store, entry: DriverEntry, host: str) -> None:
    """Tell the other processes of a driver that runs here."""
    driver = entry.driver
    description = DriverDescription(
        name=driver.name,
        version=driver.version,
        source=str(entry.source),
        provides=tuple(
            Kind(server_type=one.server_type, os=one.os, coe=one.coe) for one in driver.provides
        ),
        abilities=tuple(abilities(driver)),
        uses_cloud=driver.uses_cloud,
        files=entry.files.digest if entry.files else None,
        coe_api=describe(driver.coe_api) if isinstance(driver, SupportsCoeApi) else None,
        host=host,
    )
    await store.driver_descriptions.put(description, entry.files)
