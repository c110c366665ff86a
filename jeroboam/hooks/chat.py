"""Tells a chat room what happens to clusters, by the room's incoming webhook."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    DriverContractError,
    InvalidRequestError,
)
from jeroboam.hooks.base import Hook, HookEvent, HookResult, Outbound
from jeroboam.hooks.options import parsed
from jeroboam.models import FailurePolicy, HookPhase, Model, OperationKind

ATTEMPT_SECONDS = 20
LONGEST_TEXT = 2000

_GOOD = range(200, 300)
_MAY_PASS = frozenset({408, 425, 429, *range(500, 600)})


class Options(Model):
    """The options of its declaration.

    Args:
        field: The field of the JSON body that has the text; ``text`` suits Slack, Mattermost,
            Rocket.Chat, Google Chat and Teams, ``content`` suits Discord.
    """

    field: Literal["text", "content"] = "text"


class ChatHook(Hook):
    """Posts one line when an operation has ended, well or badly.

    The room's URL is the secret of the declaration, for whoever knows it can post. A chat knows no
    idempotency key, so after a crash a line may come twice.
    """

    name = "chat"
    phases = (HookPhase.AFTER, HookPhase.FAILURE)
    operations = tuple(OperationKind)
    timeout_seconds = 60
    on_failure = FailurePolicy.IGNORE
    automatic = False

    def run(self, event: HookEvent) -> HookResult:
        """Post the line."""
        if event.outbound is None or not event.secret:
            raise ConfigurationError("The hook chat needs the room's URL as its 'secret'.")
        body = json.dumps(message(_options(event.options), event)).encode()
        headers = {"Content-Type": "application/json", "webhook-id": event.idempotency_key}
        reply = event.outbound.post(event.secret, body, headers, ATTEMPT_SECONDS)
        if reply.status in _MAY_PASS:
            raise CloudUnavailableError(f"The chat does not take messages (HTTP {reply.status}).")
        if reply.status not in _GOOD:
            raise DriverContractError(f"The chat refuses the message (HTTP {reply.status}).")
        return HookResult(message="The chat was told.")

    def check(self, options: Mapping[str, Any], secret: str | None, outbound: Outbound) -> None:
        """Check the options and the room's URL."""
        _options(options)
        if not secret:
            raise InvalidRequestError("The hook chat needs the room's URL as its 'secret'.")
        outbound.check(secret)


def message(options: Options, event: HookEvent) -> dict[str, str]:
    """Return the body: one line, without what a chat would take for a link or a mention."""
    line = _line(event).replace("@", "@\u200b")
    if options.field == "text":
        for sign, harmless in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
            line = line.replace(sign, harmless)
    shown = line if len(line) <= LONGEST_TEXT else f"{line[: LONGEST_TEXT - 2]} …"
    return {options.field: shown}


def _line(event: HookEvent) -> str:
    cluster = event.spec.cluster
    what = f"{event.operation.words} of cluster {cluster.name} (project {cluster.project_id})"
    if event.phase is HookPhase.FAILURE:
        line = f"Failed: {what}: {event.failure or 'no reason given'}"
    elif cluster.api_address and not event.operation.deletes:
        line = f"Done: {what}, API {cluster.api_address}"
    else:
        line = f"Done: {what}"
    return " ".join(line.split())


def _options(given: Mapping[str, Any]) -> Options:
    return parsed(Options, given, "chat")
