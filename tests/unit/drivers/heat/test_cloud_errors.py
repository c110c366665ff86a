"""The clients' exceptions become Jeroboam's errors, and no secret comes along."""

import json

import heatclient.exc
import openstack.exceptions
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from keystoneauth1 import exceptions as keystone

from jeroboam.drivers.openstack import redact, translate_cloud_errors
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

TOKEN = "gAAAAABm" + "x" * 120


def heat_error(status: int, message: str) -> heatclient.exc.HTTPException:
    body = json.dumps({"error": {"message": message, "type": "X", "traceback": TOKEN}})
    kind = heatclient.exc._code_map.get(status, heatclient.exc.HTTPException)
    error: heatclient.exc.HTTPException = kind(body, status)
    return error


def keystone_error(kind: type[keystone.HttpError], url: str = "") -> keystone.HttpError:
    return kind(message="some reason", url=url)


def sdk_error(status: int, message: str) -> openstack.exceptions.HttpException:
    response = requests.Response()
    response.status_code = status
    return openstack.exceptions.HttpException(message, response=response)


CASES = [
    (heat_error(400, "Unknown Property x"), InvalidRequestError),
    (heat_error(401, "no"), CredentialRejectedError),
    (heat_error(403, "not allowed"), NotAuthorizedError),
    (heat_error(404, "The Stack (x) could not be found."), NotFoundError),
    (heat_error(409, "The Stack (x) already exists."), ConflictError),
    (heat_error(429, "slow"), RateLimitedError),
    (heat_error(500, "oops"), CloudUnavailableError),
    (heat_error(503, "busy"), CloudUnavailableError),
    (
        heat_error(400, "RequestLimitExceeded: You have reached the maximum stacks per tenant"),
        QuotaExceededError,
    ),
    (heatclient.exc.CommunicationError("refused"), CloudUnavailableError),
    (keystone.ConnectFailure("refused"), CloudUnavailableError),
    (keystone.ConnectTimeout("late"), CloudUnavailableError),
    (keystone.EndpointNotFound("none"), ConfigurationError),
    (keystone.MissingAuthPlugin("none"), CredentialRejectedError),
    (keystone_error(keystone.Unauthorized), CredentialRejectedError),
    (keystone_error(keystone.NotFound), NotFoundError),
    (keystone_error(keystone.NotFound, "http://k/v3/auth/tokens"), CredentialRejectedError),
    (keystone_error(keystone.Forbidden), NotAuthorizedError),
    (keystone_error(keystone.BadGateway), CloudUnavailableError),
    (
        sdk_error(
            403, "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances"
        ),
        QuotaExceededError,
    ),
    (sdk_error(404, "x"), NotFoundError),
    (
        sdk_error(409, "Quota exceeded for resources: ['port']."),
        QuotaExceededError,
    ),
    (openstack.exceptions.ResourceTimeout("late"), CloudUnavailableError),
]


@pytest.mark.parametrize(
    ("error", "expected"), CASES, ids=lambda case: getattr(case, "__name__", type(case).__name__)
)
def test_mapping(error: Exception, expected: type[JeroboamError]) -> None:
    """Each kind of failure has one class of ours, which names the service."""
    with pytest.raises(JeroboamError) as caught, translate_cloud_errors("Heat"):
        raise error
    assert type(caught.value) is expected
    assert "Heat" in caught.value.message
    assert caught.value.__cause__ is None


def test_reason_is_kept() -> None:
    """The service's own words reach the user."""
    refused = pytest.raises(InvalidRequestError, match="Unknown Property x")
    with refused, translate_cloud_errors("Heat"):
        raise heat_error(400, "Unknown Property x")


def test_pause_is_kept() -> None:
    """The pause that a service asks for is handed on."""
    error = keystone.HttpError(message="slow", http_status=429, retry_after=42)
    with pytest.raises(RateLimitedError) as caught, translate_cloud_errors("Nova"):
        raise error
    assert caught.value.retry_after_seconds == 42


def test_own_errors_pass() -> None:
    """An error of ours inside the block stays what it is."""
    with pytest.raises(NotFoundError, match="as it was"), translate_cloud_errors("Heat"):
        raise NotFoundError("as it was")


def test_defects_pass() -> None:
    """A defect is not dressed up as a failure of the cloud."""
    with pytest.raises(ZeroDivisionError), translate_cloud_errors("Heat"):
        _ = 1 / 0


@pytest.mark.parametrize(
    "text",
    [
        f"X-Auth-Token: {TOKEN}",
        "X-Auth-Token: 0123456789abcdef0123456789abcdef",
        f'{{"X-Subject-Token": "{TOKEN}"}}',
        "{'password': 'hunter2secret'}",
        'adminPass="hunter2secret"',
        "http://user:hunter2secret@host/",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter2secret\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nhunter2secret",
        "join with abcdef.0123456789abcdef please",
    ],
)
def test_redaction(text: str) -> None:
    """Tokens, passwords and keys are replaced."""
    clean = redact(text)
    for secret in (TOKEN, "hunter2secret", "0123456789abcdef"):
        assert secret not in clean
    assert "***" in clean


@given(st.text(max_size=200), st.text("abcdefABCDEF0123456789_-", min_size=40, max_size=200))
def test_no_token_survives(before: str, token: str) -> None:
    """Whatever stands around it, a Fernet token does not get through."""
    secret = f"gAAAA{token}"
    with pytest.raises(JeroboamError) as caught, translate_cloud_errors("Heat"):
        raise heat_error(400, f"{before} {secret}")
    assert secret not in caught.value.message
