"""How operations get hold of a cluster, give it back and are taken up again."""

import asyncio
from typing import Any

import pytest

from jeroboam.errors import (
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    OperationInProgressError,
)
from jeroboam.models import (
    Action,
    BackendCall,
    ClusterSpec,
    Method,
    Operation,
    OperationKind,
    OperationState,
    Parameters,
    Plan,
    PlanStep,
    Recorded,
    Status,
    StepRecord,
    StepState,
    new_uuid,
)
from jeroboam.store import Store
from jeroboam.store.acceptance import remaining
from tests.integration.store.builders import (
    a_group,
    a_template,
    a_transition,
    an_operation,
    stored,
)


async def complete(store: Store) -> ClusterSpec:
    """Return a cluster whose creation has succeeded."""
    spec, create = await stored(store)
    await store.operations.apply(
        a_transition(
            create, 1, state=OperationState.SUCCEEDED, cluster_status=Status.CREATE_COMPLETE
        )
    )
    return await store.clusters.spec(spec.cluster.uuid)


def a_resize(spec: ClusterSpec, count: int = 5, **changes: Any) -> Operation:
    parameters = Parameters(node_group=spec.group("default-worker").uuid, node_count=count)
    return an_operation(spec.cluster, kind=OperationKind.RESIZE, parameters=parameters, **changes)


def statuses(spec: ClusterSpec) -> dict[str, str | None]:
    return {"cluster": spec.cluster.status} | {one.name: one.status for one in spec.node_groups}


async def test_accepting_shows_at_once(store: Store) -> None:
    """Cluster and group are in progress as soon as the operation is accepted, others are not."""
    spec = await complete(store)
    operation = a_resize(spec)
    await store.operations.accept(operation)
    after = await store.clusters.spec(spec.cluster.uuid)
    assert statuses(after) == {
        "cluster": Status.UPDATE_IN_PROGRESS,
        "default-master": Status.CREATE_COMPLETE,
        "default-worker": Status.UPDATE_IN_PROGRESS,
    }
    assert after.cluster.operation_id == operation.uuid


async def test_accepting_twice_is_once(store: Store) -> None:
    """The same operation again changes nothing."""
    spec = await complete(store)
    operation = a_resize(spec)
    await store.operations.accept(operation)
    before = await store.operations.get(operation.uuid)
    await store.operations.accept(operation)
    assert await store.operations.get(operation.uuid) == before


async def test_one_of_many_is_accepted(store: Store) -> None:
    """Requests at the same moment: one is accepted, the others are told which."""
    spec = await complete(store)
    operations = [a_resize(spec, count) for count in range(8)]
    outcomes = await asyncio.gather(
        *(store.operations.accept(one) for one in operations), return_exceptions=True
    )
    winner = operations[outcomes.index(None)]
    refused = [one for one in outcomes if one is not None]
    assert len(refused) == 7
    for error in refused:
        assert isinstance(error, OperationInProgressError)
        assert (error.operation_id, error.kind) == (winner.uuid, "resize")


async def test_status_forbids(store: Store) -> None:
    """A cluster that was never complete cannot be resized, and says what can be done."""
    spec, create = await stored(store)
    await store.operations.apply(
        a_transition(create, 1, state=OperationState.FAILED, cluster_status=Status.CREATE_FAILED)
    )
    with pytest.raises(ConflictError, match="Retry its creation, or delete it"):
        await store.operations.accept(a_resize(spec))
    with pytest.raises(NotFoundError):
        await store.operations.accept(a_resize(spec, cluster_id=new_uuid()))


async def test_rejection_puts_back(store: Store) -> None:
    """An operation that lost the race leaves the statuses as it found them."""
    spec = await complete(store)
    operation = a_resize(spec)
    await store.operations.accept(operation)
    await store.operations.reject(operation.uuid, "lost")
    after = await store.clusters.spec(spec.cluster.uuid)
    assert statuses(after) == statuses(spec)
    assert (await store.operations.get(operation.uuid)).state is OperationState.REJECTED
    await store.operations.accept(a_resize(spec))


async def test_new_node_group(store: Store) -> None:
    """Its row comes with the operation and goes with its rejection; names are unique."""
    spec = await complete(store)
    group = a_group(spec.cluster, name="gpu", status=Status.CREATE_IN_PROGRESS)
    operation = an_operation(
        spec.cluster, kind=OperationKind.CREATE_NODE_GROUP, parameters=Parameters(group=group)
    )
    await store.operations.accept(operation)
    assert (await store.clusters.node_group(spec.cluster.uuid, "gpu")).uuid == group.uuid
    await store.operations.reject(operation.uuid, "lost")
    with pytest.raises(NotFoundError):
        await store.clusters.node_group(spec.cluster.uuid, "gpu")
    twin = a_group(spec.cluster, name="default-worker")
    double = an_operation(
        spec.cluster, kind=OperationKind.CREATE_NODE_GROUP, parameters=Parameters(group=twin)
    )
    with pytest.raises(ConflictError, match="named default-worker already exists"):
        await store.operations.accept(double)
    assert statuses(await store.clusters.spec(spec.cluster.uuid)) == statuses(spec)


async def test_success_makes_the_target_the_record(store: Store) -> None:
    """Until the end the rows hold the old size; the last transition writes the new one."""
    spec = await complete(store)
    operation = a_resize(spec, 5)
    await store.operations.accept(operation)
    await store.operations.apply(a_transition(operation, 1))
    during, target = await store.clusters.spec_and_target(operation)
    assert during.group("default-worker").node_count == 2
    assert target.group("default-worker").node_count == 5
    end = a_transition(operation, 2, state=OperationState.SUCCEEDED, commit=True)
    assert await store.operations.apply(end) is Recorded.WRITTEN
    after = await store.clusters.spec(spec.cluster.uuid)
    assert after.group("default-worker").node_count == 5
    assert after.group("default-master") == during.group("default-master")


async def test_upgrade_moves_template_and_labels(store: Store) -> None:
    """The cluster refers to the new template, which could not be deleted meanwhile."""
    spec = await complete(store)
    new = await store.templates.add(a_template(image_id="new", labels={"a": "3"}))
    operation = an_operation(
        spec.cluster,
        kind=OperationKind.UPGRADE,
        parameters=Parameters(cluster_template_id=new.uuid),
    )
    await store.operations.accept(operation)
    assert await store.templates.in_use(new.uuid)
    with pytest.raises(InvalidRequestError, match="referenced"):
        await store.templates.delete(new.uuid)
    await store.operations.apply(
        a_transition(operation, 1, state=OperationState.SUCCEEDED, commit=True)
    )
    after = await store.clusters.spec(spec.cluster.uuid)
    assert after.template.uuid == new.uuid
    assert {group.image_id for group in after.node_groups} == {"new"}
    assert after.cluster.labels["a"] == "3"


async def test_failed_operation_is_taken_up_again(store: Store) -> None:
    """It is pending again, its cluster in progress, and a run of its own may write."""
    spec = await complete(store)
    operation = a_resize(spec)
    await store.operations.accept(operation)
    failed = a_transition(
        operation,
        1,
        run_id="first",
        state=OperationState.FAILED,
        cluster_status=Status.ROLLBACK_COMPLETE,
    )
    await store.operations.apply(failed)
    reopened = await store.operations.reopen(operation.uuid)
    assert (reopened.state, reopened.seq) == (OperationState.PENDING, 1)
    after = await store.clusters.spec(spec.cluster.uuid)
    assert after.cluster.status is Status.UPDATE_IN_PROGRESS
    assert await store.operations.apply(failed) is Recorded.STALE
    again = a_transition(operation, 2, run_id="second")
    assert await store.operations.apply(again) is Recorded.WRITTEN
    late = a_transition(operation, 3, run_id="first")
    assert await store.operations.apply(late) is Recorded.OTHER_RUN
    assert await store.operations.apply(late, takes_over=True) is Recorded.WRITTEN


async def test_what_cannot_be_taken_up_again(store: Store) -> None:
    """One that works, has succeeded, or was followed by another one."""
    spec = await complete(store)
    operation = a_resize(spec)
    await store.operations.accept(operation)
    with pytest.raises(ConflictError, match="PENDING"):
        await store.operations.reopen(operation.uuid)
    await store.operations.apply(
        a_transition(operation, 1, state=OperationState.FAILED, cluster_status=Status.UPDATE_FAILED)
    )
    later = a_resize(spec)
    await store.operations.accept(later)
    with pytest.raises(OperationInProgressError):
        await store.operations.reopen(operation.uuid)
    await store.operations.apply(
        a_transition(later, 1, state=OperationState.SUCCEEDED, commit=True)
    )
    with pytest.raises(ConflictError, match="later operation"):
        await store.operations.reopen(operation.uuid)
    with pytest.raises(NotFoundError):
        await store.operations.reopen(new_uuid())


async def test_abandoning_fails_every_word(store: Store) -> None:
    """Whatever is in progress when a run ends outside, cluster or group, is failed."""
    spec = await complete(store)
    operation = a_resize(spec)
    await store.operations.accept(operation)
    await store.operations.apply(
        a_transition(operation, 1, cluster_status=Status.ROLLBACK_IN_PROGRESS, node_groups=())
    )
    await store.operations.abandon(operation.uuid, "terminated")
    assert statuses(await store.clusters.spec(spec.cluster.uuid)) == {
        "cluster": Status.ROLLBACK_FAILED,
        "default-master": Status.CREATE_COMPLETE,
        "default-worker": Status.ROLLBACK_FAILED,
    }
    ended = a_transition(operation, 2, state=OperationState.SUCCEEDED)
    assert await store.operations.apply(ended) is Recorded.ENDED


def a_plan(*names: str) -> Plan:
    """Return a plan in which each name is submitted and waited for."""
    steps: list[PlanStep] = []
    for name in names:
        call = BackendCall(method=Method.REBOOT_NODES, submitted_by=name)
        steps += (
            PlanStep(name=name, action=Action.SUBMIT, call=call),
            PlanStep(name=f"Wait: {name}", action=Action.WAIT, call=call),
        )
    return Plan(
        kind=OperationKind.SOFT_REBOOT,
        driver="fake",
        driver_version="1.0.0",
        cloud="c",
        cluster_name="n",
        project_id="p",
        deadline_seconds=60,
        steps=tuple(steps),
    )


def failed(*states: StepState, **changes: Any) -> Operation:
    plan = a_plan("a", "b")
    steps = tuple(
        StepRecord(name=step.name, state=state)
        for step, state in zip(plan.steps, states, strict=True)
    )
    fields = {"cluster_id": "c", "cluster_name": "n", "project_id": "p", "user_id": "u"}
    operation = Operation(kind=plan.kind, request_id="r", plan=plan, steps=steps, **fields)
    return operation.model_copy(update=changes)


DONE, FAILED, PENDING = StepState.SUCCEEDED, StepState.FAILED, StepState.PENDING


def test_done_steps_are_passed_over() -> None:
    """What came to its end stays; what was only submitted is submitted again."""
    found = remaining(failed(DONE, DONE, DONE, FAILED))
    assert [step.state for step in found] == [DONE, DONE, PENDING, PENDING]


def test_undone_steps_are_done_again() -> None:
    """After a roll-back, whole or not, nothing counts as done."""
    whole = failed(DONE, DONE, DONE, FAILED, undone=True)
    assert {step.state for step in remaining(whole)} == {PENDING}
    half = failed(DONE, DONE, DONE, FAILED)
    undo = StepRecord(name="Return", state=FAILED, undoes=True)
    half = half.model_copy(update={"steps": (*half.steps, undo)})
    found = remaining(half)
    assert {step.state for step in found} == {PENDING}
    assert "Return" not in {step.name for step in found}


def test_an_operation_without_a_plan_has_no_steps() -> None:
    """A plan that could not be made is made anew."""
    operation = failed(DONE, DONE, DONE, FAILED).model_copy(update={"plan": None})
    assert remaining(operation) == ()
