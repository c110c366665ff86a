"""What a change that is undone, or taken up again, may still do to the backend."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from jeroboam.drivers.fake.backend import FakeBackend
from jeroboam.models import ClusterSpec, OperationKind, OperationState, Status
from tests.integration.engine import Engine, running_engine

SEVERAL_POLLS = 1.5
"""Seconds; the engine of the tests polls ten times a second."""


@pytest.fixture
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    async with running_engine(temporal_client, tmp_path_factory.mktemp("engine")) as engine:
        yield engine


def set_faults(engine: Engine, spec: ClusterSpec, **labels: str) -> None:
    folder = engine.fakes / "faults"
    folder.mkdir(exist_ok=True)
    (folder / f"{spec.cluster.uuid}.json").write_text(json.dumps(labels))


async def test_a_roll_back_is_not_overtaken_by_what_it_undoes(engine: Engine) -> None:
    """A cancelled wait that sees its work broken off asks for it no more: the way back holds."""
    spec = await engine.ready(workers=1, labels={"fake_update_seconds": "30"})
    group = spec.workers[0]
    resize = await engine.ask(spec, OperationKind.UPDATE, node_group=group.uuid, node_count=3)
    await engine.until(spec, lambda cluster: cluster.status is Status.UPDATE_IN_PROGRESS)
    await asyncio.sleep(SEVERAL_POLLS)
    set_faults(engine, spec, fake_update_seconds="0.1")
    await engine.operations.cancel(await engine.store.operations.get(resize.uuid), "a test")
    ended = await engine.ended(resize)
    await asyncio.sleep(SEVERAL_POLLS)
    known = FakeBackend(engine.fakes).read(spec.cluster.uuid)
    assert ended.state is OperationState.CANCELLED
    names = [node.name for node in known.groups[group.uuid].nodes]
    assert names == [node.name for node in group.nodes]


async def test_a_retry_finds_a_named_node_gone(engine: Engine) -> None:
    """A resize that removed the named node, failed and was rolled back can be taken up again."""
    spec = await engine.ready(workers=3)
    group = spec.workers[0]
    named = (group.nodes[0].name,)
    set_faults(engine, spec, fake_fail="update", fake_fail_share="1", fake_fail_times="1")
    resize = await engine.ask(
        spec, OperationKind.RESIZE, node_group=group.uuid, node_count=2, nodes_to_remove=named
    )
    failed = await engine.ended(resize)
    assert failed.state is OperationState.FAILED
    await engine.operations.retry(failed)
    assert (await engine.ended(failed)).state is OperationState.SUCCEEDED
    now = (await engine.store.clusters.spec(spec.cluster.uuid)).group(group.uuid)
    assert len(now.nodes) == now.node_count == 2
