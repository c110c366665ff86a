"""Gates that open at a microversion."""

from typing import Any

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from jeroboam.api.http.dependencies import CurrentVersion
from jeroboam.api.http.versions import ASYNC_ROLLBACK, NOT_ACCEPTABLE, UPGRADE, Microversion
from jeroboam.errors import InvalidRequestError


def since(first: Microversion, method: str) -> Any:
    """Return a dependency which answers 406 before ``first``.

    Args:
        method: Magnum's name of the route's method, part of the message.
    """

    def check(version: CurrentVersion) -> None:
        if version < first:
            raise HTTPException(
                NOT_ACCEPTABLE,
                f"Version {version} was requested but the requested API {method} is not "
                "supported for this version.",
            )

    return Depends(check)


def _check_rollback(request: Request, version: CurrentVersion) -> None:
    if "rollback" in request.query_params and version < ASYNC_ROLLBACK:
        raise InvalidRequestError('Unknown argument: "rollback".')


def _check_upgrade(version: CurrentVersion) -> None:
    if version < UPGRADE:
        raise InvalidRequestError(f"Upgrading a cluster needs the microversion {UPGRADE} or later.")


upgrade_gate = Depends(_check_upgrade)
"""Refuses upgrades before Magnum knew them, with a 400 as Magnum does."""

rollback_argument = Depends(_check_rollback)
"""Refuses ``?rollback=`` before Magnum knew it."""
