"""Words and figures as people read them. Pure."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from jeroboam.cli.client.problems import UsageError

_SPAN = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DATES = "a date (2026-01-31, 2026-01-31T12:00+01:00)."
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MINUTE = 60
HOUR = 60 * MINUTE


def visible(text: str) -> str:
    """Return a text without anything that a terminal would obey.

    Names, reasons and hook messages come from other people.
    """
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def one_line(text: str) -> str:
    """Return a text on one line."""
    return visible(" ".join(text.split()))


def cell(value: Any) -> str:
    """Return a value of the API as it stands in a table."""
    if value is None:
        return ""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping) and all(map(_is_short, value.values())):
        return "\n".join(f"{visible(str(key))}={cell(one)}" for key, one in value.items())
    if isinstance(value, list) and all(map(_is_flat, value)):
        return ", ".join(cell(one) for one in value)
    if isinstance(value, list | Mapping):
        return visible(json.dumps(value, ensure_ascii=False))
    return str(value)


def duration(seconds: float | None) -> str:
    """Return a duration in whole seconds, which is what the API's times are good for."""
    if seconds is None:
        return ""
    whole = round(max(0.0, seconds))
    if whole >= HOUR:
        return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} min"
    if whole >= MINUTE:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    return f"{whole} s"


def moment(text: str | None) -> datetime | None:
    """Return a time of the API."""
    return datetime.fromisoformat(text) if text else None


def earlier(text: str, now: datetime) -> datetime:
    """Return the moment that somebody means: so long ago (``30m``, ``12h``, ``7d``), or a date.

    Raises:
        UsageError: It is neither.
    """
    ago = _SPAN.fullmatch(text)
    try:
        return now - _span(ago) if ago else _date(text)
    except (ValueError, OverflowError):
        raise UsageError(
            f"'{text}' is no time. Write how long ago (30m, 12h, 7d), {_DATES}"
        ) from None


def date_of(text: str) -> datetime:
    """Return the moment that a date means, in UTC unless it says otherwise.

    Raises:
        UsageError: It is none.
    """
    try:
        return _date(text)
    except ValueError:
        raise UsageError(f"'{text}' is no time. Write {_DATES}") from None


def seconds(text: str) -> int:
    """Return how many seconds a time like ``90s``, ``15m``, ``4h`` or ``7d`` has.

    Raises:
        UsageError: It is not like that.
    """
    span = _SPAN.fullmatch(text)
    if span is None:
        raise UsageError(f"'{text}' is no length of time. Write a number with s, m, h or d: 15m.")
    return round(_span(span).total_seconds())


def minutes(text: str) -> int:
    """Return how many minutes a time like ``15m``, ``4h`` or ``7d`` has.

    Raises:
        UsageError: It is not like that, or no whole number of minutes.
    """
    whole, rest = divmod(seconds(text), MINUTE)
    if rest:
        raise UsageError(f"'{text}' is no whole number of minutes.")
    return whole


def _span(found: re.Match[str]) -> timedelta:
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _date(text: str) -> datetime:
    when = datetime.fromisoformat(text)
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _is_flat(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _is_short(value: Any) -> bool:
    return _is_flat(value) or (isinstance(value, list) and all(map(_is_flat, value)))
