"""Loads what installed packages bring along under an entry point."""

from collections.abc import Mapping
from typing import Any

from stevedore import ExtensionManager
from stevedore.exception import MultipleMatches
from stevedore.extension import error_on_conflict

from jeroboam.errors import DriverContractError


def load(namespace: str, noun: str) -> Mapping[str, object]:
    """Return an instance of each class that is installed, by the name of its entry point.

    Args:
        namespace: The group of entry points.
        noun: What they are, for messages.

    Raises:
        DriverContractError: One cannot be loaded, or two packages claim one name.
    """

    def fail(_: ExtensionManager[Any], entry_point: Any, error: BaseException) -> None:
        raise DriverContractError(
            f"{noun.capitalize()} '{entry_point.name}' ({entry_point.value}) cannot be loaded: "
            f"{error}"
        ) from error

    try:
        manager: ExtensionManager[Any] = ExtensionManager(
            namespace,
            invoke_on_load=True,
            on_load_failure_callback=fail,
            conflict_resolver=error_on_conflict,
        )
        # Stevedore resolves conflicts when an extension is first looked up by its name.
        return {name: manager[name].obj for name in manager.names()}
    except MultipleMatches as error:
        raise DriverContractError(f"Two packages claim one {noun} name: {error}") from error
