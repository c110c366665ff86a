"""Hooks are ordered by what they declare."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import DriverContractError
from jeroboam.hooks.base import Hook, HookEvent
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import HookPhase, OperationKind


def hook(name: str, *after: str) -> Hook:
    class Named(Hook):
        phases = (HookPhase.BEFORE,)
        operations = (OperationKind.CREATE,)
        runs_after = after

        def run(self, event: HookEvent) -> None:
            """Do nothing."""

    Named.name = name
    return Named()


@given(st.permutations(["a", "b", "c", "d"]))
def test_order_follows_dependencies(names: list[str]) -> None:
    """A hook runs after those that it names, whatever the load order."""
    after = {"a": ("d",), "b": (), "c": ("a", "b"), "d": ()}
    hooks = HookRegistry(hook(name, *after[name]) for name in names)
    order = [one.name for one in hooks.for_operation(OperationKind.CREATE, HookPhase.BEFORE)]
    assert sorted(order) == ["a", "b", "c", "d"]
    assert all(order.index(one) > order.index(other) for one in order for other in after[one])


def test_phase_and_operation_are_respected() -> None:
    """A hook runs only in its phases and operations."""
    hooks = HookRegistry([hook("a")])
    assert hooks.for_operation(OperationKind.CREATE, HookPhase.AFTER) == ()
    assert hooks.for_operation(OperationKind.DELETE, HookPhase.BEFORE) == ()


def test_circle_is_an_error() -> None:
    """Hooks that wait for one another are refused at the start."""
    with pytest.raises(DriverContractError, match="circle"):
        HookRegistry([hook("a", "b"), hook("b", "a")])


def test_missing_dependency_is_an_error() -> None:
    """A hook that runs after one that is not installed is refused at the start."""
    with pytest.raises(DriverContractError, match="'a' runs after b"):
        HookRegistry([hook("a", "b")])


def test_unknown_hook() -> None:
    """A plan made by another worker may name a hook that this one lacks; that is said."""
    with pytest.raises(DriverContractError, match="not installed"):
        HookRegistry([]).get("gone")
