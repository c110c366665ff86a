"""The drawings of the state machine are complete, and have no dead end."""

import re

import pytest

from jeroboam.models import Action, OperationKind, OperationState, Status
from jeroboam.models.lifecycle import TRAITS, USABLE, OnCancel, may_retry
from tests.unit.docs import state_machine
from tests.unit.docs.state_machine import OPERATION_EDGES, Edge, cluster_edges, example_plan
from tests.unit.docs.tables import DOCS

OUTSIDE = "[*]"


def ways(edges: tuple[Edge, ...]) -> dict[str, set[str]]:
    """Where one can get from each place; what is drawn as one place counts for all in it."""
    found: dict[str, set[str]] = {}
    for start, end, _ in edges:
        for place in USABLE if start == "usable" else [start]:
            found.setdefault(str(place), set()).add(str(end))
    return found


def reachable(place: str, edges: tuple[Edge, ...]) -> set[str]:
    step, seen, todo = ways(edges), set[str](), [place]
    while todo:
        for end in step.get(todo.pop(), set()) - seen:
            seen.add(end)
            if end != OUTSIDE:
                todo.append(end)
    return seen


@pytest.mark.parametrize(
    "status", [status for status in Status if status is not Status.DELETE_COMPLETE]
)
def test_every_status_is_drawn_and_has_a_way_out(status: Status) -> None:
    """Each status can come to be, and from each the cluster can be removed."""
    edges = tuple(cluster_edges())
    assert str(status) in reachable(OUTSIDE, edges)
    assert OUTSIDE in reachable(status, edges)


def test_a_row_that_is_gone_has_no_status() -> None:
    """``DELETE_COMPLETE`` is never seen: the row goes with the cluster."""
    assert Status.DELETE_COMPLETE not in state_machine.cluster_drawing()


@pytest.mark.parametrize("state", list(OperationState))
def test_every_state_of_an_operation_is_drawn(state: OperationState) -> None:
    """Each state can come to be; only those at work go on by themselves."""
    assert str(state) in reachable(OUTSIDE, OPERATION_EDGES)
    assert bool(ways(OPERATION_EDGES).get(state)) is state.active
    again = f"{state} --> {OperationState.PENDING}: retry" in state_machine.operation_drawing()
    assert again is may_retry(state)


@pytest.mark.parametrize("kind", list(OperationKind))
def test_every_kind_is_explained(kind: OperationKind) -> None:
    """Each kind is in all tables, once."""
    for rows in (state_machine.traits, state_machine.plans):
        assert [row for row in rows() if row[0] == f"`{kind}`"]
    said = [
        kinds for kinds, *_ in state_machine.cancellations() if f"`{kind}`" in kinds.split(", ")
    ]
    assert len(said) == 1


@pytest.mark.parametrize("kind", list(OperationKind))
def test_what_can_be_rolled_back_says_how(kind: OperationKind) -> None:
    """A kind that is rolled back undoes each change of the backend; the others undo nothing.

    Where nodes are set up from what is stored, it undoes that, and leads the nodes back by it.
    """
    steps = example_plan(kind).steps
    stored = [step for step in steps if step.action is Action.TURN_CERTIFICATES]
    changes = stored or [step for step in steps if step.action is Action.SUBMIT]
    undone = [step for step in changes if step.undo]
    assert all(any(one.action is Action.SUBMIT for one in step.undo) for step in undone)
    expected = changes if TRAITS[kind].on_cancel is OnCancel.ROLL_BACK else []
    assert undone == expected


def test_what_happens_after_a_failure_is_told_for_every_kind() -> None:
    """The table of roll-backs, which people wrote, speaks of every kind that can fail."""
    page = (DOCS / "state-machine.md").read_text()
    told = " ".join(re.findall(r"^\| ([^|`]+) \|", page, re.MULTILINE))
    words = {
        OperationKind.FORCE_DELETE: "forced delete",
        OperationKind.SOFT_REBOOT: "reboot",
        OperationKind.HARD_REBOOT: "reboot",
        OperationKind.CREATE_NODE_GROUP: "create of a node group",
        OperationKind.UPDATE_NODE_GROUP: "update of a node group",
        OperationKind.DELETE_NODE_GROUP: "delete of a node group",
        OperationKind.CHECK_HEALTH: "check of the health",
    }
    assert [kind for kind in OperationKind if words.get(kind, kind.words) not in told] == []
