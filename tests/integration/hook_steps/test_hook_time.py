"""A hook's time-out on a real Temporal server: what ends a hook, and what does not."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from jeroboam.activities.admission import Admission
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.operation import OperationActivities
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.hooks.base import Hook, HookEvent
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import HookPhase, Operation, OperationKind, OperationState
from jeroboam.worker import WORKFLOWS
from tests.conftest import CHECKOUT, TemporalServer
from tests.fakes import AccountsInMemory, NoCloud
from tests.integration.engine import Engine, running_engine
from tests.integration.hook_steps.patient import TIMEOUT_SECONDS, Patient

PROGRAM = "tests.integration.hook_steps.patient"
OUTAGE_SECONDS = 2 * TIMEOUT_SECONDS


class Gate(Hook):
    """Stays closed until the test opens it."""

    name = "gate"
    phases = (HookPhase.BEFORE,)
    operations = (OperationKind.CREATE,)

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.opened = threading.Event()

    def run(self, event: HookEvent) -> None:
        """Wait until it is opened."""
        self.reached.set()
        self.opened.wait(30)


async def begun(engine: Engine) -> Operation:
    spec, operation = engine.new()
    await engine.accept(spec, operation)
    await engine.operations.start(operation)
    return operation


async def tried(hook: Patient) -> None:
    """Wait until another process has tried a hook."""
    for _ in range(1500):
        if hook.keys:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("Nobody tried the hook.")


async def created(client: Client, directory: Path, hook: Hook) -> tuple[Operation, float]:
    """Create a cluster; return how it went and how many seconds it took."""
    async with running_engine(client, directory, hooks=(hook,)) as engine:
        began = time.monotonic()
        ended = await engine.ended(await begun(engine))
        return ended, time.monotonic() - began


async def test_a_hook_that_hangs(temporal_client: Client, tmp_path: Path) -> None:
    """It is given up when its time is up, though its thread cannot be stopped."""
    hook = Patient(tmp_path, "hang")
    operation, seconds = await created(temporal_client, tmp_path, hook)
    assert operation.state is OperationState.FAILED
    assert "Hook 'patient' did not end within 2 s." in (operation.reason or "")
    assert TIMEOUT_SECONDS <= seconds < 4 * TIMEOUT_SECONDS
    assert len(hook.keys) == 1


@pytest.mark.parametrize(
    ("behaviour", "last"),
    [
        ("be away", "Last error: The chat is down."),
        ("crash", "Last error: ValueError. The worker's log has more."),
    ],
)
async def test_a_hook_that_always_fails(
    temporal_client: Client, tmp_path: Path, behaviour: str, last: str
) -> None:
    """It is tried again as long as its time allows, and each attempt knows of the earlier ones."""
    hook = Patient(tmp_path, behaviour)
    hook.timeout_seconds = 5  # type: ignore[misc]
    operation, seconds = await created(temporal_client, tmp_path, hook)
    assert operation.state is OperationState.FAILED
    assert f"Hook 'patient' did not succeed within 5 s. {last}" in (operation.reason or "")
    # At once, after one second and after two more; the next pause would be four.
    assert len(hook.keys) == 3
    assert len(set(hook.keys)) == 1
    assert seconds >= 3


async def test_an_outage_before_the_hook(
    temporal_client: Client, temporal_server: TemporalServer, tmp_path: Path
) -> None:
    """A step that nobody takes up for longer than the hook's time-out loses none of it."""
    gate, hook = Gate(), Patient(tmp_path)
    async with running_engine(temporal_client, tmp_path, workers=False) as engine:
        queue = engine.settings.task_queue
        # A second client, since two workers of one process that share both are refused.
        async with deciding(engine, await temporal_server.client()):
            async with running_engine(temporal_client, tmp_path, queue=queue, hooks=(gate, hook)):
                operation = await begun(engine)
                await asyncio.to_thread(gate.reached.wait, 30)
                # The worker that runs the gate leaves when the gate is done; nobody follows.
                threading.Timer(1, gate.opened.set).start()
            assert "patient" in ((await engine.at_step(operation, "patient")).current_step or "")
            await asyncio.sleep(OUTAGE_SECONDS)
            assert hook.keys == []
            async with running_engine(temporal_client, tmp_path, queue=queue, hooks=(gate, hook)):
                ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert len(hook.keys) == 1


async def test_an_outage_in_the_middle_of_the_hook(
    temporal_client: Client, temporal_server: TemporalServer, tmp_path: Path
) -> None:
    """A worker that dies under a hook: the next one calls it with the same key and all its time."""
    hook = Patient(tmp_path)
    async with running_engine(temporal_client, tmp_path, workers=False) as engine:
        place = (temporal_server.address, engine.settings.task_queue, str(tmp_path))
        with worker(*place):
            operation = await begun(engine)
            await tried(hook)
        await asyncio.sleep(OUTAGE_SECONDS)
        with worker(*place):
            ended = await engine.ended(operation, seconds=60)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert len(hook.keys) == 2
    assert len(set(hook.keys)) == 1


@asynccontextmanager
async def deciding(engine: Engine, client: Client) -> AsyncIterator[None]:
    """Run a worker that takes decisions and writes them down, and takes up no step."""
    nothing = Dependencies(
        store=engine.store,
        drivers=DriverRegistry([]),
        hooks=HookRegistry(()),
        cloud=lambda _: NoCloud(),
        accounts=lambda _: AccountsInMemory(),
        revoke_trust=lambda *_: None,
    )
    short = OperationActivities(nothing, Admission(nothing, engine.operations))
    async with Worker(
        client,
        task_queue=engine.settings.task_queue,
        workflows=WORKFLOWS,
        activities=[short.record],
        no_remote_activities=True,
    ):
        yield


@contextmanager
def worker(address: str, queue: str, directory: str) -> Iterator[None]:
    """Run a worker process, and kill it at the end of the block."""
    log = Path(directory) / "worker.log"
    with log.open("ab") as output:
        command = [sys.executable, "-m", PROGRAM, address, queue, directory]
        process = subprocess.Popen(command, cwd=CHECKOUT, stdout=output, stderr=output)
    try:
        yield
        assert process.poll() is None, log.read_text()[-3000:]
    finally:
        process.kill()
        process.wait()
