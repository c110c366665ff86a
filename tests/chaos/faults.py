"""What can go wrong in a round, and how the operation must end then. Pure."""

import random
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from pydantic import Field

from jeroboam.drivers.fake.labels import CALL_OF_METHOD, FakeCall
from jeroboam.models import Action, HookPhase, Model, OperationKind, Plan
from jeroboam.models.lifecycle import TRAITS, OnCancel
from tests.chaos.hook import Mischief
from tests.chaos.rules import EVERY_STEP, PLANNING, Act, When, writing

K = OperationKind


class Outcome(StrEnum):
    """How an operation must end.

    ``STOPPED`` may also end well, when the fault came too late.
    """

    WELL = "well"
    BADLY = "badly"
    STOPPED = "stopped"
    REMOVED = "removed"


class Hand(StrEnum):
    """What somebody does to an operation at work."""

    CANCEL = "cancel"
    DELETE = "delete"
    FORCE_DELETE = "force-delete"
    TERMINATE = "terminate"
    RESET = "reset"
    RERUN = "rerun"
    CANCEL_RUN = "cancel-run"


class Strike(Model):
    """A crash, or a doubled or lost activity, at a point of the operation.

    Args:
        seconds: For ``DURING``, how long after the step's beginning.
    """

    act: Act
    step: str
    when: When
    seconds: float = 0.0


class Fault(Model):
    """All that goes wrong in one round.

    Args:
        name: For the summary.
        labels: Of the fake backend, while the operation runs. Numbers of times count from now.
        hook: Phase and mischief of the hook.
        hand: What somebody does, ``after_seconds`` after the request.
        crash_api: Whether the API dies before it has started the run.
    """

    name: str
    outcome: Outcome = Outcome.WELL
    strikes: tuple[Strike, ...] = ()
    labels: dict[str, str] = Field(default_factory=dict)
    hook: tuple[HookPhase, Mischief] | None = None
    hand: Hand | None = None
    after_seconds: float = 0.0
    crash_api: bool = False


LIES = 0.3
"""How often an operation that is stopped by hand would never end without that."""

COMPONENTS = (Act.WORKER, Act.OTHER_WORKER, Act.TEMPORAL, Act.DATABASE, Act.API, Act.BACKEND)
LONG_SECONDS, SHORT_SECONDS = 0.6, 0.004
"""How long a wait and any other activity last, more or less."""

SIDES = (When.BEFORE, When.DURING, When.AFTER)

Maker = Callable[[random.Random, Plan, Sequence[Act]], Fault | None]

FAMILIES = {
    "none": 1,
    "crash": 10,
    "twice": 3,
    "lost": 3,
    "trouble": 5,
    "failure": 6,
    "hook": 4,
    "hand": 7,
}


def draw(chance: random.Random, plan: Plan, *, crashes: Sequence[Act] = COMPONENTS) -> Fault:
    """Return a fault that fits an operation."""
    fault, extra = one_or_two(chance, plan, crashes, FAMILIES, MAKERS)
    if extra is None:
        return fault
    name = f"{fault.name} + {extra.name}"
    return fault.model_copy(update={"name": name, "strikes": extra.strikes})


def one_or_two(
    chance: random.Random,
    plan: Plan,
    crashes: Sequence[Act],
    families: Mapping[str, int],
    makers: Mapping[str, Maker],
) -> tuple[Fault, Fault | None]:
    """Return a fault that fits an operation and, at times, a crash to go with it.

    Args:
        families: Kinds of faults, with how often each is drawn.
        makers: What makes one of each kind, if one fits.
    """
    while True:
        (family,) = chance.choices(list(families), list(families.values()))
        fault = makers[family](chance, plan, crashes)
        if fault is not None:
            break
    alone = fault.strikes or chance.random() < 0.7
    return fault, None if alone else makers["crash"](chance, plan, crashes)


def calls_of(plan: Plan) -> list[FakeCall]:
    """Return the calls of the backend that a plan makes."""
    methods = dict.fromkeys(step.call.method for step in plan.steps if step.call)
    return [CALL_OF_METHOD[method] for method in methods]


def _none(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    return Fault(name="none")


def _crash(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    act, when = chance.choice(list(crashes)), chance.choice(SIDES)
    waits = {step.name for step in plan.steps if step.action is Action.WAIT}
    steps = [step.name for step in plan.steps]
    write = writing(chance.randint(1, len(steps) + 1))
    step = chance.choice([*steps, *steps, PLANNING, write])
    longest = LONG_SECONDS if step in waits else SHORT_SECONDS
    strike = Strike(act=act, step=step, when=when, seconds=chance.uniform(0, longest))
    return Fault(name=f"crash of {act}", strikes=(strike,))


def _twice(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    strike = Strike(act=Act.TWICE, step=EVERY_STEP, when=When.ALWAYS)
    return Fault(name="all twice", strikes=(strike,))


def _lost(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    strike = Strike(act=Act.LOST, step=EVERY_STEP, when=When.ALWAYS)
    return Fault(name="results lost", strikes=(strike,))


def _trouble(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault | None:
    calls = calls_of(plan)
    if not calls:
        return None
    call = str(chance.choice(calls))
    labels = {
        "unavailable": {"fake_unavailable": call, "fake_unavailable_calls": "2"},
        "interrupted": {"fake_interrupt": call, "fake_interruptions": "1"},
        "slow call": {"fake_hang": call, "fake_hang_seconds": "2"},
        "crashing call": {"fake_crash": call},
    }
    name = chance.choice(list(labels))
    return Fault(name=f"backend: {name}", labels=labels[name])


def _failure(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault | None:
    calls = calls_of(plan)
    if plan.kind is K.CHECK_HEALTH:
        return Fault(
            name="backend: fails", outcome=Outcome.BADLY, labels={"fake_fail": "check_health"}
        )
    if not calls:
        return None
    share = chance.choice(("0", "0.5", "1"))
    labels = {"fake_fail": str(calls[0]), "fake_fail_share": share, "fake_fail_times": "1"}
    # What removes is asked for again, and works then.
    removes = all(step.call.method.removes for step in plan.steps if step.call)
    outcome = Outcome.WELL if removes else Outcome.BADLY
    return Fault(name="backend: fails", outcome=outcome, labels=labels)


def _hook(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault | None:
    if not any(step.hook for step in plan.steps):
        return None
    mischief = chance.choice(list(Mischief))
    phase = chance.choice((HookPhase.BEFORE, HookPhase.AFTER))
    harmless = not mischief.fatal or plan.kind is K.FORCE_DELETE
    return Fault(
        name=f"hook: {mischief}",
        outcome=Outcome.WELL if harmless else Outcome.BADLY,
        hook=(phase, mischief),
    )


def _hand(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault | None:
    hand, on_cancel = chance.choice(list(Hand)), TRAITS[plan.kind].on_cancel
    outcome = {
        Hand.CANCEL: Outcome.STOPPED,
        Hand.CANCEL_RUN: Outcome.STOPPED,
        Hand.DELETE: Outcome.REMOVED,
        Hand.FORCE_DELETE: Outcome.REMOVED,
        Hand.TERMINATE: Outcome.STOPPED,
        Hand.RESET: Outcome.WELL,
        Hand.RERUN: Outcome.WELL,
    }[hand]
    if plan.kind.deletes and outcome is Outcome.REMOVED:
        return None
    if on_cancel is OnCancel.REFUSE and hand is Hand.CANCEL:
        outcome = Outcome.WELL
    labels: dict[str, str] = {}
    calls = calls_of(plan)
    # A cancellation waits for the nodes at work where the kind says so: on a lie for ever.
    ends_lies = hand in {Hand.DELETE, Hand.FORCE_DELETE} or (
        hand in {Hand.CANCEL, Hand.CANCEL_RUN} and on_cancel is OnCancel.ROLL_BACK
    )
    lies = ends_lies and outcome is not Outcome.WELL and not plan.kind.deletes
    if calls and lies and chance.random() < LIES:
        labels = {"fake_lie": str(calls[0])}
    return Fault(
        name=f"hand: {hand}{' on a lie' if labels else ''}",
        outcome=outcome,
        hand=hand,
        labels=labels,
        after_seconds=chance.uniform(0, 1.5) + (1.5 if labels else 0),
    )


MAKERS: Mapping[str, Maker] = {
    "none": _none,
    "crash": _crash,
    "twice": _twice,
    "lost": _lost,
    "trouble": _trouble,
    "failure": _failure,
    "hook": _hook,
    "hand": _hand,
}
