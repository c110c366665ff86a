"""What is noted at a server in Nova, so that no call does anything to it twice. Pure.

The note is in the server's metadata, where it dies with the server. Nova keeps a log of all
actions of a server; the note says how long the log was before the call, so whoever reads both
knows whether the call has arrived.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

CALL = "jeroboam_call"
SIGNAL = "jeroboam_signal"

REBOOT, REBUILD = "reboot", "rebuild"
_ERROR = "error"
_DIGEST = 24

LET_GO = timedelta(minutes=1)
"""Nova ends an action in its log within moments after it has let go of the server."""


@dataclass(frozen=True)
class Note:
    """The note of the last call.

    Args:
        call: Digest of the idempotency key.
        before: How many actions of the kind the log held before the call.
    """

    call: str
    before: int

    @classmethod
    def read(cls, metadata: Mapping[str, str]) -> "Note | None":
        """Read a server's metadata; what nobody of ours wrote is no note."""
        call, _, before = str(metadata.get(CALL, "")).partition(":")
        return cls(call, int(before)) if call and before.isdecimal() else None

    def written(self) -> dict[str, str]:
        """Return the note as metadata."""
        return {CALL: f"{self.call}:{self.before}"}


@dataclass(frozen=True)
class SignalNote:
    """What a node had reported to Heat before it was set up anew, and where."""

    stack: str
    resource: str
    seen: str

    @classmethod
    def read(cls, metadata: Mapping[str, str]) -> "SignalNote | None":
        """Read a server's metadata."""
        parts = str(metadata.get(SIGNAL, "")).split("/")
        return cls(*parts) if len(parts) == 3 else None  # noqa: PLR2004 - its three fields

    def written(self) -> dict[str, str]:
        """Return the note as metadata."""
        return {SIGNAL: f"{self.stack}/{self.resource}/{self.seen}"}


def digest(idempotency_key: str) -> str:
    """Return a call's key in a form that fits into metadata."""
    return sha256(idempotency_key.encode()).hexdigest()[:_DIGEST]


def seen(signals: Mapping[str, Any]) -> str:
    """Return a digest of what a handle was told; it changes with every report of a new boot."""
    return digest(repr(sorted((str(key), repr(value)) for key, value in signals.items())))


def of_kind(actions: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    """Return the actions of one kind, the oldest first."""
    found = [action for action in actions if action.get("action") == kind]
    return sorted(found, key=lambda action: str(action.get("start_time") or ""))


def failed(action: Mapping[str, Any]) -> bool:
    """Whether Nova's log says that an action failed."""
    if str(action.get("message") or "").lower() == _ERROR:
        return True
    events = action.get("events") or ()
    return any(str(event.get("result") or "").lower() == _ERROR for event in events)


def ended(action: Mapping[str, Any]) -> bool:
    """Whether all that belongs to an action has ended; without its events nobody can tell."""
    events = action.get("events")
    return events is None or all(event.get("finish_time") for event in events)


def broken_off(action: Mapping[str, Any], server: Any, now: datetime) -> bool:
    """Whether nobody will end an action any more: Nova has let go of the server without it.

    A compute service that was restarted in the middle of a reboot clears the server's task state
    and leaves the action open in the log.
    """
    if ended(action) or server.task_state or not server.updated_at:
        return False
    changed = datetime.fromisoformat(server.updated_at)
    # Nova says it in UTC, with or without saying so.
    return now - (changed if changed.tzinfo else changed.replace(tzinfo=UTC)) > LET_GO


def arrived(
    note: Note | None, idempotency_key: str, actions: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """Return the action that a call began, ``None`` if it never reached Nova.

    Args:
        actions: Those of the call's kind.
    """
    if note is None or note.call != digest(idempotency_key) or len(actions) <= note.before:
        return None
    return actions[-1]
