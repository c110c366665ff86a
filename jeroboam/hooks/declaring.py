"""Checks declarations before they hold, and makes hooks of them."""

from collections.abc import Iterable

from jeroboam.errors import ConfigurationError, InvalidRequestError
from jeroboam.hooks import order
from jeroboam.hooks.base import Hook, Outbound
from jeroboam.hooks.catalogue import Entry, dependencies, entries
from jeroboam.hooks.command import CommandHook
from jeroboam.hooks.file import SETTING
from jeroboam.hooks.registry import HookRegistry
from jeroboam.hooks.webhook import WebhookHook
from jeroboam.models.hook import HookDeclaration
from jeroboam.models.plan import HookSource


def hook_of(declaration: HookDeclaration, installed: HookRegistry) -> Hook:
    """Return the hook that a declaration runs.

    Raises:
        DriverContractError: It is not installed here.
    """
    if declaration.source is HookSource.WEBHOOK:
        return WebhookHook(declaration)
    if declaration.source is HookSource.COMMAND:
        return CommandHook(declaration)
    return installed.get(declaration.installed_name or declaration.name)


def check(
    declaration: HookDeclaration,
    secret: str | None,
    installed: HookRegistry,
    others: Iterable[HookDeclaration],
    outbound: Outbound,
) -> None:
    """Check a declaration that is made by the API.

    Args:
        others: All that are stored, but not the one that it replaces.

    Raises:
        InvalidRequestError: With what is wrong and what would be right.
    """
    if declaration.source is HookSource.COMMAND:
        raise InvalidRequestError(
            "A command cannot be declared by the API, since it runs on the workers with their "
            f"rights. The operator declares it in the file {SETTING}."
        )
    if declaration.name in installed.declared:
        raise InvalidRequestError(
            f"Hook '{declaration.name}' is declared in the operator's file, which wins. Choose "
            "another name."
        )
    _check_hook(declaration, secret, installed, outbound)
    found = entries(installed, (*others, declaration))
    _check_phases(next(entry for entry in found if entry.name == declaration.name))
    order.check(dependencies(found), [declaration.name])


def check_file(installed: HookRegistry, outbound: Outbound) -> None:
    """Check all declarations of the operator's file.

    Raises:
        ConfigurationError: With the hook that is wrong.
    """
    found = entries(installed, ())
    for entry in found:
        if entry.declaration is None:
            continue
        try:
            _check_hook(entry.declaration, installed.secrets.get(entry.name), installed, outbound)
            _check_phases(entry)
        except InvalidRequestError as error:
            raise ConfigurationError(f"{SETTING}: hook '{entry.name}': {error.message}") from None
    try:
        order.check(dependencies(found))
    except InvalidRequestError as error:
        raise ConfigurationError(f"{SETTING}: {error.message}") from None


def _check_hook(
    declaration: HookDeclaration,
    secret: str | None,
    installed: HookRegistry,
    outbound: Outbound,
) -> None:
    name = declaration.installed_name
    if name and installed.find(name) is None:
        known = ", ".join(hook.name for hook in installed.all()) or "none"
        raise InvalidRequestError(f"Hook '{name}' is not installed. Installed are: {known}.")
    hook_of(declaration, installed).check(declaration.options, secret, outbound)


def _check_phases(entry: Entry) -> None:
    declared = entry.declaration
    if declared is None or entry.installed is None:
        return
    for what, mine, own in (
        ("phases", declared.phases, entry.installed.phases),
        ("operations", declared.operations, entry.installed.operations),
    ):
        excess = sorted(set(mine or ()) - set(own))
        if excess:
            raise InvalidRequestError(
                f"Hook '{entry.installed.name}' does not have the {what} {', '.join(excess)}; it "
                f"has: {', '.join(own)}."
            )
