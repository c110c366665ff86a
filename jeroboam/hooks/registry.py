"""Finds the installed hooks and orders them by their declared dependencies."""

from collections.abc import Iterable, Mapping

from jeroboam import plugins
from jeroboam.errors import DriverContractError, InvalidRequestError
from jeroboam.hooks import order
from jeroboam.hooks.base import Hook
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.models import HookPhase, OperationKind

NAMESPACE = "jeroboam.hooks"


class HookRegistry:
    """The hooks of this process, in the order in which they run.

    Args:
        hooks: Those that are installed.
        declared: What the operator's file declares.

    Raises:
        DriverContractError: A hook runs after one that does not exist, or in a circle.
    """

    def __init__(self, hooks: Iterable[Hook], declared: DeclaredHooks | None = None) -> None:
        by_name = {hook.name: hook for hook in hooks}
        self._hooks = {name: by_name[name] for name in _ordered(by_name)}
        declared = declared or DeclaredHooks()
        self.declared = declared.declarations
        self.secrets = declared.secrets

    @classmethod
    def load(cls, declared: DeclaredHooks | None = None) -> "HookRegistry":
        """Load all installed hooks.

        Raises:
            DriverContractError: A hook cannot be loaded, is no ``Hook``, or two claim one name.
        """
        found = plugins.load(NAMESPACE, "hook")
        return cls([_checked(name, hook) for name, hook in found.items()], declared)

    def get(self, name: str) -> Hook:
        """Return a hook.

        Raises:
            DriverContractError: It is not installed on this worker.
        """
        if name not in self._hooks:
            raise DriverContractError(f"Hook '{name}' is not installed on this worker.")
        return self._hooks[name]

    def find(self, name: str) -> Hook | None:
        """Return a hook, or nothing where it is not installed."""
        return self._hooks.get(name)

    def all(self) -> tuple[Hook, ...]:
        """Return all installed hooks, in order."""
        return tuple(self._hooks.values())

    def for_operation(self, operation: OperationKind, phase: HookPhase) -> tuple[Hook, ...]:
        """Return the hooks of one operation and phase, in order."""
        return tuple(
            hook
            for hook in self._hooks.values()
            if operation in hook.operations and phase in hook.phases
        )


def _ordered(hooks: Mapping[str, Hook]) -> tuple[str, ...]:
    dependencies = {name: hook.runs_after for name, hook in hooks.items()}
    try:
        order.check(dependencies)
    except InvalidRequestError as error:
        raise DriverContractError(f"{error.message} Check what is installed here.") from error
    return order.ordered(dependencies)


def _checked(name: str, hook: object) -> Hook:
    if not isinstance(hook, Hook):
        raise DriverContractError(f"Hook '{name}' is no Hook but {type(hook)!r}.")
    if hook.name != name:
        raise DriverContractError(f"Hook '{hook.name}' is registered under another name, '{name}'.")
    return hook
