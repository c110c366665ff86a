"""Makes and changes declarations of hooks, with all that is checked before."""

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.schemas.hook import HookAttributes, HookCreate, HookPatch
from jeroboam.errors import (
    AmbiguousNameError,
    DriverNotFoundError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.hooks import declaring
from jeroboam.models.hook import HookDeclaration, HookScope
from jeroboam.store import Scope

LONGEST_SECRET = 4096

_EVERY_PROJECT = Scope(project_id=None)


async def new_hook(
    dependencies: Dependencies, body: HookCreate
) -> tuple[HookDeclaration, str | None]:
    """Return a declaration that may be stored, and its secret.

    Raises:
        InvalidRequestError: It contradicts itself, others or the settings.
    """
    declaration = _built({}, body.given())
    declaration = await _with_scope(dependencies, declaration)
    secret = _secret(body)
    await _check(dependencies, declaration, secret)
    return declaration, secret


async def changed_hook(
    dependencies: Dependencies, declaration: HookDeclaration, body: HookPatch
) -> tuple[HookDeclaration, str | None]:
    """Return a declaration as a request changes it, and the new secret if there is one.

    Raises:
        InvalidRequestError: It contradicts itself, others or the settings.
    """
    changed = _built(declaration.model_dump(), body.given())
    changed = await _with_scope(dependencies, changed)
    secret = _secret(body)
    in_force = secret or await dependencies.store.hooks.secret(declaration.uuid)
    await _check(dependencies, changed, in_force)
    return changed, secret


def _built(old: Mapping[str, Any], given: Mapping[str, Any]) -> HookDeclaration:
    values = dict(old)
    for key, value in given.items():
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
    try:
        return HookDeclaration.model_validate(values)
    except ValidationError as error:
        found = error.errors(include_url=False)
        if found[0]["type"] == "value_error":
            # The declaration as a whole; its text says all.
            raise InvalidRequestError(str(found[0]["ctx"]["error"])) from None
        details = [{**detail, "loc": ("body", *detail["loc"])} for detail in found]
        raise RequestValidationError(details) from None


def _secret(body: HookAttributes) -> str | None:
    """Return the secret of a request; a complaint must not quote it."""
    secret = body.secret
    if secret is None:
        return None
    good = isinstance(secret, str) and 0 < len(secret) <= LONGEST_SECRET
    if not good or not secret.isascii() or not secret.isprintable():
        raise InvalidRequestError(
            f"Invalid input for field/attribute secret: 1 to {LONGEST_SECRET} printable ASCII "
            "characters."
        )
    return str(secret)


async def _with_scope(dependencies: Dependencies, declaration: HookDeclaration) -> HookDeclaration:
    """Return the declaration with the uuid of what it names."""
    ident = declaration.scope_id or ""
    try:
        match declaration.scope:
            case HookScope.TEMPLATE:
                ident = (await dependencies.store.templates.get(ident, _EVERY_PROJECT)).uuid
            case HookScope.CLUSTER:
                ident = (await dependencies.store.clusters.get(ident, _EVERY_PROJECT)).uuid
            case HookScope.DRIVER:
                dependencies.drivers.installed(ident)
            case _:
                return declaration
    except (NotFoundError, AmbiguousNameError, DriverNotFoundError) as error:
        raise InvalidRequestError(f"scope_id: {error.message}") from None
    return declaration.model_copy(update={"scope_id": ident})


async def _check(
    dependencies: Dependencies, declaration: HookDeclaration, secret: str | None
) -> None:
    stored = await dependencies.store.hooks.list()
    declaring.check(
        declaration,
        secret,
        dependencies.hooks.registry,
        [one for one in stored if one.uuid != declaration.uuid and one.name != declaration.name],
        dependencies.hooks.outbound,
    )
