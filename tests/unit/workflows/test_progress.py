"""The record of a run is pure and its transitions are in order."""

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import (
    Method,
    Node,
    OperationKind,
    OperationState,
    Parameters,
    Plan,
    PlanStep,
    Status,
    StepRecord,
    StepState,
    utc_now,
)
from jeroboam.models.lifecycle import TRAITS, Ending, status_after
from jeroboam.models.plans import build_plan
from jeroboam.models.targets import target_of
from jeroboam.models.wire import LoadedPlan, OperationRequest, StepResult
from jeroboam.workflows.failure import Failure
from jeroboam.workflows.progress import Record
from tests.unit.specs import make_spec

NOW = utc_now()


def plan_of(kind: OperationKind) -> Plan:
    """Return the plan of an operation on a cluster of three nodes."""
    bare = make_spec(workers=2)
    groups = tuple(
        group.model_copy(
            update={
                "nodes": tuple(
                    Node(name=f"{group.name}-{number}", id=str(number))
                    for number in range(group.node_count)
                )
            }
        )
        for group in bare.node_groups
    )
    spec = bare.model_copy(update={"node_groups": groups})
    extra = groups[1].model_copy(update={"uuid": "g", "name": "gpu", "is_default": False})
    parameters = Parameters(node_group=groups[1].uuid, node_count=5)
    if kind in {OperationKind.CREATE_NODE_GROUP, OperationKind.UPDATE_NODE_GROUP}:
        parameters = Parameters(group=extra)
    target = target_of(spec, kind, parameters)
    return build_plan(kind, spec, target, parameters)


KINDS = st.sampled_from(OperationKind)


def record(kind: OperationKind, *done: str, seq: int = 0) -> tuple[Record, Plan]:
    """Return a record of a run that has loaded its plan; ``done`` were done by an earlier run."""
    request = OperationRequest(operation_id="o", cluster_id="c", kind=kind, request_id="r", seq=seq)
    made, plan = Record(request, "run"), plan_of(kind)
    earlier = tuple(StepRecord(name=name, state=StepState.SUCCEEDED) for name in done)
    made.begin(LoadedPlan(plan=plan, steps=earlier))
    return made, plan


def submission(plan: Plan, method: Method) -> PlanStep:
    return next(step for step in plan.steps if step.call and step.call.method is method)


@given(KINDS, st.integers(0, 6), st.booleans(), st.integers(0, 9))
def test_any_end_closes_every_open_step(
    kind: OperationKind, done: int, good: bool, seq: int
) -> None:
    """Wherever a run ends, numbers rise by one, no step runs on, and each change is told once."""
    made, plan = record(kind, seq=seq)
    names = [step.name for step in plan.steps]
    transitions = []
    for name in names[: done if not good else None]:
        transitions.append(made.started(name, NOW))
        made.ended(StepState.SUCCEEDED, NOW)
    if good:
        transitions.append(made.succeeded(NOW, plan))
    else:
        made.ended(StepState.FAILED, NOW, error="bad")
        transitions.append(made.over(NOW, OperationState.FAILED, Failure("bad"), Ending.FAILED))
    assert [one.seq - seq for one in transitions] == list(range(1, len(transitions) + 1))
    steps = {step.name: step for one in transitions for step in one.steps}
    assert all(step.state is not StepState.RUNNING for step in steps.values())
    assert sum(len(one.steps) for one in transitions) <= 2 * len(names)
    last = transitions[-1]
    assert last.state is (OperationState.SUCCEEDED if good else OperationState.FAILED)
    assert last.remove_cluster is (good and kind.deletes)
    assert last.commit is (good and not kind.deletes)


@given(KINDS, st.sampled_from(Ending))
def test_the_status_is_that_of_the_state_machine(kind: OperationKind, ending: Ending) -> None:
    """What a run writes at its end is what the state machine says."""
    made, plan = record(kind)
    words = TRAITS[kind].cluster
    if ending is Ending.COMPLETE:
        last = made.succeeded(NOW, plan)
    else:
        last = made.over(NOW, OperationState.FAILED, Failure("bad"), ending)
    assert last.cluster_status == (status_after(words, ending) if words else None)
    assert last.undone is (ending is Ending.ROLLED_BACK)


def test_results_are_written_once_with_the_next_transition() -> None:
    """A backend id is stored before the wait for it begins."""
    made, plan = record(OperationKind.CREATE)
    step = submission(plan, Method.CREATE_CLUSTER)
    made.started(step.name, NOW)
    made.keep(step, StepResult(backend_id="s"))
    made.ended(StepState.SUCCEEDED, NOW)
    assert made.started(plan.steps[2].name, NOW).stack_id == "s"
    made.ended(StepState.SUCCEEDED, NOW)
    assert made.succeeded(NOW, plan).stack_id is None


def test_a_group_keeps_its_own_backend_id() -> None:
    """What creates a node group says nothing of the cluster's stack."""
    made, plan = record(OperationKind.CREATE_NODE_GROUP)
    step = submission(plan, Method.CREATE_NODE_GROUP)
    made.started(step.name, NOW)
    made.keep(step, StepResult(backend_id="g"))
    transition = made.succeeded(NOW, plan)
    assert transition.stack_id is None
    assert step.call is not None
    assert transition.node_group_stacks == {step.call.node_group: "g"}


def test_done_steps_of_an_earlier_run() -> None:
    """A retry passes over them and does not write them again."""
    made, plan = record(OperationKind.CREATE, "Issue certificates", seq=7)
    assert [step.name for step in plan.steps if made.is_done(step)] == ["Issue certificates"]
    transition = made.started(plan.steps[1].name, NOW)
    assert (transition.seq, [step.name for step in transition.steps]) == (8, [plan.steps[1].name])


def test_superseded_leaves_the_status_to_the_successor() -> None:
    """A superseded operation is cancelled without a wrong word in between."""
    made, plan = record(OperationKind.CREATE)
    made.started(plan.steps[0].name, NOW)
    made.ended(StepState.CANCELLED, NOW)
    transition = made.over(NOW, OperationState.CANCELLED, Failure("Superseded."), None)
    assert transition.cluster_status is None
    assert transition.steps[0].state is StepState.CANCELLED


def test_cancelled_is_a_failed_create() -> None:
    """Magnum has no word for cancelled, so clients see a failure with the reason."""
    made, plan = record(OperationKind.CREATE)
    made.started(plan.steps[0].name, NOW)
    failure = Failure("Cancelled.", {"node": "gone"})
    transition = made.over(NOW, OperationState.CANCELLED, failure, Ending.ROLLED_BACK)
    assert transition.cluster_status is Status.CREATE_FAILED
    assert (transition.status_reason, transition.faults) == ("Cancelled.", {"node": "gone"})


def test_untouched_puts_the_status_back() -> None:
    """What a hook refused leaves no status of its own, and no faults."""
    made, _ = record(OperationKind.REBUILD)
    failure = Failure("Frozen.", {"x": "y"})
    transition = made.over(NOW, OperationState.FAILED, failure, Ending.FAILED, untouched=True)
    assert transition.put_back
    assert (transition.cluster_status, transition.faults) == (None, {})


def test_warnings_are_the_reason_of_a_success() -> None:
    """What went wrong without being fatal reaches the user."""
    made, plan = record(OperationKind.DELETE)
    made.started(plan.steps[0].name, NOW)
    made.ended(StepState.WARNED, NOW, error="The chat is down.")
    assert made.succeeded(NOW, plan).reason == f"{plan.steps[0].name}: The chat is down."


def test_nodes_done_and_not_done() -> None:
    """Work on nodes that stopped says which are done: those that were waited for."""
    made, plan = record(OperationKind.SOFT_REBOOT)
    first, wait = plan.steps[0], plan.steps[1]
    for step in (first, wait):
        made.started(step.name, NOW)
        made.ended(StepState.SUCCEEDED, NOW)
    assert first.call is not None
    assert made.nodes_done(plan).startswith(f" Done: {', '.join(first.call.nodes)}. Not done: ")
    assert record(OperationKind.CREATE)[0].nodes_done(plan_of(OperationKind.CREATE)) == ""


def test_nodes_that_nobody_waited_for() -> None:
    """Nodes whose batch was begun and not waited for are told apart from those never begun."""
    made, plan = record(OperationKind.SOFT_REBOOT)
    first, wait, second = plan.steps[0], plan.steps[1], plan.steps[2]
    for step in (first, wait, second):
        made.started(step.name, NOW)
        made.ended(StepState.SUCCEEDED, NOW)
    assert first.call is not None
    assert second.call is not None
    done, busy = first.call.nodes[0], second.call.nodes[0]
    told = f" Done: {done}. May still be at work: {busy}. Not done: "
    assert made.nodes_done(plan, left_alone=True).startswith(told)
    assert made.nodes_done(plan).startswith(f" Done: {done}. Not done: {busy}")


def test_markdown_lists_every_step() -> None:
    """The Temporal UI shows each step, its time and the reason."""
    made, plan = record(OperationKind.DELETE)
    made.started(plan.steps[0].name, NOW)
    made.ended(StepState.FAILED, NOW, error="no answer")
    made.over(NOW, OperationState.FAILED, Failure("no answer"), Ending.FAILED)
    text = made.markdown()
    assert all(step.name in text for step in plan.steps)
    assert "no answer" in text
