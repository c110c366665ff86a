"""Operations: transitions written once, in order, by the operation that holds the cluster."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jeroboam.errors import NotFoundError
from jeroboam.models import (
    Cluster,
    ClusterOutputs,
    Operation,
    OperationKind,
    OperationState,
    Recorded,
    Status,
    StepNote,
    StepRecord,
    StepState,
    new_uuid,
    utc_now,
)
from jeroboam.store import OperationFilter, Page, Scope, Store
from tests.integration.store.builders import PROJECT, a_transition, an_operation, stored

EVERYONE = Scope(None)
LATER = timedelta(seconds=10)


async def _cluster(store: Store, operation: Operation) -> Cluster:
    return await store.clusters.get(operation.cluster_id, EVERYONE)


async def _next(store: Store, operation: Operation, **changes: Any) -> Operation:
    """Accept a further operation on the same cluster."""
    cluster = await _cluster(store, operation)
    further = an_operation(cluster, kind=OperationKind.DELETE, **changes)
    await store.operations.add(further)
    return further


async def test_first_transition_starts_the_operation(store: Store) -> None:
    """The run's first transition sets state, steps, run and start on operation and cluster."""
    _, operation = await stored(store)
    steps = (StepRecord(name="submit", state=StepState.RUNNING, started_at=utc_now()),)
    transition = a_transition(
        operation, 1, steps=steps, run_id="run", cluster_status=Status.CREATE_IN_PROGRESS
    )
    assert await store.operations.apply(transition) is Recorded.WRITTEN
    assert await store.operations.get(operation.uuid) == operation.model_copy(
        update={
            "state": OperationState.RUNNING,
            "seq": 1,
            "steps": tuple(step.model_copy(update={"seq": 1}) for step in steps),
            "run_id": "run",
            "started_at": transition.at,
        }
    )
    assert (await _cluster(store, operation)).updated_at == transition.at


async def test_start_and_run_stay(store: Store) -> None:
    """Later transitions keep the start and the run id, and the last one sets the end."""
    _, operation = await stored(store)
    first = a_transition(operation, 1, run_id="run")
    await store.operations.apply(first)
    last = a_transition(operation, 2, at=first.at + LATER, state=OperationState.SUCCEEDED)
    await store.operations.apply(last)
    found = await store.operations.get(operation.uuid)
    assert (found.run_id, found.started_at, found.ended_at) == ("run", first.at, last.at)


async def test_repeated_and_late_transitions_do_nothing(store: Store) -> None:
    """A transition that was written, or that a later one overtook, changes no row."""
    _, operation = await stored(store)
    newer = a_transition(operation, 5, reason="newer", cluster_status=Status.CREATE_FAILED)
    await store.operations.apply(newer)
    before = await store.operations.get(operation.uuid), await _cluster(store, operation)
    for seq in (5, 4, 0):
        late = a_transition(
            operation, seq, reason="late", cluster_status=Status.CREATE_COMPLETE, stack_id="late"
        )
        assert await store.operations.apply(late) is Recorded.STALE
    assert (await store.operations.get(operation.uuid), await _cluster(store, operation)) == before


async def test_success_writes_outputs(store: Store) -> None:
    """What the driver reports reaches the cluster and its node groups."""
    spec, operation = await stored(store, discovery_url="given")
    master, worker = spec.node_groups
    outputs = ClusterOutputs(
        api_address="https://10.0.0.1:6443",
        coe_version="v1.31",
        container_version="2.0",
        node_addresses={master.uuid: ("10.0.0.2",), worker.uuid: ("10.0.0.3", "10.0.0.4")},
    )
    await store.operations.apply(a_transition(operation, 1, stack_id="stack"))
    await store.operations.apply(
        a_transition(
            operation,
            2,
            state=OperationState.SUCCEEDED,
            cluster_status=Status.CREATE_COMPLETE,
            status_reason="done",
            outputs=outputs,
        )
    )
    found = await store.clusters.spec(spec.cluster.uuid)
    assert found.cluster.status is Status.CREATE_COMPLETE
    assert found.cluster.status_reason == "done"
    assert found.cluster.stack_id == "stack"
    assert found.cluster.api_address == outputs.api_address
    assert (found.cluster.coe_version, found.cluster.container_version) == ("v1.31", "2.0")
    assert found.cluster.discovery_url == "given"
    assert found.masters.node_addresses == ("10.0.0.2",)
    assert found.workers[0].node_addresses == ("10.0.0.3", "10.0.0.4")
    assert {group.status for group in found.node_groups} == {Status.CREATE_COMPLETE}
    assert {group.stack_id for group in found.node_groups} == {"stack"}


async def test_outputs_of_another_cluster_are_ignored(store: Store) -> None:
    """Addresses under the uuid of another cluster's group do not reach that group."""
    _, operation = await stored(store)
    another, _ = await stored(store, name="another")
    foreign = another.node_groups[0].uuid
    outputs = ClusterOutputs(node_addresses={foreign: ("10.9.9.9",)})
    await store.operations.apply(a_transition(operation, 1, outputs=outputs))
    found = await store.clusters.node_group(another.cluster.uuid, foreign)
    assert found.node_addresses == ()


async def test_faults_come_and_go_with_failure(store: Store) -> None:
    """Faults are kept while the cluster's status is a failure, and cleared by the next status."""
    _, operation = await stored(store)
    faults = {"default-worker": "no valid host"}
    await store.operations.apply(
        a_transition(operation, 1, cluster_status=Status.CREATE_FAILED, faults=faults)
    )
    assert (await _cluster(store, operation)).faults == faults
    await store.operations.apply(a_transition(operation, 2))
    assert (await _cluster(store, operation)).faults == faults
    await store.operations.apply(
        a_transition(operation, 3, cluster_status=Status.DELETE_IN_PROGRESS, faults=faults)
    )
    assert (await _cluster(store, operation)).faults == {}


async def test_awkward_text_is_recorded(store: Store) -> None:
    """Backend text that a database refuses, or of any length, cannot keep a failure unwritten."""
    _, operation = await stored(store)
    awkward = "nul \x00, half a character \ud83d, " + "long " * 10_000
    transition = a_transition(
        operation,
        1,
        state=OperationState.FAILED,
        reason=awkward,
        cluster_status=Status.CREATE_FAILED,
        status_reason=awkward,
        faults={"node\x00": awkward},
    )
    assert await store.operations.apply(transition)
    found = await store.operations.get(operation.uuid)
    assert found.reason is not None
    assert found.reason.startswith("nul \N{REPLACEMENT CHARACTER}")
    assert len(found.reason) < 20_000
    assert len((await _cluster(store, operation)).faults) == 1


async def test_next_operation_takes_the_cluster_over(store: Store) -> None:
    """From the first transition of a newer operation on, the older one writes itself only."""
    _, create = await stored(store)
    await store.operations.apply(a_transition(create, 1))
    remove = await _next(store, create)
    assert (await _cluster(store, create)).operation_id == create.uuid
    await store.operations.apply(a_transition(remove, 1, cluster_status=Status.DELETE_IN_PROGRESS))
    straggler = a_transition(
        create,
        2,
        state=OperationState.CANCELLED,
        cluster_status=Status.CREATE_FAILED,
        stack_id="straggler",
        remove_cluster=True,
    )
    assert await store.operations.apply(straggler) is Recorded.WRITTEN
    cluster = await _cluster(store, create)
    assert (cluster.operation_id, cluster.status) == (remove.uuid, Status.DELETE_IN_PROGRESS)
    assert cluster.stack_id is None
    assert (await store.operations.get(create.uuid)).state is OperationState.CANCELLED


async def test_late_first_transition_takes_nothing(store: Store) -> None:
    """A superseded run whose very first write arrives late does not take the cluster back."""
    _, create = await stored(store)
    remove = await _next(store, create)
    await store.operations.apply(a_transition(remove, 1, cluster_status=Status.DELETE_IN_PROGRESS))
    await store.operations.apply(a_transition(create, 1, cluster_status=Status.CREATE_FAILED))
    cluster = await _cluster(store, create)
    assert (cluster.operation_id, cluster.status) == (remove.uuid, Status.DELETE_IN_PROGRESS)


async def test_operation_that_waited_runs_later(store: Store) -> None:
    """An operation accepted earlier may still run after a younger one has ended."""
    _, create = await stored(store)
    waiting = await _next(store, create)
    younger = await _next(store, create)
    await store.operations.apply(a_transition(younger, 1, state=OperationState.FAILED))
    await store.operations.apply(a_transition(waiting, 1, cluster_status=Status.DELETE_IN_PROGRESS))
    cluster = await _cluster(store, create)
    assert (cluster.operation_id, cluster.status) == (waiting.uuid, Status.DELETE_IN_PROGRESS)


async def test_removal_leaves_the_operation(store: Store) -> None:
    """The last transition of a delete removes cluster, groups and secrets; history stays."""
    spec, create = await stored(store)
    uuid = spec.cluster.uuid
    await store.secrets.put_if_absent(uuid, {"key": "value"})
    await store.operations.note(StepNote(operation_id=create.uuid, step="wait", message="8 of 9"))
    remove = await _next(store, create)
    last = a_transition(remove, 9, state=OperationState.SUCCEEDED, remove_cluster=True)
    assert await store.operations.apply(last) is Recorded.WRITTEN
    assert await store.operations.apply(last) is Recorded.STALE
    for gone in (store.clusters.spec(uuid), store.secrets.get(uuid)):
        with pytest.raises(NotFoundError):
            await gone
    assert await store.clusters.node_groups([uuid]) == {uuid: ()}
    assert (await store.operations.get(remove.uuid)).state is OperationState.SUCCEEDED
    assert len(await store.operations.notes(create.uuid)) == 1
    await store.templates.delete(spec.template.uuid)


async def test_records_go_on_after_removal(store: Store) -> None:
    """An operation whose cluster is gone can still be recorded."""
    _, create = await stored(store)
    remove = await _next(store, create)
    await store.operations.apply(a_transition(remove, 1, remove_cluster=True))
    assert await store.operations.apply(a_transition(create, 1, state=OperationState.CANCELLED))
    assert await store.operations.apply(a_transition(remove, 2, state=OperationState.SUCCEEDED))


async def test_unknown_operation(store: Store) -> None:
    """Neither a transition nor a note nor a read invents an operation."""
    spec, _ = await stored(store)
    unknown = an_operation(spec.cluster)
    for call in (
        store.operations.apply(a_transition(unknown, 1)),
        store.operations.note(StepNote(operation_id=unknown.uuid, step="s", message="m")),
        store.operations.get(unknown.uuid),
    ):
        with pytest.raises(NotFoundError, match=unknown.uuid):
            await call


async def test_active_is_newest_first(store: Store) -> None:
    """Only operations that have not ended are active, the latest accepted first."""
    _, create = await stored(store)
    remove = await _next(store, create)
    assert [o.uuid for o in await store.operations.active(create.cluster_id)] == [
        remove.uuid,
        create.uuid,
    ]
    await store.operations.apply(a_transition(create, 1, state=OperationState.COMPENSATING))
    assert len(await store.operations.active(create.cluster_id)) == 2
    await store.operations.apply(a_transition(create, 2, state=OperationState.CANCELLED))
    assert [o.uuid for o in await store.operations.active(create.cluster_id)] == [remove.uuid]


async def test_unfinished_looks_back(store: Store) -> None:
    """The reconciler gets all clusters' open operations that are old enough."""
    old_time = datetime(2026, 1, 1, tzinfo=UTC)
    _, create = await stored(store)
    old = await _next(store, create, created_at=old_time)
    ended = await _next(store, create, created_at=old_time)
    await store.operations.apply(a_transition(ended, 1, state=OperationState.FAILED))
    found = await store.operations.unfinished(old_time + LATER)
    assert [operation.uuid for operation in found] == [old.uuid]
    assert len(await store.operations.unfinished(utc_now() + LATER)) == 2


async def test_reject_ends_a_pending_operation(store: Store) -> None:
    """A rejected operation ends with its reason and leaves the cluster as it is."""
    _, create = await stored(store)
    before = await _cluster(store, create)
    remove = await _next(store, create)
    await store.operations.reject(remove.uuid, "lost the race")
    found = await store.operations.get(remove.uuid)
    assert (found.state, found.reason) == (OperationState.REJECTED, "lost the race")
    assert found.ended_at is not None
    assert await _cluster(store, create) == before


async def test_reject_comes_too_late(store: Store) -> None:
    """An operation that runs cannot be rejected any more."""
    _, create = await stored(store)
    await store.operations.apply(a_transition(create, 1))
    await store.operations.reject(create.uuid, "too late")
    assert (await store.operations.get(create.uuid)).state is OperationState.RUNNING


async def test_abandon_fails_what_waits(store: Store) -> None:
    """A run ended from outside fails its operation, its running step, the cluster and groups."""
    spec, create = await stored(store)
    steps = (
        StepRecord(name="submit", state=StepState.SUCCEEDED),
        StepRecord(name="wait", state=StepState.RUNNING),
    )
    await store.operations.apply(
        a_transition(create, 1, steps=steps, cluster_status=Status.CREATE_IN_PROGRESS)
    )
    await store.operations.abandon(create.uuid, "terminated")
    found = await store.operations.get(create.uuid)
    assert (found.state, found.reason) == (OperationState.FAILED, "terminated")
    assert [step.state for step in found.steps] == [StepState.SUCCEEDED, StepState.FAILED]
    assert found.steps[1].error == "terminated"
    after = await store.clusters.spec(spec.cluster.uuid)
    assert (after.cluster.status, after.cluster.status_reason) == (
        Status.CREATE_FAILED,
        "terminated",
    )
    assert {group.status for group in after.node_groups} == {Status.CREATE_FAILED}


async def test_abandon_before_the_first_transition(store: Store) -> None:
    """A create whose run never wrote anything does not stay in progress for ever."""
    _, create = await stored(store)
    await store.operations.abandon(create.uuid, "never ran")
    assert (await _cluster(store, create)).status is Status.CREATE_FAILED


async def test_abandon_spares_what_others_hold(store: Store) -> None:
    """Abandoning an operation that lost the cluster, or has ended, leaves the cluster alone."""
    _, create = await stored(store)
    remove = await _next(store, create)
    await store.operations.apply(a_transition(remove, 1, cluster_status=Status.DELETE_IN_PROGRESS))
    await store.operations.abandon(create.uuid, "terminated")
    assert (await store.operations.get(create.uuid)).state is OperationState.FAILED
    assert (await _cluster(store, create)).status is Status.DELETE_IN_PROGRESS
    await store.operations.apply(
        a_transition(
            remove, 2, state=OperationState.SUCCEEDED, cluster_status=Status.DELETE_COMPLETE
        )
    )
    await store.operations.abandon(remove.uuid, "too late")
    assert (await store.operations.get(remove.uuid)).state is OperationState.SUCCEEDED
    await store.operations.abandon(new_uuid(), "unknown")


async def test_straggler_of_an_abandoned_run(store: Store) -> None:
    """The first write of a run that was abandoned meanwhile does not take the cluster."""
    _, create = await stored(store)
    remove = await _next(store, create)
    await store.operations.abandon(remove.uuid, "terminated")
    await store.operations.apply(a_transition(remove, 1, cluster_status=Status.DELETE_IN_PROGRESS))
    assert (await _cluster(store, create)).operation_id == create.uuid


async def test_notes_are_replaced(store: Store) -> None:
    """Each step keeps its latest remark; one that arrives late is dropped."""
    _, create = await stored(store)
    first = StepNote(operation_id=create.uuid, step="wait", message="1 of 3")
    second = first.model_copy(
        update={"attempt": 2, "message": "2 of 3", "noted_at": first.noted_at + LATER}
    )
    other = StepNote(operation_id=create.uuid, step="submit", message="retry")
    for note in (first, second, first, other):
        await store.operations.note(note)
    assert await store.operations.notes(create.uuid) == [other, second]


async def test_lists_history(store: Store) -> None:
    """Operations are listed by project and cluster, and outlive the cluster."""
    _, create = await stored(store)
    another, _ = await stored(store, name="another")
    remove = await _next(store, create)
    await store.operations.apply(a_transition(remove, 1, remove_cluster=True))
    history = await store.operations.list(
        Scope(PROJECT),
        Page(10, sort_dir="desc"),
        OperationFilter(cluster_id=create.cluster_id),
    )
    assert [operation.uuid for operation in history] == [remove.uuid, create.uuid]
    assert len(await store.operations.list(Scope(PROJECT), Page(10))) == 3
    assert await store.operations.list(Scope("project-2"), Page(10)) == []
    assert another.cluster.uuid not in {operation.cluster_id for operation in history}
