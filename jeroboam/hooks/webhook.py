"""Webhooks: signed HTTP requests to a target that the operator allows."""

from collections.abc import Mapping
from typing import Any

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    JeroboamError,
    RateLimitedError,
)
from jeroboam.hooks import answers, payload, signing
from jeroboam.hooks.base import Hook, HookEvent, HookResult, Outbound, Reply
from jeroboam.hooks.targets import parse
from jeroboam.models import HookPhase, OperationKind
from jeroboam.models.hook import HookDeclaration

ATTEMPT_SECONDS = 60
"""The longest that one request may take; the declaration's time-out holds for all of them."""

LONGEST_PAUSE_SECONDS = 60.0
DEFAULT_PAUSE_SECONDS = 10.0

_GOOD = range(200, 300)
_ACCEPTED = 202
_FORBIDDEN = 403
_TIMED_OUT = 408
_TOO_MANY = 429
_UNAVAILABLE = 503
_SERVER_ERROR = 500


class WebhookHook(Hook):
    """Posts events to a URL.

    Args:
        declaration: With the URL.
    """

    phases = tuple(HookPhase)
    operations = tuple(OperationKind)

    def __init__(self, declaration: HookDeclaration) -> None:
        self.name = declaration.name  # type: ignore[misc]  # one class serves all webhooks
        self._url = declaration.url or ""
        self._seconds = min(declaration.timeout_seconds or ATTEMPT_SECONDS, ATTEMPT_SECONDS)

    def run(self, event: HookEvent) -> HookResult:
        """Send the event and read the answer."""
        if event.outbound is None or not event.secret:
            raise ConfigurationError(
                f"Webhook '{self.name}' has no signing secret, or this process has no way out."
            )
        body = payload.encode(self.name, event)
        headers = signing.signed_headers(event.secret, event.idempotency_key, body)
        reply = event.outbound.post(self._url, body, headers, self._seconds)
        if reply.status == _ACCEPTED:
            # When the operation has failed already, there is nothing to wait for.
            return HookResult(later=event.phase is not HookPhase.FAILURE)
        if reply.status in _GOOD:
            return answers.read(reply.body, self._who).result(self.name, event.hidden)
        if reply.status == _FORBIDDEN:
            return self._refused(reply).result(self.name, event.hidden)
        raise self._failure(reply)

    def check(self, options: Mapping[str, Any], secret: str | None, outbound: Outbound) -> None:
        """Check the target and the secret."""
        outbound.check(self._url)
        signing.check_secret(secret)

    @property
    def _who(self) -> str:
        return f"Webhook '{self.name}' at {parse(self._url).shown}"

    def _refused(self, reply: Reply) -> answers.Answer:
        try:
            given = answers.read(reply.body, self._who)
        except DriverContractError:
            # A proxy on the way refuses in its own format.
            given = answers.Answer()
        return answers.Answer(allow=False, reason=given.reason)

    def _failure(self, reply: Reply) -> JeroboamError:
        status = reply.status
        if status in {_TOO_MANY, _UNAVAILABLE}:
            return RateLimitedError(f"{self._who} asks to wait (HTTP {status}).", _pause(reply))
        if status >= _SERVER_ERROR or status == _TIMED_OUT:
            return CloudUnavailableError(f"{self._who} fails (HTTP {status}).")
        return DriverContractError(
            f"{self._who} answers HTTP {status}. It must answer 200, 202 or 403; redirects are "
            "not followed."
        )


def _pause(reply: Reply) -> float:
    asked = reply.headers.get("retry-after", "")
    if asked.isascii() and asked.isdecimal():
        return min(float(asked), LONGEST_PAUSE_SECONDS)
    return DEFAULT_PAUSE_SECONDS
