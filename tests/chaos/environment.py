"""The processes of a run, each of which may be killed at any moment and comes back."""

import asyncio
import random
import subprocess
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from temporalio.client import Client

from jeroboam import temporal
from jeroboam.models import utc_now
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from tests.chaos.processes import Forked, Zygote
from tests.chaos.rules import Act, RuleBook
from tests.chaos.world import Component, Pause, World
from tests.conftest import TemporalServer
from tests.integration.store.conftest import Postgres, running_postgres

POLL_SECONDS = 0.03
PAUSE: Pause = (0.1, 1.5)
DATABASE_SECONDS = 20


@dataclass
class Database:
    """The PostgreSQL server."""

    server: Postgres

    def start(self) -> None:
        """Start it; its predecessor's children may need a moment to notice."""
        deadline = time.monotonic() + DATABASE_SECONDS
        while True:
            try:
                self.server.start()
            except subprocess.CalledProcessError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)
            else:
                return

    def kill(self) -> None:
        """Kill all of its processes; those left behind would keep a new one from starting."""
        pid = int((self.server.directory / "data" / "postmaster.pid").read_text().split()[0])
        with suppress(psutil.NoSuchProcess):
            postmaster = psutil.Process(pid)
            family = [postmaster, *postmaster.children(recursive=True)]
            for process in family:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(family, timeout=5)


@dataclass
class Environment:
    """All processes of a run, and how the harness looks into them.

    Args:
        store: Reads the same database as the processes.
        crashes: How often each component was killed.
    """

    directory: Path
    world: World
    url: str
    components: dict[str, Component]
    rules: RuleBook
    store: Store
    temporal: TemporalServer
    settings: Settings
    random: random.Random
    crashes: Counter[str] = field(default_factory=Counter)
    _locks: dict[str, asyncio.Lock] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _client: Client | None = None

    @property
    def workers(self) -> list[str]:
        """Names of the workers."""
        return [name for name in self.components if name.startswith(Act.WORKER)]

    async def client(self) -> Client:
        """Return a client of Temporal."""
        if self._client is None:
            self._client = await temporal.connect(self.settings, lazy=True)
        return self._client

    async def crash(self, name: str, acknowledge: Callable[[], None] | None = None) -> None:
        """Kill a component and bring it back after a moment."""
        lock = self._locks.setdefault(name, asyncio.Lock())
        async with lock:
            self.crashes[name] += 1
            self._log(name, "killed")
            await asyncio.to_thread(self.components[name].kill)
            if acknowledge:
                acknowledge()
            pause = self.world.pauses.get(name, PAUSE)
            await asyncio.sleep(self.random.uniform(*pause))
            await asyncio.to_thread(self.components[name].start)
            self._log(name, "back")

    def _log(self, name: str, what: str) -> None:
        with (self.directory / "crashes.log").open("a") as file:
            file.write(f"{utc_now():%H:%M:%S.%f} {name} {what}\n")

    async def supervise(self) -> None:
        """Do what rules ask for, and bring back what has died."""
        while True:
            for path, what in self.rules.requests().items():
                self._spawn(self._meant(what), path)
            for name in (*self.workers, Act.API):
                lock = self._locks.setdefault(name, asyncio.Lock())
                if self._is_dead(name) and not lock.locked():
                    self._spawn(name, None)
                    await asyncio.sleep(0)
            await asyncio.sleep(POLL_SECONDS)

    def _meant(self, what: str) -> str:
        """Return the component that a request means; "the other worker" says from whose side."""
        act, _, pid = what.partition(" ")
        if act != Act.OTHER_WORKER:
            return what
        others = [name for name in self.workers if not self._has_pid(name, pid)]
        return self.random.choice(others)

    def _has_pid(self, name: str, pid: str) -> bool:
        component = self.components[name]
        return isinstance(component, Forked) and str(component.pid) == pid

    def _spawn(self, name: str, request: Path | None) -> None:
        if request:
            taken = request.with_name(f"{request.name}.new")
            with suppress(FileNotFoundError):
                request.rename(taken)
            acknowledge: Callable[[], None] | None = lambda: taken.unlink(missing_ok=True)  # noqa: E731
        else:
            acknowledge = None
        task = asyncio.create_task(self.crash(name, acknowledge))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_dead(self, name: str) -> bool:
        component = self.components[name]
        return isinstance(component, Forked) and component.is_dead


@asynccontextmanager
async def running(
    directory: Path,
    seed: str,
    world: World,
    *,
    port_base: int,
    workers: int = 2,
    postgres: bool = True,
) -> AsyncIterator[Environment]:
    """Yield an environment in which everything runs; all of it ends with the block."""
    async with AsyncExitStack() as stack:
        zygote = Zygote(directory / "zygote.log")
        zygote.start()
        stack.callback(zygote.stop)
        url = ""
        components: dict[str, Component] = {}
        if postgres:
            server = await asyncio.to_thread(stack.enter_context, running_postgres())
            components[Act.DATABASE] = Database(server)
            url = server.url(await server.create_database())
        engine = TemporalServer(directory, port_base)
        environment = {**_environment(directory, url, port_base), **world.settings}
        components |= {
            **world.components,
            Act.TEMPORAL: engine,
            Act.API: _process(zygote, "api", directory, environment, port_base + 1),
        }
        for number in range(workers):
            name = f"{Act.WORKER}-{number}"
            port = port_base + 2 + number
            components[name] = _process(zygote, "worker", directory, environment, port)
        settings = Settings(
            state_directory=directory, database_url=url, temporal_address=engine.address
        )
        cipher = Cipher.from_settings(settings)
        store = await Store.open(settings.resolved_database_url, cipher=cipher, migrate=True)
        stack.push_async_callback(store.close)
        for name in (Act.TEMPORAL, Act.API, *(f"{Act.WORKER}-{n}" for n in range(workers))):
            stack.callback(components[name].kill)
            await asyncio.to_thread(components[name].start)
            if name == Act.TEMPORAL:
                await temporal.register_search_attributes(await engine.client())
        run = Environment(
            directory=directory,
            world=world,
            url=f"http://127.0.0.1:{port_base + 1}",
            components=components,
            rules=RuleBook(directory),
            store=store,
            temporal=engine,
            settings=settings,
            random=random.Random(seed),
        )
        supervisor = asyncio.create_task(run.supervise())
        try:
            yield run
        finally:
            supervisor.cancel()
            await asyncio.gather(supervisor, *run._tasks, return_exceptions=True)


def _environment(directory: Path, url: str, port_base: int) -> dict[str, str]:
    return {
        "CHAOS_DIRECTORY": str(directory),
        "JEROBOAM_STATE_DIRECTORY": str(directory),
        "JEROBOAM_DATABASE_URL": url,
        "JEROBOAM_TEMPORAL_ADDRESS": f"127.0.0.1:{port_base}",
        "JEROBOAM_API_PORT": str(port_base + 1),
        "JEROBOAM_RECONCILE_INTERVAL_SECONDS": "2",
        "JEROBOAM_MAX_CLUSTERS_PER_PROJECT": "100000",
        "JEROBOAM_SHUTDOWN_GRACE_SECONDS": "1",
    }


def _process(
    zygote: Zygote, kind: str, directory: Path, environment: dict[str, str], port: int
) -> Forked:
    own = {} if kind == "api" else {"JEROBOAM_WORKER_HEALTH_PORT": str(port)}
    log = directory / f"{kind}-{port}.log"
    return Forked(zygote, kind, {**environment, **own}, log, f"http://127.0.0.1:{port}/")
