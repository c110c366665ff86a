"""How an operation's record is shown."""

from datetime import timedelta

import pytest

from jeroboam.api.http.links import Links
from jeroboam.api.http.operation_control import RULES, temporal_url
from jeroboam.api.http.policies import list_rules
from jeroboam.api.http.schemas import operation as schema
from jeroboam.models import (
    Action,
    FailurePolicy,
    HookCall,
    HookPhase,
    HookSource,
    Operation,
    OperationKind,
    OperationState,
    Plan,
    PlanStep,
    StepNote,
    StepRecord,
    StepState,
    utc_now,
)
from jeroboam.models.lifecycle import TRAITS, OnCancel
from jeroboam.settings import Settings

LINKS = Links("http://jeroboam.test")


def hook(phase: HookPhase, name: str | None) -> PlanStep:
    source = HookSource.WEBHOOK if name else HookSource.DRIVER
    return PlanStep(
        name=f"{phase} {name or 'driver'}",
        action=Action.RUN_HOOK,
        hook=HookCall(phase=phase, source=source, name=name),
        on_failure=FailurePolicy.WARN,
        timeout_seconds=30,
    )


PLAN = Plan(
    kind=OperationKind.RESIZE,
    driver="fake",
    driver_version="1.0.0",
    cloud="secret-name-of-the-cloud",
    cluster_name="mine",
    project_id="p",
    deadline_seconds=600,
    changes={"default-worker.node_count": "1 -> 2"},
    steps=(
        hook(HookPhase.BEFORE, "approval"),
        PlanStep(
            name="Grow",
            action=Action.SUBMIT,
            undo=(PlanStep(name="Shrink", action=Action.SUBMIT),),
        ),
        hook(HookPhase.AFTER, None),
    ),
    on_failure=(hook(HookPhase.FAILURE, "chat"),),
)


def operation(**fields: object) -> Operation:
    values: dict[str, object] = {
        "kind": OperationKind.RESIZE,
        "cluster_id": "c",
        "cluster_name": "mine",
        "project_id": "p",
        "user_id": "u",
        "request_id": "req-1",
        "plan": PLAN,
    }
    return Operation.model_validate(values | fields)


def detail(one: Operation, *notes: StepNote) -> schema.OperationDetail:
    return schema.detail(one, notes, LINKS, temporal_url=None)


def test_steps_are_in_the_order_in_which_they_happen() -> None:
    """First what was planned, then the roll-back, then the hooks about the failure."""
    steps = (
        StepRecord(name="before approval", state=StepState.SUCCEEDED, result="Approved."),
        StepRecord(name="Grow", state=StepState.FAILED, error="Full."),
        StepRecord(name="Shrink", state=StepState.SUCCEEDED, undoes=True),
        StepRecord(name="failure chat", state=StepState.WARNED, error="No answer."),
    )
    shown = detail(operation(steps=steps, state=OperationState.FAILED)).steps
    assert [(step.name, step.state, step.hook, step.undoes) for step in shown] == [
        ("before approval", "SUCCEEDED", "approval", False),
        ("Grow", "FAILED", None, False),
        ("after driver", "PENDING", "driver", False),
        ("Shrink", "SUCCEEDED", None, True),
        ("failure chat", "WARNED", "chat", False),
    ]
    assert shown[0].result == "Approved."
    assert [step.action for step in shown][3:] == ["submit", "run_hook"]


def test_steps_without_a_plan_are_shown_as_they_are_recorded() -> None:
    """A record of which the plan is not known still tells its steps."""
    steps = (StepRecord(name="Grow", state=StepState.RUNNING, started_at=utc_now()),)
    (step,) = detail(operation(plan=None, steps=steps)).steps
    assert (step.name, step.action, step.attempts) == ("Grow", None, 1)


def test_attempts_are_those_that_the_step_told_of() -> None:
    """Without a note a step that has begun was tried once, and any other never."""
    steps = (
        StepRecord(name="Grow", state=StepState.RUNNING, started_at=utc_now()),
        StepRecord(name="before approval", state=StepState.SUCCEEDED, started_at=utc_now()),
    )
    note = StepNote(operation_id="o", step="Grow", attempt=7, message="Heat does not answer")
    shown = {step.name: step for step in detail(operation(steps=steps), note).steps}
    assert (shown["Grow"].attempts, shown["Grow"].message) == (7, "Heat does not answer")
    assert shown["before approval"].attempts == 1
    assert shown["after driver"].attempts == 0


def test_the_plan_tells_hooks_and_keeps_the_operator_s_names() -> None:
    """Hooks of all phases are listed; the operator's name for the cloud is nobody's business."""
    body = detail(operation())
    assert body.plan is not None
    assert [(one.phase, one.source, one.name) for one in body.plan.hooks] == [
        ("before", "webhook", "approval"),
        ("after", "driver", None),
        ("failure", "webhook", "chat"),
    ]
    assert body.plan.steps[1].undo == ["Shrink"]
    assert "secret-name-of-the-cloud" not in body.model_dump_json()


def test_the_deadline_counts_from_the_start() -> None:
    """It is known as soon as the run has begun and made its plan."""
    begun = utc_now()
    assert detail(operation(started_at=begun)).deadline_at == begun + timedelta(seconds=600)
    assert detail(operation()).deadline_at is None
    assert detail(operation(plan=None, started_at=begun)).deadline_at is None


@pytest.mark.parametrize("kind", OperationKind)
@pytest.mark.parametrize("state", OperationState)
def test_every_record_says_what_a_cancellation_would_do(
    kind: OperationKind, state: OperationState
) -> None:
    """Possible or not, there is a sentence; only what is at work can be cancelled."""
    shown = detail(operation(kind=kind, state=state))
    assert shown.cancel.message.endswith(".")
    refuses = TRAITS[kind].on_cancel is OnCancel.REFUSE
    working = state in {OperationState.PENDING, OperationState.RUNNING}
    assert shown.cancel.possible is (working and not refuses)
    assert shown.retry_possible is (state in {OperationState.FAILED, OperationState.CANCELLED})


def test_a_kind_that_is_new_has_a_rule() -> None:
    """Each kind of operation can be permitted or not, also when it is retried."""
    known = {rule.name for rule in list_rules()}
    assert RULES.keys() == set(OperationKind)
    assert set(RULES.values()) <= known


def test_the_run_s_address_is_quoted() -> None:
    """Names cannot lead elsewhere in Temporal's UI; a trailing slash does no harm."""
    settings = Settings(temporal_ui_url="https://ui.test/", temporal_namespace="a/b")
    assert temporal_url(settings, operation(run_id="r/1")) == (
        "https://ui.test/namespaces/a%2Fb/workflows/cluster%2Fc/r%2F1/history"
    )
    assert temporal_url(settings, operation()) is None
