"""Reads why a service failed out of what it left behind."""

import re
from pathlib import Path

from devcloud.layout import Layout

TAIL_BYTES = 64 << 10
LONGEST = 300

_OSLO = re.compile(r"^\S+ \S+ \d+ (?P<level>[A-Z]+) \S+ (?:\[.*?\] )?(?P<text>.*)$")
_EXCEPTION = re.compile(
    r"^(?:[\w.]*\.)?[A-Z]\w*(?:Error|Exception|Failure|Exit|Refused|NotFound)\b"
)


def last_words(layout: Layout, service: str, since: dict[Path, int] | None = None) -> str:
    """Return the last line that says why a service failed, and where to read more.

    Args:
        layout: Which devcloud.
        service: Which service.
        since: Sizes of the files before the service was started; older lines do not count.
    """
    best, place = "it left no message", files(layout, service)[0]
    for path in files(layout, service):
        lines = _tail(path, (since or {}).get(path, 0))
        said = [line for line in lines if _is_failure(line)] or lines[-1:]
        if said:
            best, place = said[-1], path
            if _is_failure(best):
                break
    match = _OSLO.match(best)
    text = match["text"] if match else best
    return f"{text.strip()[:LONGEST]} (see {place})"


def files(layout: Layout, service: str) -> tuple[Path, Path]:
    """Return what a service writes to, the more telling file first."""
    return layout.logs / f"{service}.out", layout.logs / f"{service}.log"


def sizes(layout: Layout, service: str) -> dict[Path, int]:
    """Return how long the files of a service are at this moment."""
    return {f: f.stat().st_size if f.exists() else 0 for f in files(layout, service)}


def _tail(path: Path, start: int) -> list[str]:
    try:
        with path.open("rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(start, stream.tell() - TAIL_BYTES))
            text = stream.read().decode(errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()]


def _is_failure(line: str) -> bool:
    match = _OSLO.match(line)
    if match:
        return match["level"] in ("ERROR", "CRITICAL") and bool(match["text"].strip())
    # A program that ends with a mere number has said why before.
    return bool(_EXCEPTION.match(line)) and not re.fullmatch(r"SystemExit: \d+", line)
