"""Errors as Magnum's clients read them: an ``errors`` array with one element."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jeroboam import errors
from jeroboam.api.http import versions

SHOWN_VALUE_LENGTH = 100
UNEXPECTED = 500

_STATUS: dict[type[errors.JeroboamError], int] = {
    errors.InvalidRequestError: 400,
    errors.DriverNotFoundError: 400,
    errors.AmbiguousDriverError: 409,
    errors.NotAuthorizedError: 403,
    errors.CredentialRejectedError: 403,
    errors.QuotaExceededError: 403,
    errors.NotFoundError: 404,
    errors.AmbiguousNameError: 409,
    errors.ConflictError: 409,
    errors.CloudUnavailableError: 503,
    errors.StoreUnavailableError: 503,
    errors.ClusterUnreachableError: 502,
    errors.ClusterTimeoutError: 504,
}

log = structlog.get_logger(__name__)


def status_of(error: errors.JeroboamError) -> int:
    """Return the HTTP status of an error: that of the nearest class which has one."""
    return next((_STATUS[kind] for kind in type(error).mro() if kind in _STATUS), UNEXPECTED)


def error_body(
    status: int, message: str, *, code: str | None = None, more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return Magnum's error body.

    Args:
        code: ``client`` or ``server``; by default what ``status`` says.
        more: Further fields for programs; Magnum's clients do not look at them.
    """
    return {
        "errors": [
            {
                "request_id": "",
                "code": _blame(status) if code is None else code,
                "status": status,
                "title": _title(message),
                "detail": message,
                "links": [],
                **(more or {}),
            }
        ]
    }


def error_response(
    status: int,
    message: str,
    *,
    code: str | None = None,
    headers: dict[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> JSONResponse:
    """Return an answer with Magnum's error body."""
    return JSONResponse(error_body(status, message, code=code, more=more), status, headers=headers)


def unsupported_version(version: versions.Microversion) -> JSONResponse:
    """Return the answer to a microversion that the API does not speak."""
    known = f"[{versions.SERVICE} {versions.MINIMUM}, {versions.SERVICE} {versions.MAXIMUM}]"
    error = {
        "code": "magnum.microversion-unsupported",
        "title": "Requested microversion is unsupported",
        "description": (
            f"Version {version} was requested but is not supported by this service. "
            f"The supported version range is: {known}."
        ),
        "min_version": str(versions.MINIMUM),
        "max_version": str(versions.MAXIMUM),
        "links": [
            {
                "rel": "help",
                "href": "http://docs.openstack.org/api-guide/compute/microversions.html",
            }
        ],
    }
    return JSONResponse(
        {"errors": [error]},
        versions.NOT_ACCEPTABLE,
        headers=versions.response_headers(version),
    )


def install(app: FastAPI) -> None:
    """Make ``app`` answer every error in Magnum's format."""
    app.add_exception_handler(errors.JeroboamError, _on_jeroboam_error)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(HTTPException, _on_http_exception)


def explain_validation(details: Sequence[Any]) -> str:
    """Return the first of pydantic's complaints in Magnum's words."""
    first = details[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "body"
    match first["type"]:
        case "json_invalid":
            return "Request body is not valid JSON."
        case "extra_forbidden":
            return f"Unknown attribute: {where}"
        case "missing" if where == "body":
            return "The request needs a JSON body."
        case "missing":
            return f"Invalid input for field/attribute {where}. Mandatory field missing."
        case "value_error":
            reason = str(first["ctx"]["error"])
        case _:
            reason = first["msg"]
    shown = str(first["input"])[:SHOWN_VALUE_LENGTH]
    return f"Invalid input for field/attribute {where}. Value: '{shown}'. {reason}"


async def _on_jeroboam_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, errors.JeroboamError):
        raise error
    status = status_of(error)
    request.state.failure = error
    if status >= UNEXPECTED:
        log.warning("request_failed", error=type(error).__name__, reason=error.message)
    headers = {}
    if isinstance(error, errors.RateLimitedError):
        headers["Retry-After"] = str(round(error.retry_after_seconds))
    return error_response(status, error.message, headers=headers, more=_evidence(error))


async def _on_validation_error(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    return error_response(400, explain_validation(error.errors()))


async def _on_http_exception(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        raise error
    # Magnum's web framework leaves these without a code and without version headers.
    request.state.unversioned = True
    routing = error.status_code in {404, 405}
    detail = "" if routing else str(error.detail)
    return error_response(error.status_code, detail, code="", headers=dict(error.headers or {}))


def _evidence(error: errors.JeroboamError) -> dict[str, Any]:
    """Return what programs need of an error, so that none has to read the message."""
    if not isinstance(error, errors.OperationInProgressError):
        return {}
    return {"operation": {"uuid": error.operation_id, "kind": error.kind, "step": error.step}}


def _title(message: str) -> str:
    return re.split(r"\.(?:\s|$)", message, maxsplit=1)[0]


def _blame(status: int) -> str:
    return "server" if status >= UNEXPECTED else "client"
