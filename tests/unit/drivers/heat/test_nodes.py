"""Nodes as Heat and Nova tell of them, and the indexes that a group does not use any more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat import nodes
from jeroboam.models import Node, NodeGroup

INDEXES = st.integers(0, 12)


def node(index: int) -> Node:
    return Node(name=f"demo-0123-worker-{index}", id=f"id-{index}")


def group(*indexes: int) -> NodeGroup:
    listed = tuple(node(index) for index in indexes)
    return NodeGroup(name="g", cluster_id="c", project_id="p", nodes=listed)


def names_in_heat(count: int, skipped: list[str]) -> list[int]:
    """Return the indexes that a resource group of Heat uses."""
    found: list[int] = []
    index = 0
    while len(found) < count:
        if str(index) not in skipped:
            found.append(index)
        index += 1
    return found


class Stack:
    """A resource group with the list that its stack holds."""

    def __init__(self, count: int) -> None:
        self.removals: list[str] = []
        self.indexes = names_in_heat(count, [])

    def resize(self, count: int, recorded: list[int], leaving: list[int]) -> None:
        away = [node(index) for index in leaving]
        self.removals = nodes.removals(self.removals, group(*recorded), away)
        self.indexes = names_in_heat(count, self.removals)


@given(st.integers(1, 6), st.lists(st.tuples(st.integers(0, 6), st.sets(INDEXES)), max_size=6))
def test_any_series_of_resizes(count: int, series: list[tuple[int, set[int]]]) -> None:
    """The named nodes go, nobody else goes in their place, and no index of theirs returns."""
    stack = Stack(count)
    gone: set[int] = set()
    for step, wanted in series:
        before = stack.indexes
        leaving = [index for index in before if index in wanted]
        target = max(0, min(step, len(before) - len(leaving)) if leaving else step)
        stack.resize(target, before, leaving)
        assert not set(stack.indexes) & set(leaving)
        gone |= set(leaving)
        assert not set(stack.indexes) & gone
        if target >= len(before) - len(leaving):
            assert set(before) - set(leaving) <= set(stack.indexes)


@given(st.integers(1, 6), st.sets(INDEXES))
def test_undone_removal(count: int, wanted: set[int]) -> None:
    """The way back of a removal ends with the nodes that are recorded."""
    stack = Stack(count)
    recorded = stack.indexes
    leaving = [index for index in recorded if index in wanted]
    stack.resize(count - len(leaving), recorded, leaving)
    stack.resize(count, recorded, [])
    assert stack.indexes == recorded


@given(st.integers(1, 6), st.sets(INDEXES))
def test_repeated_call(count: int, wanted: set[int]) -> None:
    """A call that comes twice changes nothing the second time."""
    stack = Stack(count)
    recorded = stack.indexes
    leaving = [index for index in recorded if index in wanted]
    stack.resize(count - len(leaving), recorded, leaving)
    once = (stack.indexes, stack.removals)
    stack.resize(count - len(leaving), recorded, leaving)
    assert (stack.indexes, stack.removals) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", []), ("[]", []), ('["1", "10"]', ["1", "10"]), ("[2]", ["2"]), ("{}", []), ("x", [])],
)
def test_list_in_the_stack(text: str, expected: list[str]) -> None:
    """The stack's parameter is read as Heat shows it, and what is no list counts as none."""
    assert nodes.parse_removals(text) == expected


class Server:
    status = "ACTIVE"


def entry(index: int, **fields: str) -> dict[str, str]:
    return {
        "name": f"demo-worker-{index}",
        "id": f"id-{index}",
        "address": f"10.0.0.{index}",
        "public_address": "",
        "version": "v1.37.1",
        **fields,
    }


def test_nodes_of_a_stack() -> None:
    """Nodes come in the order of their indexes, public address first, with Nova's status."""
    listed = [entry(10), None, entry(2, public_address="172.24.0.2"), entry(3, id="")]
    found = nodes.read(listed, {"id-10": Server(), "id-2": Server()})
    assert [one.name for one in found] == ["demo-worker-2", "demo-worker-10"]
    assert found[0].addresses == ("172.24.0.2", "10.0.0.2")
    assert {one.status for one in found} == {"ACTIVE"}
    assert nodes.first_addresses(found) == ("172.24.0.2", "10.0.0.10")


def test_node_without_server() -> None:
    """A node whose server Nova does not know any more is said to be deleted."""
    (found,) = nodes.read([entry(1, version="")], {})
    assert found.status == "DELETED"
    assert found.version is None


@pytest.mark.parametrize("told", [None, "", "text", [], [None]])
def test_stack_tells_nothing(told: object) -> None:
    """A stack without nodes, or built before it told of them, has none."""
    assert nodes.read(told, {}) == ()
