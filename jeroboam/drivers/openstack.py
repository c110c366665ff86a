"""One seam between the OpenStack clients' exceptions and Jeroboam's errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import heatclient.exc
import openstack.exceptions
from keystoneauth1 import exceptions as keystone

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    ConflictError,
    CredentialRejectedError,
    InvalidRequestError,
    JeroboamError,
    NotAuthorizedError,
    NotFoundError,
    QuotaExceededError,
    RateLimitedError,
)

MAX_REASON = 1000
DEFAULT_RETRY_AFTER = 10.0

_SECRETS = (
    (re.compile(r"-----BEGIN [A-Z ]*KEY-----.*?(-----END [A-Z ]*KEY-----|\Z)", re.DOTALL), "***"),
    (re.compile(r"gAAAA[\w=-]{20,}"), "***"),
    (re.compile(r"(?i)(x-(?:auth|subject)-token['\"]?\s*[:=]\s*['\"]?)[^\s'\",}]+"), r"\1***"),
    (
        re.compile(
            r"(?i)(['\"]?(?:password|secret|token|adminpass)['\"]?\s*[:=]\s*u?['\"])[^'\"]+"
        ),
        r"\1***",
    ),
    (re.compile(r"(://[^\s/:@]*:)[^\s/@]+@"), r"\1***@"),
    (re.compile(r"\b[a-z0-9]{6}\.[a-z0-9]{16}\b"), "***"),
)
_QUOTA = re.compile(
    r"quota[^.]{0,60}exceeded|exceeded[^.]{0,60}quota|over ?quota|quotaexceeded"
    r"|maximum (?:number of )?(?:stacks|resources) per|requestlimitexceeded",
    re.IGNORECASE,
)
_UNREACHABLE = (
    keystone.ConnectFailure,
    keystone.ConnectionError,
    keystone.DiscoveryFailure,
    heatclient.exc.CommunicationError,
    openstack.exceptions.ResourceTimeout,
)
_NO_ENDPOINT = (
    keystone.CatalogException,
    heatclient.exc.EndpointNotFound,
    heatclient.exc.InvalidEndpoint,
)
_REJECTED = (
    keystone.AuthorizationFailure,
    keystone.MissingAuthPlugin,
    keystone.AuthPluginException,
)
_ANSWERED = (
    keystone.HttpError,
    openstack.exceptions.HttpException,
    heatclient.exc.HTTPException,
)
_STATUS: dict[int, type[JeroboamError]] = {
    400: InvalidRequestError,
    403: NotAuthorizedError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidRequestError,
}
_TIMED_OUT = 408
_REJECTED_STATUS = 401
_TOO_MANY = 429
_SERVER_ERROR = 500


def redact(text: str) -> str:
    """Return ``text`` without tokens, passwords and keys."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def is_quota_fault(text: str) -> bool:
    """Whether a service's reason says that a quota or limit is used up."""
    return _QUOTA.search(text) is not None


@contextmanager
def translate_cloud_errors(service: str) -> Iterator[None]:
    """Turn what the OpenStack clients raise inside the block into Jeroboam's errors.

    The service's own reason is kept, its secrets are not; neither is the original exception,
    whose request and response could hold a token.

    Args:
        service: Name for the user, for example ``"Heat"``.
    """
    try:
        yield
    except JeroboamError:
        raise
    except (
        keystone.ClientException,
        openstack.exceptions.SDKException,
        heatclient.exc.BaseException,
        heatclient.exc.EndpointNotFound,
    ) as error:
        translated = cloud_error(service, error)
    else:
        return
    raise translated from None


def cloud_error(service: str, error: Exception) -> JeroboamError:
    """Return the error of Jeroboam that says the same as a client's exception."""
    reason = redact(_reason(error))[:MAX_REASON]
    if isinstance(error, _ANSWERED):
        return _answer(service, error, reason)
    if isinstance(error, _NO_ENDPOINT):
        return ConfigurationError(
            f"The cloud has no usable endpoint of {service}: {reason} "
            "Check the catalogue, the region and the interface."
        )
    if isinstance(error, _REJECTED):
        return CredentialRejectedError(f"{service} did not accept the credentials: {reason}")
    if isinstance(error, _UNREACHABLE):
        return CloudUnavailableError(f"{service} does not answer: {reason}")
    return CloudUnavailableError(f"{service} could not be asked: {reason}")


def _answer(service: str, error: Exception, reason: str) -> JeroboamError:
    """Map an HTTP answer; a quota's reason counts for more than its status."""
    status = _status(error)
    if is_quota_fault(reason):
        return QuotaExceededError(f"{service}: {reason}")
    if status == _TOO_MANY:
        return RateLimitedError(f"{service} asks to slow down: {reason}", _retry_after(error))
    if status == _REJECTED_STATUS or _is_lost_trust(error, status):
        return CredentialRejectedError(f"{service} did not accept the credentials: {reason}")
    if status >= _SERVER_ERROR or status == _TIMED_OUT:
        return CloudUnavailableError(f"{service} failed with HTTP {status}: {reason}")
    return _STATUS.get(status, InvalidRequestError)(f"{service}: {reason}")


def _is_lost_trust(error: Exception, status: int) -> bool:
    """Whether Keystone answered 403 or 404 to the log-in itself, as for a trust that is gone."""
    url = str(getattr(error, "url", None) or "")
    return status in {403, 404} and url.endswith("/auth/tokens")


def _status(error: Exception) -> int:
    """Return the HTTP status; 500 when the client kept none."""
    for name in ("http_status", "status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int):
            return value
    return _SERVER_ERROR


def _reason(error: Exception) -> str:
    """Return the service's own words, the best that the client kept of them."""
    if isinstance(error, heatclient.exc.HTTPException):
        fault: Any = error.error.get("error")
        text = fault.get("message") if isinstance(fault, dict) else fault
        return " ".join(str(text or error.__doc__).split())
    details = getattr(error, "details", None)
    text = details if isinstance(details, str) and details else str(error)
    return " ".join(text.split()) or type(error).__name__


def _retry_after(error: Exception) -> float:
    """Return the pause that the service asked for, in seconds."""
    value = getattr(error, "retry_after", None)
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return float(value or headers.get("Retry-After") or DEFAULT_RETRY_AFTER)
    except (TypeError, ValueError):
        return DEFAULT_RETRY_AFTER
