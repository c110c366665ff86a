"""What crosses the wire to Temporal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import (
    Action,
    ClusterSpec,
    Method,
    Operation,
    OperationKind,
    OperationState,
    Plan,
    PlanStep,
    StepState,
)
from jeroboam.models.start import OPERATION_ID_MEMO, run_start
from jeroboam.models.wire import WORKFLOW_OF_KIND, StepInput, workflow_id
from tests.unit.models.clusters import Made, make_plan, plans
from tests.unit.specs import make_spec


def inputs(plan: Plan, spec: ClusterSpec, operation_id: str = "o1") -> list[StepInput]:
    """Return the input of every step that asks something of the backend, roll-back included."""
    steps = [one for step in plan.steps for one in (step, *step.undo)]
    return [input_of(step, plan, spec, operation_id) for step in steps if step.call]


def input_of(step: PlanStep, plan: Plan, spec: ClusterSpec, operation_id: str) -> StepInput:
    return StepInput(
        operation_id=operation_id,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        request_id="r1",
        step=step.name,
        kind=plan.kind,
        driver=plan.driver,
        call=step.call,
        hook=step.hook,
    )


def operation_of(spec: ClusterSpec, kind: OperationKind) -> Operation:
    return Operation(
        kind=kind,
        cluster_id=spec.cluster.uuid,
        cluster_name=spec.cluster.name,
        project_id="p1",
        user_id="u1",
        request_id="r1",
    )


@given(plans())
def test_each_submission_has_a_key_of_its_own(made: Made) -> None:
    """No two submissions of an operation share a key, forward or back, so none hides another."""
    plan, spec, _ = made
    submitted = [one for one in inputs(plan, spec) if one.required_call.submitted_by == one.step]
    keys = [one.idempotency_key for one in submitted]
    assert len(set(keys)) == len(keys)


@given(plans())
def test_what_waits_has_the_key_of_what_it_waits_for(made: Made) -> None:
    """Every other step about a call has the key of the step that submits it."""
    plan, spec, _ = made
    found = inputs(plan, spec)
    submitted = {one.step: one.idempotency_key for one in found}
    for one in found:
        assert one.idempotency_key == submitted[one.required_call.submitted_by]


@given(plans(), st.text("abc", min_size=1, max_size=3))
def test_another_operation_has_other_keys(made: Made, other: str) -> None:
    """The same plan under another operation's id shares no key with the first."""
    plan, spec, _ = made
    mine = {one.idempotency_key for one in inputs(plan, spec, "o1")}
    assert mine.isdisjoint(one.idempotency_key for one in inputs(plan, spec, other))


def test_a_step_says_what_it_lacks() -> None:
    """A step that names no call or hook cannot be run as if it did."""
    spec = make_spec()
    plan = make_plan(OperationKind.CREATE, spec)
    step = input_of(PlanStep(name="x", action=Action.ISSUE_CERTIFICATES), plan, spec, "o1")
    with pytest.raises(ValueError, match="'x' names no hook"):
        _ = step.required_hook
    with pytest.raises(ValueError, match="'x' asks nothing of the backend"):
        _ = step.required_call


def test_every_kind_has_a_workflow_of_its_own() -> None:
    """Operators tell runs by their type, so no two kinds share one."""
    assert set(WORKFLOW_OF_KIND) == set(OperationKind)
    assert len(set(WORKFLOW_OF_KIND.values())) == len(OperationKind)


@pytest.mark.parametrize("kind", list(OperationKind))
def test_a_run_is_found_by_its_cluster_and_its_operation(kind: OperationKind) -> None:
    """The id is the cluster's lock, whatever the kind; the memo names the operation."""
    spec = make_spec()
    operation = operation_of(spec, kind)
    start = run_start(spec.cluster, operation)
    assert start.id == workflow_id(spec.cluster.uuid)
    assert start.memo == {OPERATION_ID_MEMO: operation.uuid}
    assert start.request.operation_id == operation.uuid
    assert start.workflow == WORKFLOW_OF_KIND[kind]
    assert start.attributes["Operation"] == kind
    assert start.summary == f"{kind.words} demo (fake)"


def test_only_removals_delete() -> None:
    """Two kinds remove a cluster, and they pre-empt others."""
    deleting = {kind for kind in OperationKind if kind.deletes}
    assert deleting == {OperationKind.DELETE, OperationKind.FORCE_DELETE}
    removing = {method for method in Method if method.removes}
    assert removing == {Method.DELETE_CLUSTER, Method.DELETE_NODE_GROUP}


@pytest.mark.parametrize("state", list(StepState))
def test_a_retry_passes_over_what_is_done(state: StepState) -> None:
    """Done is what succeeded, or failed without harm; all else is taken again."""
    assert state.done is (state in {StepState.SUCCEEDED, StepState.WARNED})


@pytest.mark.parametrize("state", list(OperationState))
def test_an_operation_that_has_not_ended_is_active(state: OperationState) -> None:
    """Waiting to start, at work and going back are what holds a cluster."""
    ended = {"SUCCEEDED", "FAILED", "CANCELLED", "REJECTED"}
    assert state.active is (state not in ended)
