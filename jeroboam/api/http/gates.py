"""Gates that open at a microversion."""

from typing import Any

from fastapi import Depends
from starlette.exceptions import HTTPException

from jeroboam.api.http.dependencies import CurrentVersion
from jeroboam.api.http.versions import NOT_ACCEPTABLE, Microversion


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
