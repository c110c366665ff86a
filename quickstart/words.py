"""Reads why a process ended out of its log."""

import json
import re
from pathlib import Path

TAIL_BYTES = 64 << 10
LONGEST = 300
NOTHING = "it left no message"

_FAILURE = re.compile(r"(?:jeroboam: |[Ee]rror: |[\w.]+(?:Error|Exception|Exit)\b)")
_LEVELS = frozenset({"error", "critical", "fatal"})


def last_words(log: Path) -> str:
    """Return the last line of a log that says why its process failed, else its last line."""
    lines = _tail(log)
    failures = [said for line in lines if (said := _failure(line))]
    words = failures[-1] if failures else _event(lines[-1]) if lines else NOTHING
    return words[:LONGEST]


def _failure(line: str) -> str:
    """Return what a line complains of; nothing if it does not complain."""
    entry = _entry(line)
    if entry is None:
        return line if _FAILURE.match(line) else ""
    return _event(line) if str(entry.get("level", "")).lower() in _LEVELS else ""


def _event(line: str) -> str:
    """Return the readable part of a structured line."""
    entry = _entry(line)
    if entry is None:
        return line
    event = str(entry.get("event") or entry.get("msg") or line)
    causes = str(entry.get("exception") or entry.get("error") or "").strip().splitlines()
    return f"{event}: {causes[-1]}" if causes else event


def _entry(line: str) -> dict[str, object] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _tail(log: Path) -> list[str]:
    try:
        with log.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except OSError:
        return []
    return [line.strip() for line in text.splitlines() if line.strip()]
