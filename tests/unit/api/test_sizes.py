"""Sizes of node groups, and how nodes are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.api.http import sizes
from jeroboam.api.http.versions import Microversion
from jeroboam.errors import InvalidRequestError
from jeroboam.models import Node, NodeGroup


def group(*names: str, **fields: object) -> NodeGroup:
    nodes = tuple(Node(name=name, id=f"ID-{name}") for name in names)
    values = {"name": "big", "cluster_id": "c", "project_id": "p", "nodes": nodes}
    return NodeGroup.model_validate(values | fields)


@pytest.mark.parametrize(
    ("names", "number", "expected"),
    [
        (("a-0", "a-1", "a-2"), "1", "a-1"),
        (("a-0", "a-2", "a-5"), "5", "a-5"),
        (("a-0", "a-2", "a-5"), "2", "a-2"),
        (("a-00", "a-01"), "1", "a-01"),
        (("red", "green", "blue"), "2", "blue"),
        (("a-0", "b-0"), "1", "b-0"),
        (("a-0", "green"), "1", "green"),
        (("3", "2", "1", "0"), "0", "0"),
    ],
)
def test_a_number_is_the_backend_s_or_a_position(
    names: tuple[str, ...], number: str, expected: str
) -> None:
    """The number at the end of the names counts; where they have none, it is the position."""
    assert sizes.named_nodes(group(*names), [number]) == (expected,)


@pytest.mark.parametrize("number", ["1", "3", "-1", "00", "٢"])
def test_after_a_removal_a_number_may_be_nobody_s(number: str) -> None:
    """The position of a node must not be taken for the number of another."""
    with pytest.raises(InvalidRequestError, match="There is: a-0, a-2, a-5"):
        sizes.named_nodes(group("a-0", "a-2", "a-5"), [number])


def test_a_name_comes_before_an_id_and_a_number() -> None:
    """A node whose name looks like another one's number is meant by its name."""
    named = group("1", "0")
    assert sizes.named_nodes(named, ["1", "id-0", "0"]) == ("1", "0")


def test_in_several_groups_a_number_says_nothing() -> None:
    """Nodes of several groups are named by name or id."""
    groups = (group("a-0"), group("b-0", name="small"))
    assert sizes.nodes_of(groups, ["b-0", "ID-a-0"]) == ("b-0", "a-0")
    with pytest.raises(InvalidRequestError, match="in the node groups big, small: 0"):
        sizes.nodes_of(groups, ["0"])


def test_a_group_whose_nodes_are_not_known_says_so() -> None:
    """A driver that names no nodes has none to choose from."""
    with pytest.raises(InvalidRequestError, match="none that is known"):
        sizes.named_nodes(group(), ["a"])


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, unique=True), st.data())
def test_every_node_is_found_by_name(names: list[str], data: st.DataObject) -> None:
    """Whatever nodes are called, each is found by its name, once."""
    wanted = data.draw(st.lists(st.sampled_from(names)))
    assert sizes.named_nodes(group(*names), wanted) == tuple(dict.fromkeys(wanted))


@given(
    count=st.integers(0, 20),
    lowest=st.integers(0, 20),
    highest=st.none() | st.integers(0, 20),
)
def test_a_size_is_within_the_bounds(count: int, lowest: int, highest: int | None) -> None:
    """Bounds are inclusive and a maximum of zero is none; the control plane has none here."""
    fields = {"min_node_count": lowest, "max_node_count": highest}
    fits = lowest <= count and (not highest or count <= highest)
    if fits:
        sizes.check_bounds(group(**fields), count)
    else:
        with pytest.raises(InvalidRequestError, match="outside the allowed range"):
            sizes.check_bounds(group(**fields), count)
    sizes.check_bounds(group(**fields, role="master"), count)


@pytest.mark.parametrize(("minor", "count", "fits"), [(9, 0, False), (10, 0, True), (1, 1, True)])
def test_zero_is_a_size_since_1_10(minor: int, count: int, fits: bool) -> None:
    """Only zero is gated."""
    if fits:
        sizes.check_zero(count, Microversion(1, minor))
    else:
        with pytest.raises(InvalidRequestError, match=r"microversion 1\.10"):
            sizes.check_zero(count, Microversion(1, minor))
