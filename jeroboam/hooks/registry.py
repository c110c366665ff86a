"""Finds the installed hooks and orders them by their declared dependencies."""

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter
from typing import Any

from stevedore import ExtensionManager
from stevedore.exception import MultipleMatches
from stevedore.extension import error_on_conflict

from jeroboam.errors import DriverContractError
from jeroboam.hooks.base import Hook
from jeroboam.models import HookPhase, OperationKind

NAMESPACE = "jeroboam.hooks"


class HookRegistry:
    """The hooks of this process, in the order in which they run.

    Raises:
        DriverContractError: A hook runs after one that does not exist, or in a circle.
    """

    def __init__(self, hooks: Iterable[Hook]) -> None:
        by_name = {hook.name: hook for hook in sorted(hooks, key=lambda hook: hook.name)}
        self._hooks = {name: by_name[name] for name in _ordered(by_name)}

    @classmethod
    def load(cls) -> "HookRegistry":
        """Load all installed hooks.

        Raises:
            DriverContractError: A hook cannot be loaded, is no ``Hook``, or two claim one name.
        """

        def fail(_: ExtensionManager[Any], entry_point: Any, error: BaseException) -> None:
            raise DriverContractError(
                f"Hook '{entry_point.name}' ({entry_point.value}) cannot be loaded: {error}"
            ) from error

        try:
            manager: ExtensionManager[Any] = ExtensionManager(
                NAMESPACE,
                invoke_on_load=True,
                on_load_failure_callback=fail,
                conflict_resolver=error_on_conflict,
            )
            return cls(_checked(name, manager[name].obj) for name in manager.names())
        except MultipleMatches as error:
            raise DriverContractError(f"Two packages claim one hook name: {error}") from error

    def get(self, name: str) -> Hook:
        """Return a hook.

        Raises:
            DriverContractError: It is not installed on this worker.
        """
        if name not in self._hooks:
            raise DriverContractError(f"Hook '{name}' is not installed on this worker.")
        return self._hooks[name]

    def for_operation(self, operation: OperationKind, phase: HookPhase) -> tuple[Hook, ...]:
        """Return the hooks of one operation and phase, in order."""
        return tuple(
            hook
            for hook in self._hooks.values()
            if operation in hook.operations and phase in hook.phases
        )


def _ordered(hooks: dict[str, Hook]) -> tuple[str, ...]:
    for hook in hooks.values():
        missing = set(hook.runs_after) - hooks.keys()
        if missing:
            raise DriverContractError(
                f"Hook '{hook.name}' runs after {', '.join(sorted(missing))}, not installed here."
            )
    graph = {name: sorted(hook.runs_after) for name, hook in hooks.items()}
    try:
        return tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise DriverContractError(
            f"Hooks run after one another in a circle: {' -> '.join(error.args[1])}."
        ) from error


def _checked(name: str, hook: object) -> Hook:
    if not isinstance(hook, Hook):
        raise DriverContractError(f"Hook '{name}' is no Hook but {type(hook)!r}.")
    if hook.name != name:
        raise DriverContractError(f"Hook '{hook.name}' is registered under another name, '{name}'.")
    return hook
