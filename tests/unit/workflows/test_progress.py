"""The record of a run is pure and its transitions are in order."""

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import OperationKind, OperationState, Status, StepState, utc_now
from jeroboam.models.plans import build_plan
from jeroboam.models.wire import OperationRequest, StepResult
from jeroboam.workflows.failure import Failure
from jeroboam.workflows.progress import Record
from tests.unit.specs import make_spec

NOW = utc_now()


def record(kind: OperationKind) -> tuple[Record, list[str]]:
    request = OperationRequest(operation_id="o", cluster_id="c", kind=kind, request_id="r")
    made = Record(request, "run")
    plan = build_plan(kind, make_spec())
    made.plan(plan)
    return made, [step.name for step in plan.steps]


@given(st.sampled_from(OperationKind), st.integers(0, 6), st.booleans())
def test_any_end_closes_every_open_step(kind: OperationKind, done: int, good: bool) -> None:
    """Wherever a run ends, sequence numbers rise by one and no step is left running."""
    made, names = record(kind)
    transitions = []
    for name in names[: done if not good else None]:
        transitions.append(made.started(name, NOW))
        made.ended(StepState.SUCCEEDED, NOW)
    if good:
        last = made.succeeded(NOW)
    else:
        made.ended(StepState.FAILED, NOW, error="bad")
        last = made.failed(NOW, Failure(reason="bad"))
    transitions.append(last)
    assert [transition.seq for transition in transitions] == list(range(1, len(transitions) + 1))
    assert all(step.state is not StepState.RUNNING for step in last.steps)
    assert last.state is (OperationState.SUCCEEDED if good else OperationState.FAILED)
    assert last.remove_cluster is (good and kind is OperationKind.DELETE)


def test_results_are_written_once_with_the_next_transition() -> None:
    """A backend id is stored before the wait for it begins."""
    made, names = record(OperationKind.CREATE)
    made.started(names[1], NOW)
    made.ended(StepState.SUCCEEDED, NOW, result=StepResult(stack_id="s"))
    assert made.started(names[2], NOW).stack_id == "s"
    made.ended(StepState.SUCCEEDED, NOW)
    assert made.succeeded(NOW).stack_id is None


def test_superseded_leaves_the_status_to_the_successor() -> None:
    """A superseded operation is cancelled without a wrong word in between."""
    made, names = record(OperationKind.CREATE)
    made.started(names[0], NOW)
    transition = made.stopped(NOW, "Superseded.", superseded=True)
    assert transition.cluster_status is None
    assert transition.steps[0].state is StepState.CANCELLED


def test_cancelled_is_a_failed_create() -> None:
    """Magnum has no word for cancelled, so clients see a failure with the reason."""
    made, names = record(OperationKind.CREATE)
    made.started(names[0], NOW)
    transition = made.stopped(NOW, "Cancelled.", superseded=False)
    assert transition.cluster_status is Status.CREATE_FAILED


def test_markdown_lists_every_step() -> None:
    """The Temporal UI shows each step, its time and the reason."""
    made, names = record(OperationKind.DELETE)
    made.started(names[0], NOW)
    made.ended(StepState.FAILED, NOW, error="no answer")
    made.failed(NOW, Failure(reason="no answer"))
    text = made.markdown()
    assert all(name in text for name in names)
    assert "no answer" in text
