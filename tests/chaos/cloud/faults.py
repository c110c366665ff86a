"""What can go wrong on a real cloud, and how the operation must end then. Pure.

The labels of a fault are the fields of a devcloud's rule; rules about servers and nodes are bound
to those of the cluster.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from devcloud import Fault as Rule
from jeroboam.models import Action, OperationKind, Plan
from jeroboam.models.lifecycle import TRAITS, OnCancel
from tests.chaos import faults
from tests.chaos.faults import Fault, Hand, Maker, Outcome, Strike
from tests.chaos.rules import PLANNING, Act, When, writing

K = OperationKind

COMPONENTS = (
    *(Act.WORKER, Act.OTHER_WORKER, Act.TEMPORAL, Act.DATABASE, Act.API),
    *(Act.BACKEND, Act.HEAT, Act.NOVA),
)
FATAL = frozenset({Act.NOVA})
"""What takes work with it that Heat or Nova then call failed; the operation may end badly."""

SIDES = (When.BEFORE, When.DURING, When.AFTER)
LONG_SECONDS, SHORT_SECONDS = 15.0, 0.5
"""How long a wait and any other activity last, more or less."""

HAND_SECONDS = 20.0
LIES = 0.3

FAMILIES = {
    "none": 1,
    "crash": 14,
    "twice": 3,
    "lost": 3,
    "trouble": 3,
    "failure": 5,
    "hook": 3,
    "hand": 6,
}

STACKS = r"/stacks(/[^/?]+){0,2}(\?|$)"
"""What the product asks of Heat; reports of nodes have longer paths."""

_NODE_WORK = frozenset({K.SOFT_REBOOT, K.HARD_REBOOT, K.REBUILD})
_SIZES = re.compile(r"from (\d+) to (\d+)$")

_NUMBERS: Mapping[str, Callable[[str], Any]] = {"count": int, "status": int, "seconds": float}


def draw(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    """Return a fault that fits an operation."""
    fault, extra = faults.one_or_two(chance, plan, crashes, FAMILIES, _MAKERS)
    if extra is None:
        return fault
    # A call that is repeated since its answer was lost goes on with work that has failed meanwhile.
    outcome: Outcome = Outcome.STOPPED if fault.outcome is Outcome.BADLY else fault.outcome
    if outcome is Outcome.WELL:
        outcome = extra.outcome
    return fault.model_copy(
        update={
            "name": f"{fault.name} + {extra.name}",
            "strikes": extra.strikes,
            "outcome": outcome,
        }
    )


def rule(labels: Mapping[str, str], mark: str) -> Rule:
    """Return a fault's labels as a rule of the devcloud.

    Args:
        mark: What the names of the cluster's servers hold.
    """
    fields: dict[str, Any] = {name: _NUMBERS.get(name, str)(text) for name, text in labels.items()}
    if labels["target"] != "api":
        fields["name"] = f"*{mark}*"
    return Rule(**fields)


def grows(plan: Plan) -> bool:
    """Return whether an operation makes servers."""
    if plan.kind in {K.RESIZE, K.UPDATE}:
        sizes = [found for step in plan.steps if (found := _SIZES.search(step.name))]
        return any(int(found[2]) > int(found[1]) for found in sizes)
    return plan.kind in {K.CREATE, K.CREATE_NODE_GROUP, K.UPGRADE}


def _crash(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    act, when = chance.choice(list(crashes)), chance.choice(SIDES)
    waits = [step.name for step in plan.steps if step.action is Action.WAIT]
    steps = [step.name for step in plan.steps]
    write = writing(chance.randint(1, len(steps) + 1))
    step = chance.choice([*steps, *waits, *waits, PLANNING, write])
    longest = LONG_SECONDS if step in waits else SHORT_SECONDS
    strike = Strike(act=act, step=step, when=when, seconds=chance.uniform(0, longest))
    outcome = Outcome.STOPPED if act in FATAL else Outcome.WELL
    return Fault(name=f"crash of {act}", strikes=(strike,), outcome=outcome)


def _trouble(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
    """Answers that are late, or say that there is none."""
    service, path = ("nova", "/action$") if plan.kind in _NODE_WORK else ("heat", STACKS)
    rule = {"target": "api", "service": service, "path": path}
    labels = {
        "unavailable": {**rule, "action": "fail", "status": "503", "count": "2"},
        "slow": {**rule, "action": "delay", "seconds": "12", "count": "1"},
        "hangs up": {**rule, "action": "drop", "count": "2"},
    }
    name = chance.choice(list(labels))
    return Fault(name=f"{service}: {name}", labels=labels[name])


def _failure(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault | None:
    """One server or node fails, and what is asked for again works."""
    if grows(plan):
        target = chance.choice(("server", "node"))
    elif plan.kind is K.REBUILD:
        target = "server"
    elif plan.kind is K.HARD_REBOOT:
        # After a soft one that failed only another kind of operation helps.
        target = "reboot"
    else:
        return None
    labels = {"target": target, "action": "fail", "count": "1", "message": "a fault of the harness"}
    return Fault(name=f"{target} fails", outcome=Outcome.BADLY, labels=labels)


def _hand(chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault | None:
    """What somebody does, where that is to be survived; on a lie nodes never report."""
    fault = faults.MAKERS["hand"](chance, plan, crashes)
    if fault is None or fault.hand is None:
        return None
    ends_lies = fault.hand in {Hand.DELETE, Hand.FORCE_DELETE} or (
        fault.hand in {Hand.CANCEL, Hand.CANCEL_RUN}
        and TRAITS[plan.kind].on_cancel is OnCancel.ROLL_BACK
    )
    lies = ends_lies and grows(plan) and chance.random() < LIES
    return fault.model_copy(
        update={
            "name": f"hand: {fault.hand}{' on a lie' if lies else ''}",
            "labels": {"target": "node", "action": "drop"} if lies else {},
            "after_seconds": chance.uniform(0, HAND_SECONDS),
        }
    )


_MAKERS: Mapping[str, Maker] = {
    **{name: faults.MAKERS[name] for name in ("none", "twice", "lost", "hook")},
    "crash": _crash,
    "trouble": _trouble,
    "failure": _failure,
    "hand": _hand,
}
