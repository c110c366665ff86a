"""Operation records as the API sends them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from jeroboam.cli.client.progress import Operation

START = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """Return the moment so long after the operation's acceptance."""
    return START + timedelta(seconds=seconds)


def step(
    name: str,
    state: str = "PENDING",
    *,
    started: float | None = None,
    ended: float | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a step; times in seconds from the operation's acceptance."""
    return {
        "name": name,
        "action": "submit",
        "hook": None,
        "state": state,
        "attempts": int(started is not None),
        "message": None,
        "error": None,
        "result": None,
        "undoes": False,
        "started_at": None if started is None else at(started).isoformat(),
        "ended_at": None if ended is None else at(ended).isoformat(),
        **fields,
    }


def record(state: str = "RUNNING", *steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return an operation."""
    return {
        "uuid": "5d9f0f2c-0000-4000-8000-000000000001",
        "kind": "soft_reboot",
        "state": state,
        "cluster_name": "demo",
        "reason": None,
        "created_at": START.isoformat(),
        "started_at": None,
        "ended_at": None,
        "steps": list(steps),
        **fields,
    }


def look(seconds: float, state: str = "RUNNING", *steps: Any, **fields: Any) -> Operation:
    """Return what somebody sees who looks at that moment."""
    return Operation.of(record(state, *steps, **fields), at(seconds))
