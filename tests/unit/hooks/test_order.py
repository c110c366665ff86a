"""The order of hooks: kept where it can be, refused where it cannot, never in the way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import InvalidRequestError
from jeroboam.hooks import order

NAMES = st.sampled_from([f"hook{number}" for number in range(8)])
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, max_size=4))


@st.composite
def possible(draw: st.DrawFn) -> dict[str, list[str]]:
    """Dependencies without circles: each hook runs after earlier ones of a permutation."""
    names = draw(st.permutations([f"hook{number}" for number in range(8)]))
    return {
        name: draw(st.lists(st.sampled_from(names[:at]), max_size=3)) if at else []
        for at, name in enumerate(names)
    }


@given(possible())
def test_order_keeps_to_the_dependencies(hooks: dict[str, list[str]]) -> None:
    """Every hook comes once, after all that it runs after; nothing is refused."""
    order.check(hooks)
    found = order.ordered(hooks)
    assert sorted(found) == sorted(hooks)
    for name, after in hooks.items():
        assert all(found.index(one) < found.index(name) for one in after)


@given(possible(), st.randoms())
def test_order_does_not_depend_on_the_reading(hooks: dict[str, list[str]], random: object) -> None:
    """The order is the same however the hooks were found."""
    names = list(hooks)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert order.ordered({name: hooks[name] for name in names}) == order.ordered(hooks)


@given(GRAPHS)
def test_any_declarations_have_an_order(hooks: dict[str, list[str]]) -> None:
    """What contradicts itself or misses something still runs, each hook once."""
    assert sorted(order.ordered(hooks)) == sorted(hooks)


@given(GRAPHS)
def test_check_agrees_with_the_order(hooks: dict[str, list[str]]) -> None:
    """What the check lets pass can be kept, and what it refuses cannot."""
    found = order.ordered(hooks)
    kept = all(
        one in found and found.index(one) < found.index(name)
        for name, after in hooks.items()
        for one in after
    )
    try:
        order.check(hooks)
    except InvalidRequestError:
        assert not kept
    else:
        assert kept


@given(GRAPHS, NAMES)
def test_check_of_one_hook_is_about_that_one(hooks: dict[str, list[str]], name: str) -> None:
    """A hook that depends on nothing is accepted, whatever is wrong with others."""
    order.check(hooks | {name: []}, [name])


def test_messages_name_what_is_wrong() -> None:
    """The message names the missing hook, or the circle in the order of running."""
    with pytest.raises(InvalidRequestError, match="'a' runs after ghost, which does not exist"):
        order.check({"a": ["ghost"]})
    with pytest.raises(InvalidRequestError, match="circle: a -> b -> c -> a"):
        order.check({"a": ["c"], "b": ["a"], "c": ["b"]})


def test_hooks_without_dependencies_run_by_name() -> None:
    """Where nothing is declared, names decide."""
    assert order.ordered({"b": [], "c": [], "a": []}) == ("a", "b", "c")
