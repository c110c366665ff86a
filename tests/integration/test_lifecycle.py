"""Changes of living clusters from end to end: real Temporal, real database, fake backend.

What happened is read from the backend's own records and from the store, not from the engine.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from jeroboam.errors import ConflictError, OperationInProgressError
from jeroboam.models import (
    ClusterSpec,
    HealthStatus,
    NodeGroup,
    Operation,
    OperationKind,
    OperationState,
    Status,
    StepState,
    work,
)
from jeroboam.store import OperationFilter, Page, Scope
from tests.integration.engine import Engine, running_engine

QUICK = {
    f"fake_{call}_seconds": "0.1" for call in ("update", "upgrade", "reboot", "rebuild", "group")
}
SLOW = {**QUICK, **dict.fromkeys(QUICK, "20")}


@pytest.fixture(scope="module")
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    async with running_engine(temporal_client, tmp_path_factory.mktemp("engine")) as engine:
        yield engine


async def ready(engine: Engine, **labels: str) -> ClusterSpec:
    return await engine.ready(masters=3, workers=2, labels={**QUICK, **labels})


def sizes(engine: Engine, spec: ClusterSpec) -> dict[str, int]:
    """Return the backend's number of nodes by group."""
    return {group.name: len(group.nodes) for group in engine.backend(spec).groups.values()}


def counts(spec: ClusterSpec) -> dict[str, int]:
    """Return the recorded number of nodes by group."""
    return {group.name: group.node_count for group in spec.node_groups}


def reboots(engine: Engine, spec: ClusterSpec) -> dict[str, int]:
    nodes = (node for group in engine.backend(spec).groups.values() for node in group.nodes)
    return {node.name: len(node.reboots) for node in nodes}


def group_of(spec: ClusterSpec, **fields: object) -> NodeGroup:
    values = {
        "name": "gpu",
        "cluster_id": spec.cluster.uuid,
        "project_id": spec.cluster.project_id,
        "labels": spec.cluster.labels,
        "node_count": 2,
    }
    return NodeGroup.model_validate(values | fields)


async def resize(engine: Engine, spec: ClusterSpec, count: int, **more: Any) -> Operation:
    worker = spec.group("default-worker")
    return await engine.ask(
        spec, OperationKind.RESIZE, node_group=worker.uuid, node_count=count, **more
    )


async def test_resize(engine: Engine) -> None:
    """A resize changes the backend, then the record; nodes are listed afterwards."""
    spec = await ready(engine)
    operation = await resize(engine, spec, 4)
    assert (await engine.cluster(spec)).status is Status.UPDATE_IN_PROGRESS
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    after = await engine.spec(spec)
    assert after.cluster.status is Status.UPDATE_COMPLETE
    assert sizes(engine, spec) == counts(after) == {"default-master": 3, "default-worker": 4}
    assert len(after.group("default-worker").nodes) == 4
    assert after.group("default-master").status is Status.CREATE_COMPLETE


async def test_resize_removes_named_nodes(engine: Engine) -> None:
    """The nodes that are named go, the others stay."""
    spec = await ready(engine)
    first, second = spec.group("default-worker").nodes
    await engine.ended(await resize(engine, spec, 1, nodes_to_remove=(first.name,)))
    after = await engine.spec(spec)
    assert [node.id for node in after.group("default-worker").nodes] == [second.id]


async def test_failed_resize_is_rolled_back(engine: Engine) -> None:
    """A resize that fails halfway returns to the previous size, with the cause in the record."""
    spec = await ready(
        engine,
        fake_fail="update",
        fake_fail_times="1",
        fake_fail_share="0.5",
        fake_fail_reason="No valid host was found.",
    )
    ended = await engine.ended(await resize(engine, spec, 6))
    after = await engine.spec(spec)
    assert ended.state is OperationState.FAILED
    assert ended.undone
    assert after.cluster.status is Status.ROLLBACK_COMPLETE
    assert "No valid host was found." in (after.cluster.status_reason or "")
    assert "previous state is restored" in (after.cluster.status_reason or "")
    assert sizes(engine, spec) == counts(after) == {"default-master": 3, "default-worker": 2}
    assert [step.name for step in ended.steps if step.undoes]


async def test_failed_resize_is_kept_when_asked(engine: Engine) -> None:
    """Without a roll-back the cluster is UPDATE_FAILED and what was built stays."""
    spec = await ready(engine, fake_fail="update", fake_fail_times="1", fake_fail_share="0.5")
    await engine.ended(await resize(engine, spec, 6, rollback=False))
    after = await engine.spec(spec)
    assert after.cluster.status is Status.UPDATE_FAILED
    assert counts(after)["default-worker"] == 2
    assert sizes(engine, spec)["default-worker"] > 2


async def test_retry_after_a_rolled_back_failure(engine: Engine) -> None:
    """A retry does the whole change again with the same inputs."""
    spec = await ready(engine, fake_fail="update", fake_fail_times="1")
    operation = await engine.ended(await resize(engine, spec, 5))
    assert operation.state is OperationState.FAILED
    await engine.operations.retry(operation)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert sizes(engine, spec)["default-worker"] == 5
    assert (await engine.cluster(spec)).status is Status.UPDATE_COMPLETE


async def test_roll_back_that_fails(engine: Engine) -> None:
    """Both causes are told, and the next operation is possible."""
    spec = await ready(engine, fake_fail="update")
    ended = await engine.ended(await resize(engine, spec, 5))
    assert "The roll-back failed as well" in (ended.reason or "")
    assert (await engine.cluster(spec)).status is Status.ROLLBACK_FAILED
    again = await engine.ask(spec, OperationKind.CHECK_HEALTH)
    assert (await engine.ended(again)).state is OperationState.SUCCEEDED


async def test_second_operation_is_refused_with_the_first(engine: Engine) -> None:
    """A second change is told which operation runs, and at which step; a delete goes through."""
    spec = await ready(engine, **SLOW)
    operation = await resize(engine, spec, 3)
    await engine.at_step(operation, "Resize")
    with pytest.raises(OperationInProgressError) as refused:
        await resize(engine, spec, 4)
    assert refused.value.operation_id == operation.uuid
    assert refused.value.kind == OperationKind.RESIZE
    assert "Resize" in (refused.value.step or "")
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    assert (await engine.ended(operation)).state is OperationState.CANCELLED


async def test_many_at_once_one_wins(engine: Engine) -> None:
    """Of many requests at the same moment exactly one gets the cluster."""
    spec = await ready(engine)
    outcomes = await asyncio.gather(
        *(resize(engine, spec, count) for count in range(3, 13)), return_exceptions=True
    )
    accepted = [one for one in outcomes if isinstance(one, Operation)]
    assert len(accepted) == 1, outcomes
    assert sum(isinstance(one, OperationInProgressError) for one in outcomes) == 9
    await engine.ended(accepted[0])
    assert (await engine.cluster(spec)).status is Status.UPDATE_COMPLETE


@pytest.mark.parametrize("kind", [OperationKind.SOFT_REBOOT, OperationKind.HARD_REBOOT])
async def test_reboot(engine: Engine, kind: OperationKind) -> None:
    """Each node is rebooted once; masters first, one at a time; ids stay."""
    spec = await ready(engine)
    before = {node.id for group in spec.node_groups for node in group.nodes}
    operation = await engine.ended(await engine.ask(spec, kind, batch_size=None))
    assert operation.state is OperationState.SUCCEEDED, operation.reason
    assert set(reboots(engine, spec).values()) == {1}
    submits = [step.name for step in operation.steps if "reboot" in step.name.lower()]
    assert len([name for name in submits if not name.startswith("Wait")]) == 4
    after = await engine.spec(spec)
    assert {node.id for group in after.node_groups for node in group.nodes} == before


async def test_failed_reboot_stops_and_is_retried(engine: Engine) -> None:
    """The rest is not begun, the record says who is done, and a retry reboots only the rest."""
    spec = await ready(engine, fake_fail="reboot", fake_fail_batch="3", fake_fail_times="1")
    operation = await engine.ended(await engine.ask(spec, OperationKind.HARD_REBOOT))
    assert operation.state is OperationState.FAILED
    assert sorted(reboots(engine, spec).values()) == [0, 0, 0, 1, 1]
    assert "Done: demo-default-master-0, demo-default-master-1." in (operation.reason or "")
    assert (await engine.cluster(spec)).status is Status.UPDATE_FAILED
    await engine.operations.retry(operation)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert set(reboots(engine, spec).values()) == {1}


async def test_cancelled_reboot_finishes_its_batch(engine: Engine) -> None:
    """A cancellation lets the nodes at work finish and begins no more; a resume does the rest."""
    spec = await ready(engine, fake_reboot_seconds="1")
    operation = await engine.ask(spec, OperationKind.SOFT_REBOOT)
    at_work = await engine.at_step(operation, "Wait")
    words = await engine.operations.cancel(at_work, "Cancelled by u1.")
    assert "finished" in words
    ended = await engine.ended(operation)
    assert ended.state is OperationState.CANCELLED
    assert sorted(reboots(engine, spec).values()) == [0, 0, 0, 0, 1]
    with pytest.raises(ConflictError, match="ended already"):
        await engine.operations.cancel(ended, "again")
    await engine.operations.retry(ended)
    assert (await engine.ended(operation)).state is OperationState.SUCCEEDED
    assert set(reboots(engine, spec).values()) == {1}


async def test_rebuild_keeps_identity(engine: Engine) -> None:
    """Named nodes are rebuilt, the others untouched; ids and addresses stay."""
    spec = await ready(engine)
    first, second = spec.group("default-worker").nodes
    operation = await engine.ask(spec, OperationKind.REBUILD, nodes=(first.name,))
    assert (await engine.ended(operation)).state is OperationState.SUCCEEDED
    group = next(g for g in engine.backend(spec).groups.values() if g.name == "default-worker")
    assert {node.id: len(node.rebuilds) for node in group.nodes} == {first.id: 1, second.id: 0}
    after = (await engine.spec(spec)).group("default-worker").nodes
    assert [node.addresses for node in after] == [first.addresses, second.addresses]


async def new_template(engine: Engine, spec: ClusterSpec, version: str) -> str:
    labels = {"fake_version": version}
    template = spec.template.model_copy(
        update={"uuid": spec.template.uuid[:-4] + "beef", "name": "next", "labels": labels}
    )
    await engine.store.templates.add(template)
    return template.uuid


async def test_upgrade(engine: Engine) -> None:
    """An upgrade moves the control plane first, then the workers, then the record."""
    spec = await ready(engine, fake_version="v1.30.0")
    uuid = await new_template(engine, spec, "v1.31.0")
    operation = await engine.ask(spec, OperationKind.UPGRADE, cluster_template_id=uuid)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    names = [step.name for step in ended.steps]
    assert names.index("Upgrade default-master") < names.index("Upgrade default-worker")
    after = await engine.spec(spec)
    assert after.cluster.cluster_template_id == uuid
    versions = {node.version for group in after.node_groups for node in group.nodes}
    assert versions == {"v1.31.0"}


async def test_failed_upgrade_is_rolled_back(engine: Engine) -> None:
    """When the workers fail halfway, workers and control plane return to the old version."""
    spec = await ready(
        engine,
        fake_version="v1.30.0",
        fake_fail="upgrade",
        fake_fail_node="demo-default-worker-1",
        fake_fail_times="1",
    )
    uuid = await new_template(engine, spec, "v1.31.0")
    operation = await engine.ask(spec, OperationKind.UPGRADE, cluster_template_id=uuid)
    ended = await engine.ended(operation)
    assert (ended.state, ended.undone) == (OperationState.FAILED, True)
    after = await engine.spec(spec)
    assert after.cluster.cluster_template_id == spec.template.uuid
    assert after.cluster.status is Status.ROLLBACK_COMPLETE
    groups = engine.backend(spec).groups.values()
    assert {node.version for group in groups for node in group.nodes} == {"v1.30.0"}


async def test_node_group_from_birth_to_death(engine: Engine) -> None:
    """A group is built, changed and removed; the default groups keep their status."""
    spec = await ready(engine)
    group = group_of(spec, status=Status.CREATE_IN_PROGRESS)
    operation = await engine.ask(spec, OperationKind.CREATE_NODE_GROUP, group=group)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    built = (await engine.spec(spec)).group("gpu")
    assert built.status is Status.CREATE_COMPLETE
    assert (len(built.nodes), built.stack_id) == (2, f"fake-{group.uuid}")
    bounded = built.model_copy(update={"max_node_count": 7})
    change = await engine.ask(spec, OperationKind.UPDATE_NODE_GROUP, group=bounded)
    assert (await engine.ended(change)).state is OperationState.SUCCEEDED
    assert (await engine.spec(spec)).group("gpu").max_node_count == 7
    removal = await engine.ask(spec, OperationKind.DELETE_NODE_GROUP, node_group=group.uuid)
    assert (await engine.ended(removal)).state is OperationState.SUCCEEDED
    after = await engine.spec(spec)
    assert sorted(counts(after)) == ["default-master", "default-worker"]
    assert sorted(sizes(engine, spec)) == ["default-master", "default-worker"]
    assert {one.status for one in after.node_groups} == {Status.CREATE_COMPLETE}
    assert after.cluster.status is Status.UPDATE_COMPLETE


async def test_failed_node_group_leaves_nothing(engine: Engine) -> None:
    """A group that cannot be built is removed; its row stays to tell why and can be deleted."""
    spec = await ready(engine, fake_fail="create_node_group", fake_fail_share="0.5")
    group = group_of(spec, status=Status.CREATE_IN_PROGRESS)
    await engine.ended(await engine.ask(spec, OperationKind.CREATE_NODE_GROUP, group=group))
    after = await engine.spec(spec)
    assert after.group("gpu").status is Status.CREATE_FAILED
    assert "Injected fault." in (after.group("gpu").status_reason or "")
    assert after.cluster.status is Status.ROLLBACK_COMPLETE
    assert sorted(sizes(engine, spec)) == ["default-master", "default-worker"]
    removal = await engine.ask(spec, OperationKind.DELETE_NODE_GROUP, node_group=group.uuid)
    assert (await engine.ended(removal)).state is OperationState.SUCCEEDED
    assert len((await engine.spec(spec)).node_groups) == 2


async def test_health(engine: Engine) -> None:
    """A health check writes what it found and leaves the status alone."""
    spec = await ready(engine, fake_health="UNHEALTHY")
    await engine.ended(await engine.ask(spec, OperationKind.CHECK_HEALTH))
    cluster = await engine.cluster(spec)
    assert cluster.health_status is HealthStatus.UNHEALTHY
    assert cluster.status is Status.CREATE_COMPLETE


async def test_health_check_leaves_a_failed_operation_retriable(engine: Engine) -> None:
    """A check that runs by the clock must not take away the chance to retry."""
    spec = await ready(engine, fake_fail="update", fake_fail_times="1")
    operation = await engine.ended(await resize(engine, spec, 5))
    await engine.ended(await engine.ask(spec, OperationKind.CHECK_HEALTH))
    await engine.operations.retry(operation)
    assert (await engine.ended(operation)).state is OperationState.SUCCEEDED


async def test_cancelled_resize_is_rolled_back(engine: Engine) -> None:
    """A cancellation says what it does, does it, and the cluster is as before."""
    spec = await ready(engine, **SLOW | {"fake_update_seconds": "3"})
    operation = await resize(engine, spec, 5)
    at_work = await engine.at_step(operation, "Wait")
    words = await engine.operations.cancel(at_work, "Cancelled by u1.")
    assert "rolled back" in words
    ended = await engine.ended(operation)
    assert ended.state is OperationState.CANCELLED
    assert "Cancelled by u1." in (ended.reason or "")
    assert sizes(engine, spec)["default-worker"] == 2
    assert (await engine.cluster(spec)).status is Status.ROLLBACK_COMPLETE


@pytest.mark.parametrize("step", ["Return", "Wait: Return"])
async def test_delete_breaks_off_a_roll_back(engine: Engine, step: str) -> None:
    """A delete does not wait for a roll-back that takes its time; nothing is left.

    It may come while a step is at work that is too short to be broken off.
    """
    slow = {"fake_fail": "update", "fake_fail_times": "1", "fake_update_seconds": "8"}
    spec = await ready(engine, **slow)
    operation = await resize(engine, spec, 6)
    await engine.at_step(operation, step)
    removal = await engine.delete(spec.cluster)
    await engine.gone(spec, seconds=6)
    assert (await engine.ended(removal)).state is OperationState.SUCCEEDED
    broken_off = await engine.ended(operation)
    assert broken_off.state is OperationState.FAILED
    assert "Superseded by delete" in (broken_off.reason or "")
    assert not engine.backend(spec).groups


async def test_delete_cannot_be_cancelled(engine: Engine) -> None:
    """A removal refuses to be cancelled, in words for the user."""
    spec = await ready(engine, fake_delete_seconds="3")
    operation = await engine.delete(spec.cluster)
    at_work = await engine.at_step(operation, "Wait")
    with pytest.raises(ConflictError, match="cannot be cancelled"):
        await engine.operations.cancel(at_work, "no")
    await engine.gone(spec)


async def test_delete_reports_what_is_left(engine: Engine) -> None:
    """A delete that leaves something fails and names it; a forced one names it and ends."""
    spec = await ready(engine, fake_leftovers="1")
    first = await engine.ended(await engine.delete(spec.cluster))
    assert first.state is OperationState.FAILED
    assert "Left in the cloud: " in (first.reason or "")
    assert (await engine.cluster(spec)).status is Status.DELETE_FAILED
    forced = engine.operation(spec.cluster, OperationKind.FORCE_DELETE)
    await engine.operations.delete(spec.cluster, forced)
    await engine.gone(spec)
    ended = await engine.ended(forced)
    assert ended.state is OperationState.SUCCEEDED
    assert "Left in the cloud: " in (ended.reason or "")


async def test_forced_delete_ends_a_delete_that_hangs(engine: Engine) -> None:
    """A delete by force takes the place of a delete that does not come to an end."""
    spec = await ready(engine, fake_lie="delete")
    stuck = await engine.delete(spec.cluster)
    await engine.at_step(stuck, "Wait")
    forced = engine.operation(spec.cluster, OperationKind.FORCE_DELETE)
    await engine.operations.delete(spec.cluster, forced)
    await engine.gone(spec)
    assert (await engine.ended(forced)).state is OperationState.SUCCEEDED
    assert "forced delete" in ((await engine.ended(stuck)).reason or "")


async def test_forced_delete_without_a_backend(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the backend never answers, a delete by force ends all the same and says so."""
    monkeypatch.setattr(work, "FORCED_SECONDS", 2)
    monkeypatch.setattr(work, "FORCED_WAIT_SECONDS", 2)
    dead = {"fake_unavailable": "delete", "fake_unavailable_calls": "1000", "fake_lie": "delete"}
    spec = await ready(engine, **dead)
    forced = engine.operation(spec.cluster, OperationKind.FORCE_DELETE)
    await engine.operations.delete(spec.cluster, forced)
    await engine.gone(spec)
    ended = await engine.ended(forced)
    assert ended.state is OperationState.SUCCEEDED
    assert "does not answer" in (ended.reason or "")
    assert "Left in the cloud as yet: " in (ended.reason or "")


async def test_reset_run_goes_on(engine: Engine) -> None:
    """A reset in the middle: the new run takes the record over and nothing happens twice."""
    spec = await ready(engine, fake_reboot_seconds="1")
    operation = await engine.ask(spec, OperationKind.HARD_REBOOT)
    await engine.at_step(operation, "(3 of 5)")
    first = await reset(engine, spec)
    ended = await engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED, ended.reason
    assert ended.run_id != first
    assert set(reboots(engine, spec).values()) == {1}


async def test_reset_of_an_ended_run_does_nothing(engine: Engine) -> None:
    """A reset after the end, with later changes since, touches neither backend nor record."""
    spec = await ready(engine)
    old = await engine.ended(await resize(engine, spec, 5))
    await engine.ended(await resize(engine, spec, 3))
    journal = len(engine.backend(spec).journal)
    await reset(engine, spec, run_id=old.run_id)
    description = await asyncio.wait_for(closed(engine, spec), 30)
    assert description is WorkflowExecutionStatus.FAILED
    assert sizes(engine, spec)["default-worker"] == 3
    assert len(engine.backend(spec).journal) == journal
    assert (await engine.store.operations.get(old.uuid)).state is OperationState.SUCCEEDED
    next_one = await engine.ended(await resize(engine, spec, 4))
    assert next_one.state is OperationState.SUCCEEDED


async def reset(engine: Engine, spec: ClusterSpec, run_id: str | None = None) -> str:
    """Reset a run to its beginning, as a button of the Temporal UI does; return its old id."""
    from temporalio.api.common.v1 import WorkflowExecution
    from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest

    handle = engine.client.get_workflow_handle(engine.run(spec).id, run_id=run_id)
    history = await handle.fetch_history()
    completed = [event.event_id for event in history.events if event.event_type == 7]
    old = run_id or (await handle.describe()).run_id
    await engine.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=engine.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=old),
            reason="test",
            request_id=f"{old}-{len(completed)}",
            workflow_task_finish_event_id=completed[len(completed) // 2],
        )
    )
    return old


async def closed(engine: Engine, spec: ClusterSpec) -> WorkflowExecutionStatus | None:
    while True:
        description = await engine.run(spec).describe()
        if description.status is not WorkflowExecutionStatus.RUNNING:
            return description.status
        await asyncio.sleep(0.1)


async def test_history_of_a_cluster(engine: Engine) -> None:
    """Operations are listed by kind and state, with input, plan and steps."""
    spec = await ready(engine)
    await engine.ended(await resize(engine, spec, 3))
    found = await engine.store.operations.list(
        Scope(None),
        Page(10),
        OperationFilter(cluster_id=spec.cluster.uuid, kinds=(OperationKind.RESIZE,)),
    )
    (operation,) = found
    assert operation.parameters.node_count == 3
    assert operation.plan is not None
    assert operation.plan.changes == {"default-worker.node_count": "2 -> 3"}
    assert Counter(step.state for step in operation.steps) == {
        StepState.SUCCEEDED: len(operation.plan.steps)
    }
