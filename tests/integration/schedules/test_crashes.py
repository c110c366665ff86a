"""Workers and Temporal are killed during a scheduled run; nothing is lost, nothing is doubled."""

import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jeroboam import temporal
from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.models import OperationKind, OperationState
from jeroboam.models.schedule import RunState, Selector
from jeroboam.models.scheduled_wire import Totals
from tests.conftest import CHECKOUT, TemporalServer, free_port
from tests.integration.engine import running_engine
from tests.integration.schedules.scheduling import Scheduling, a_schedule

PROGRAM = "tests.integration.schedules.worker_process"
CLUSTERS = 5
SECONDS = 280


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TemporalServer]:
    server = TemporalServer(tmp_path, free_port())
    server.start()
    yield server
    server.kill()


@contextmanager
def worker(server: TemporalServer, queue: str, directory: Path) -> Iterator[None]:
    """Run a worker process, and kill it at the end of the block."""
    command = [sys.executable, "-m", PROGRAM, server.address, queue, str(directory)]
    with (directory / "worker.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=CHECKOUT, stdout=log, stderr=log)
    try:
        yield
        assert process.poll() is None, (directory / "worker.log").read_text()[-3000:]
    finally:
        process.kill()
        process.wait()


@pytest.mark.timeout(SECONDS + 60)
async def test_kills(server: TemporalServer, tmp_path: Path) -> None:
    """After any number of kills each cluster has one operation and one reboot of each node."""
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    client = await server.client()
    await temporal.register_search_attributes(client)
    async with running_engine(client, tmp_path) as engine:
        scheduling = Scheduling(engine, None)  # type: ignore[arg-type]
        await scheduling.clusters(CLUSTERS, fake_reboot_seconds="0.3")
        queue = engine.settings.task_queue
    async with running_engine(client, tmp_path, queue=queue, workers=False) as engine:
        scheduling = Scheduling(engine, None)  # type: ignore[arg-type]
        schedule = a_schedule(kind=OperationKind.HARD_REBOOT, selector=Selector(), max_parallel=2)
        await engine.store.schedules.add(schedule, project_limit=1)
        handle = await scheduling.start(schedule, events_per_run=30)
        for number in range(4):
            with worker(server, queue, tmp_path):
                await asyncio.sleep(dice.uniform(2.0, 5.0))
            if number == 1:
                server.kill()
                server.start()
        with worker(server, queue, tmp_path):
            totals = await asyncio.wait_for(handle.result(), SECONDS)
        assert totals == Totals(succeeded=CLUSTERS), f"seed {seed}"
        outcomes = await scheduling.outcomes(schedule)
        assert {one.state for one in outcomes} == {RunState.SUCCEEDED}
        operations = await scheduling.operations(schedule)
        assert len({one.cluster_id for one in operations}) == len(operations) == CLUSTERS
        assert {one.state for one in operations} == {OperationState.SUCCEEDED}
        for operation in operations:
            nodes = FakeBackend(tmp_path / "fake").read(operation.cluster_id).nodes()
            assert {len(node.reboots) for node in nodes} == {1}, f"seed {seed}"
