"""Plans are pure data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import Action, HookCall, HookPhase, OperationKind
from jeroboam.models.plans import LONGEST_DEADLINE_MINUTES, HookReference, build_plan
from tests.unit.specs import make_spec


def references(phase: HookPhase, names: list[str]) -> tuple[HookReference, ...]:
    return tuple(HookReference(call=HookCall(phase=phase, name=name)) for name in names)


names = st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=4)


@given(st.sampled_from(OperationKind), names, names)
def test_hooks_surround_the_backend(
    kind: OperationKind, before: list[str], after: list[str]
) -> None:
    """Every hook has a step; names are unique; the first ones run before, the last ones after."""
    plan = build_plan(
        kind,
        make_spec(),
        before=references(HookPhase.BEFORE, before),
        after=references(HookPhase.AFTER, after),
    )
    assert len({step.name for step in plan.steps}) == len(plan.steps)
    hooks = [step.hook.name for step in plan.steps if step.hook]
    assert hooks == [*before, *after]
    assert all(step.action is Action.RUN_HOOK for step in plan.steps[: len(before)])


@pytest.mark.parametrize(("minutes", "expected"), [(7, 7 * 60), (0, LONGEST_DEADLINE_MINUTES * 60)])
def test_create_timeout_is_the_deadline(minutes: int, expected: int) -> None:
    """``create_timeout`` is in minutes, and 0 is Magnum's "none": a day."""
    plan = build_plan(OperationKind.CREATE, make_spec(create_timeout=minutes))
    assert plan.deadline_seconds == expected


def test_a_delete_is_not_bound_by_the_create_timeout() -> None:
    """A delete may outlast a short ``create_timeout``."""
    plan = build_plan(OperationKind.DELETE, make_spec(create_timeout=1))
    assert plan.deadline_seconds == LONGEST_DEADLINE_MINUTES * 60


def test_a_create_can_be_undone() -> None:
    """What a create submits, its compensation removes and waits for."""
    submit = next(
        step
        for step in build_plan(OperationKind.CREATE, make_spec()).steps
        if step.action is Action.SUBMIT_CREATE
    )
    assert submit.compensation == (Action.SUBMIT_DELETE, Action.WAIT_DELETED)
