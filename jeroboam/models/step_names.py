"""Names of steps: short enough for every record, and no two alike within a plan. Pure.

The name of a step is part of its idempotency key, so the same plan always gets the same names.
"""

from collections.abc import Iterable

from jeroboam.models.plan import PlanStep

LONGEST_NOUN = 60
"""What a name that users chose may take up in the name of a step."""


def shortened(noun: str) -> str:
    """Return a name that users chose, cut if it is long, on one line."""
    line = " ".join(noun.split())
    return line if len(line) <= LONGEST_NOUN else f"{line[: LONGEST_NOUN - 3]}..."


def told_apart(*groups: Iterable[PlanStep]) -> tuple[tuple[PlanStep, ...], ...]:
    """Return groups of steps in which every name is there once; repeated ones get a number.

    Two node groups can have names that begin alike, and one hook can be declared twice.
    """
    taken: set[str] = set()
    return tuple(_apart(steps, taken) for steps in groups)


def _apart(steps: Iterable[PlanStep], taken: set[str]) -> tuple[PlanStep, ...]:
    """Rename within one group. A ``WAIT`` follows its ``SUBMIT``, whose new name it has to know."""
    new_names: dict[str, str] = {}
    return tuple(_renamed(step, taken, new_names) for step in steps)


def _renamed(step: PlanStep, taken: set[str], new_names: dict[str, str]) -> PlanStep:
    name = _free(step.name, taken)
    taken.add(name)
    new_names[step.name] = name
    call = step.call
    if call:
        submitter = new_names.get(call.submitted_by, call.submitted_by)
        call = call.model_copy(update={"submitted_by": submitter})
    undo = _apart(step.undo, taken)
    return step.model_copy(update={"name": name, "call": call, "undo": undo})


def _free(name: str, taken: set[str]) -> str:
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name} ({number})"
    return free
