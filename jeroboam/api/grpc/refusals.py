"""Errors on the wire: gRPC's codes for what the HTTP application answers."""

from collections.abc import Mapping
from typing import Any

from grpc import StatusCode

from jeroboam import errors

REQUEST_ID = "x-openstack-request-id"
OPERATION = "jeroboam-operation"
"""Trailing metadata that names the operation which holds the cluster."""

_OF_ERROR: Mapping[type[errors.JeroboamError], StatusCode] = {
    errors.QuotaExceededError: StatusCode.RESOURCE_EXHAUSTED,
    # Somebody else was quicker: the same call may succeed when that has ended.
    errors.OperationInProgressError: StatusCode.ABORTED,
}
"""Where gRPC tells apart what HTTP does not."""

_OF_STATUS: Mapping[int, StatusCode] = {
    400: StatusCode.INVALID_ARGUMENT,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.NOT_FOUND,
    409: StatusCode.FAILED_PRECONDITION,
    413: StatusCode.RESOURCE_EXHAUSTED,
    422: StatusCode.INVALID_ARGUMENT,
    429: StatusCode.RESOURCE_EXHAUSTED,
    501: StatusCode.UNIMPLEMENTED,
    502: StatusCode.UNAVAILABLE,
    503: StatusCode.UNAVAILABLE,
    504: StatusCode.DEADLINE_EXCEEDED,
}


class Refused(Exception):  # noqa: N818 - a verdict that the server turns into a status
    """A call that is answered with a status other than OK.

    Args:
        message: For the user: what is wrong and what to do.
        trailing: Metadata for programs.
    """

    def __init__(
        self, code: StatusCode, message: str, trailing: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.trailing = dict(trailing or {})


def refusal(
    status: int,
    body: Any,
    headers: Mapping[str, str],
    error: errors.JeroboamError | None,
) -> Refused:
    """Return how to refuse a call that the HTTP application has refused.

    Args:
        body: Magnum's error body, where there is one.
        error: What was raised, where it was one of ours.
    """
    code = _OF_STATUS.get(status, StatusCode.INTERNAL)
    code = next((_OF_ERROR[kind] for kind in type(error).mro() if kind in _OF_ERROR), code)
    first = body["errors"][0] if isinstance(body, dict) and body.get("errors") else {}
    trailing = {REQUEST_ID: headers.get(REQUEST_ID, "")}
    if isinstance(error, errors.OperationInProgressError):
        trailing[OPERATION] = error.operation_id
    if "retry-after" in headers:
        trailing["retry-after"] = headers["retry-after"]
    return Refused(code, str(first.get("detail") or f"HTTP status {status}"), trailing)


def invalid(message: str) -> Refused:
    """Return the refusal of a call that can never succeed as it stands."""
    return Refused(StatusCode.INVALID_ARGUMENT, message)
