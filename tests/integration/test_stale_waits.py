"""Waits that nobody waits for any more: they learn of their end only at their next heartbeat."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.models import OperationKind, OperationState, Status
from tests.integration.engine import Engine, running_engine

SEVERAL_POLLS = 1.5
"""Seconds; the engine of the tests polls ten times a second."""


@pytest.fixture
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    async with running_engine(temporal_client, tmp_path_factory.mktemp("engine")) as engine:
        yield engine


async def test_a_roll_back_is_not_overtaken_by_what_it_undoes(engine: Engine) -> None:
    """A cancelled wait that sees its work broken off asks for it no more: the way back holds."""
    spec = await engine.ready(workers=1, labels={"fake_update_seconds": "30"})
    group = spec.workers[0]
    resize = await engine.ask(spec, OperationKind.UPDATE, node_group=group.uuid, node_count=3)
    await engine.until(spec, lambda cluster: cluster.status is Status.UPDATE_IN_PROGRESS)
    await asyncio.sleep(SEVERAL_POLLS)
    faults = engine.fakes / "faults"
    faults.mkdir()
    (faults / f"{spec.cluster.uuid}.json").write_text('{"fake_update_seconds": "0.1"}')
    await engine.operations.cancel(await engine.store.operations.get(resize.uuid), "a test")
    ended = await engine.ended(resize)
    await asyncio.sleep(SEVERAL_POLLS)
    known = FakeBackend(engine.fakes).read(spec.cluster.uuid)
    assert ended.state is OperationState.CANCELLED
    assert [node.name for node in known.groups[group.uuid].nodes] == [
        node.name for node in group.nodes
    ]
