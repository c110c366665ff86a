"""Every point of an operation, and all that can strike there. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jeroboam.drivers.fake.labels import CALL_OF_METHOD, FakeCall
from jeroboam.models import Action, HookPhase, OperationKind, Plan, PlanStep
from tests.chaos.faults import Fault, Strike
from tests.chaos.hook import Mischief
from tests.chaos.rules import EVERY_STEP, PLANNING, Act, When, writing

SIDES = (When.BEFORE, When.DURING, When.AFTER)
DEEDS = (Act.TWICE, Act.LOST)
"""What is not a crash: it is done to an activity as a whole."""

HANG_SECONDS, WORK_SECONDS, STRIKE_SECONDS = "0.4", "2", 0.2
"""How long a call and the work that it begins are made to last where they are to be struck in the
middle, and when that is. Work begins before its wait does."""

_ASKED: Mapping[Action, FakeCall] = {
    Action.COLLECT_OUTPUTS: FakeCall.READ_OUTPUTS,
    Action.CHECK_HEALTH: FakeCall.CHECK_HEALTH,
}
_WORK: Mapping[FakeCall, str] = dict.fromkeys(
    (FakeCall.CREATE_NODE_GROUP, FakeCall.DELETE_NODE_GROUP, FakeCall.RENEW_CERTIFICATES),
    "fake_group_seconds",
)
_NAMES: Mapping[Act, str] = {Act.TWICE: "one twice", Act.LOST: "one result lost"}


@dataclass(frozen=True)
class Place:
    """A point of an operation, whatever the names of its steps are.

    Args:
        number: Of the step or the write, from 1; 0 means all of the operation.
    """

    what: str
    number: int = 0


PLAN, STEP, WRITE, ALL, START = "plan", "step", "write", "all", "start"


@dataclass(frozen=True)
class Case:
    """One thing that strikes at one place."""

    kind: OperationKind
    act: Act
    place: Place
    when: When = When.ALWAYS

    @property
    def kills_api(self) -> bool:
        """Whether the API dies when it has accepted the operation."""
        return self.place.what == START


def cases_of(
    kind: OperationKind, steps: int, acts: Sequence[Act], sides: Sequence[When] = SIDES
) -> Iterator[Case]:
    """Yield all cases of an operation whose plan has so many steps."""
    places = [Place(PLAN), *(Place(STEP, number + 1) for number in range(steps))]
    # One write for the beginning of each step, and one for the end of the operation.
    places += [Place(WRITE, number + 1) for number in range(steps + 1)]
    for act in acts:
        whens = (When.ALWAYS,) if act in DEEDS else sides
        yield from (Case(kind, act, place, when) for place in places for when in whens)
        if act in DEEDS:
            yield Case(kind, act, Place(ALL))
        if act is Act.API:
            yield Case(kind, act, Place(START))


def fault_of(case: Case, plan: Plan) -> Fault:
    """Return a case as a fault of an operation with that plan.

    Raises:
        IndexError: The plan has no such step.
    """
    if case.kills_api:
        return Fault(name="none")
    step = plan.steps[case.place.number - 1] if case.place.what == STEP else None
    name = _NAMES.get(case.act, f"crash of {case.act}")
    fault = Fault(name=name, strikes=(_strike(case, step),))
    if step and case.when is When.DURING:
        return fault.model_copy(update=_lengthened(step))
    return fault


def _strike(case: Case, step: PlanStep | None) -> Strike:
    at = {PLAN: PLANNING, WRITE: writing(case.place.number), ALL: EVERY_STEP}
    name = step.name if step else at[case.place.what]
    seconds = STRIKE_SECONDS if step and _lengthened(step) else 0.0
    return Strike(act=case.act, step=name, when=case.when, seconds=seconds)


def _lengthened(step: PlanStep) -> dict[str, object]:
    """Return what makes a step last long enough to have a middle."""
    if step.hook and step.hook.phase is not HookPhase.FAILURE:
        return {"hook": (step.hook.phase, Mischief.SLOW)}
    call = CALL_OF_METHOD[step.call.method] if step.call else _ASKED.get(step.action)
    if call and step.action is Action.WAIT:
        return {"labels": {_WORK.get(call, f"fake_{call}_seconds"): WORK_SECONDS}}
    return {"labels": {"fake_hang": call, "fake_hang_seconds": HANG_SECONDS}} if call else {}
