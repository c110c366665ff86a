"""The API process: composition root of everything that answers requests."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack

import structlog
import uvicorn
from temporalio.client import Client

from jeroboam import temporal
from jeroboam.activities.planning import Planner
from jeroboam.api.grpc import server as grpc_server
from jeroboam.api.http.app import create_app
from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies, Probe
from jeroboam.api.http.directory import CloudDirectory
from jeroboam.api.http.keystone import KeystoneAuthenticator
from jeroboam.api.http.openstack_directory import OpenStackDirectory
from jeroboam.api.http.protocol import patient_for
from jeroboam.api.http.surveying import CloudSurveyor
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import ClusterDriver, SupportsOwnerPreparation
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.drivers_elsewhere import DriversElsewhere
from jeroboam.errors import CloudUnavailableError, ConfigurationError
from jeroboam.hooks.callbacks import PURPOSE as CALLBACKS
from jeroboam.hooks.kit import HookKit
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows.client import OperationClient
from jeroboam.workflows.coe_client import CoeClient
from jeroboam.workflows.key_client import KeyClient
from jeroboam.workflows.schedule_client import ScheduleClient
from jeroboam.workflows.signing_client import SigningClient

LISTEN_BACKLOG = 2048
LONGEST_LOOK_UP_SECONDS = 30.0

log = structlog.get_logger(__name__)


class _Server(uvicorn.Server):
    """Ends on a signal without passing it on, so that what was built is closed in order.

    Args:
        stop_beside: Stops what serves beside it, at the same time.
    """

    def __init__(
        self, config: uvicorn.Config, stop_beside: Callable[[], Awaitable[None]] | None
    ) -> None:
        super().__init__(config)
        self._stop_beside = stop_beside

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let the requests at hand finish."""
        beside = [self._stop_beside()] if self._stop_beside else []
        await asyncio.gather(super().shutdown(sockets), *beside)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle the signals of the running loop until the server has ended."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


class KeystoneTrusts:
    """Makes and removes trusts in threads."""

    def __init__(self, cloud: Cloud, threads: Executor) -> None:
        self._cloud = cloud
        self._threads = threads

    async def create(self, caller: Caller) -> str:
        """Return the id of a new trust from the caller to the service user."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._cloud.create_trust, caller.token, caller.identity
        )

    async def works(self, trust_id: str) -> bool:
        """Return whether one can log in with a trust now."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._cloud.trust_works, trust_id
        )

    async def delete(self, trust_id: str) -> None:
        """Remove a trust; none is success."""
        await asyncio.get_running_loop().run_in_executor(
            self._threads, self._cloud.delete_trust, trust_id
        )

    async def prepare_owner(self, caller: Caller, driver: ClusterDriver) -> None:
        """Have a driver do what it needs the caller's own token for, if there is something."""
        if not isinstance(driver, SupportsOwnerPreparation):
            return
        prepare = driver.prepare_owner

        def work() -> None:
            prepare(self._cloud, self._cloud.token_session(caller.token, project))

        project = caller.identity.project_id
        await asyncio.get_running_loop().run_in_executor(self._threads, work)


async def build(settings: Settings, stack: AsyncExitStack) -> Dependencies:
    """Make everything that the API needs; what must be closed goes on ``stack``.

    Nothing is asked of Keystone or Temporal here, so the API starts when they are down.
    """
    hooks_key = Cipher.for_hooks(settings)
    hooks = HookKit.load(settings, hooks_key.derive(CALLBACKS))
    store = await Store.open(
        settings.resolved_database_url,
        hooks_cipher=hooks_key,
        quotas=settings.quotas,
        migrate=True,
    )
    stack.push_async_callback(store.close)
    threads = ThreadPoolExecutor(settings.max_driver_threads, thread_name_prefix="cloud")
    stack.callback(threads.shutdown, wait=False, cancel_futures=True)
    cloud = Cloud(settings.cloud, timeout_seconds=settings.cloud_timeout_seconds)
    authenticate = KeystoneAuthenticator(settings)
    stack.callback(authenticate.close)
    client = await temporal.connect(settings, lazy=True)

    def directory(caller: Caller) -> CloudDirectory:
        return OpenStackDirectory(
            lambda: cloud.token_session(caller.token, caller.identity.project_id),
            cloud,
            threads=threads,
            timeout_seconds=min(LONGEST_LOOK_UP_SECONDS, settings.cloud_timeout_seconds),
        )

    drivers = DriverRegistry.load(settings)
    elsewhere = DriversElsewhere(client, store, settings, drivers, hooks_key)
    await elsewhere.refresh()
    stack.callback(asyncio.create_task(elsewhere.follow()).cancel)
    return Dependencies(
        settings=settings,
        store=store,
        drivers=drivers,
        operations=OperationClient(client, store, settings),
        planner=Planner(store, drivers, hooks.registry),
        schedules=ScheduleClient(client, store, settings),
        coe=CoeClient(client, settings.task_queue),
        signer=SigningClient(client, settings.task_queue),
        authenticate=authenticate,
        authorizer=Authorizer(settings.policy_file),
        directory=directory,
        trusts=KeystoneTrusts(cloud, threads),
        probes=_probes(store, cloud, client, threads),
        hooks=hooks,
        surveyor=CloudSurveyor(cloud, threads, LONGEST_LOOK_UP_SECONDS),
        keep_keys=KeyClient(client, settings.task_queue).keep,
    )


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish the requests at hand and leave.

    Raises:
        ConfigurationError: A setting is wrong, or the port is taken.
    """
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(contextlib.closing(_listen(settings)))
        app = create_app(await build(settings, stack))
        config = uvicorn.Config(
            app,
            # What is installed beside Jeroboam must not choose another parser, with other bounds.
            http=patient_for(settings.request_seconds),
            ws="none",
            limit_concurrency=settings.max_connections,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=round(settings.shutdown_grace_seconds),
        )
        rpc = await stack.enter_async_context(grpc_server.beside(app, settings))
        log.info("api_ready", url=settings.resolved_api_url)
        await _Server(config, rpc.stop if rpc else None).serve(sockets=[listener])
        log.info("api_stopped")


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything else, so that a second process fails at once."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(
            settings.api_host, settings.api_port, type=socket.SOCK_STREAM
        )[0]
        # With the protocol named, asyncio turns Nagle's algorithm off for what it accepts; without
        # it every answer on a kept connection waits 40 ms.
        listener = socket.socket(family, kind, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(LISTEN_BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"The API cannot listen on {settings.api_host}:{settings.api_port}: {error.strerror}. "
            "Set JEROBOAM_API_HOST and JEROBOAM_API_PORT to an address that is free."
        ) from error
    return listener


def _probes(store: Store, cloud: Cloud, client: Client, threads: Executor) -> Mapping[str, Probe]:
    async def keystone() -> None:
        def ask() -> None:
            cloud.service_session().get(
                cloud.auth_url, authenticated=False, headers={"Accept": "application/json"}
            )

        await asyncio.get_running_loop().run_in_executor(threads, ask)

    async def workflow_engine() -> None:
        if not await client.service_client.check_health(timeout=temporal.RPC_TIMEOUT):
            raise CloudUnavailableError("Temporal is not ready.")

    return {"database": store.ping, "keystone": keystone, "temporal": workflow_engine}
