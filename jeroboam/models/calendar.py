"""Times of the wall clock: cron and calendar expressions, and when they come next. Pure.

A cron expression is read as crond reads it. Where clocks change, times are taken as RFC 5545 does:
one that is left out comes as long after midnight as it would have on other days, one that there
is twice comes once, the first time.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from jeroboam.errors import InvalidRequestError
from jeroboam.models.base import Model

LONGEST_SEARCH = timedelta(days=29 * 366)
"""Within 28 years every date has fallen on every day of the week."""

_DISORDER = timedelta(hours=3)
"""More than any clock is changed by: so far apart, local times are in the order of real ones."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_SHORTHANDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}


@dataclass(frozen=True)
class _Field:
    name: str
    low: int
    high: int
    default: str
    names: Mapping[str, int]

    @property
    def bounds(self) -> str:
        named = f", or {next(iter(self.names))} to {list(self.names)[-1]}" if self.names else ""
        return f"{self.low} to {self.high}{named}"


_FIELDS = {
    field.name: field
    for field in (
        _Field("second", 0, 59, "0", {}),
        _Field("minute", 0, 59, "0", {}),
        _Field("hour", 0, 23, "0", {}),
        _Field("day_of_month", 1, 31, "*", {}),
        _Field("month", 1, 12, "*", {name: n for n, name in enumerate(_MONTHS, start=1)}),
        _Field("day_of_week", 0, 7, "*", {name: n for n, name in enumerate(_DAYS)}),
        _Field("year", 2000, 2100, "*", {}),
    )
}
_CRON_FIELDS = {
    5: ("minute", "hour", "day_of_month", "month", "day_of_week"),
    6: ("minute", "hour", "day_of_month", "month", "day_of_week", "year"),
    7: ("second", "minute", "hour", "day_of_month", "month", "day_of_week", "year"),
}
_CRON_HINT = (
    "Write five fields: minute, hour, day of month, month, day of week; for example '30 3 * * sat' "
    "for 03:30 on Saturdays. A sixth field is the year; with seven, the first is the second."
)


class Calendar(Model):
    """A set of times of the wall clock: those of which every field is among these.

    Args:
        day_of_week: 0 is Sunday.
    """

    second: tuple[int, ...]
    minute: tuple[int, ...]
    hour: tuple[int, ...]
    day_of_month: tuple[int, ...]
    month: tuple[int, ...]
    day_of_week: tuple[int, ...]
    year: tuple[int, ...]

    def has_day(self, day: date) -> bool:
        """Whether times of this day are among them."""
        return (
            day.month in self.month
            and day.day in self.day_of_month
            and day.isoweekday() % 7 in self.day_of_week
            and day.year in self.year
        )

    def local_times(self, start: datetime) -> Iterator[datetime]:
        """Yield the times from a naive local one on, in order, as far as the search goes."""
        day = start.date()
        last = day + LONGEST_SEARCH
        while day <= last:
            if self.has_day(day):
                first = start.time() if day == start.date() else time.min
                yield from (datetime.combine(day, at) for at in self._clock(first))
            day += timedelta(days=1)

    def _clock(self, first: time) -> Iterator[time]:
        for hour in self.hour:
            if hour < first.hour:
                continue
            for minute in self.minute:
                for second in self.second:
                    at = time(hour, minute, second)
                    if at >= first:
                        yield at


def parse_cron(text: str) -> tuple[Calendar, ...]:
    """Return the times of a cron expression.

    As with crond, a day need only fit one of day of month and day of week if both are given.

    Raises:
        InvalidRequestError: With the field and what would be right.
    """
    texts = _SHORTHANDS.get(text.strip().lower(), text).split()
    names = _CRON_FIELDS.get(len(texts))
    if names is None:
        raise InvalidRequestError(
            f"The cron expression '{text}' has {len(texts)} fields. {_CRON_HINT}"
        )
    fields = dict(zip(names, texts, strict=True))
    if fields["day_of_month"].startswith("*") or fields["day_of_week"].startswith("*"):
        return (parse_calendar(fields),)
    return (
        parse_calendar(fields | {"day_of_week": "*"}),
        parse_calendar(fields | {"day_of_month": "*"}),
    )


def parse_calendar(fields: Mapping[str, str]) -> Calendar:
    """Return the times that fit every field; those left out have cron's usual meaning.

    Raises:
        InvalidRequestError: With the field and what would be right.
    """
    unknown = fields.keys() - _FIELDS.keys()
    if unknown:
        raise InvalidRequestError(
            f"A calendar has no field '{min(unknown)}'. It has: {', '.join(_FIELDS)}."
        )
    values = {
        name: _parse_field(field, fields.get(name, field.default))
        for name, field in _FIELDS.items()
    }
    return Calendar(**values)


def check_zone(name: str) -> ZoneInfo:
    """Return a time zone.

    Raises:
        InvalidRequestError: There is none of this name.
    """
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise InvalidRequestError(
            f"There is no time zone '{name}'. Use a name of the IANA list, for example "
            "Europe/Berlin, America/New_York or UTC."
        ) from None


def next_time(calendars: Sequence[Calendar], zone: ZoneInfo, after: datetime) -> datetime | None:
    """Return the first of the calendars' times after ``after``, in UTC; ``None`` if none comes."""
    moment = after.astimezone(UTC)
    found = (_next_of(calendar, zone, moment) for calendar in calendars)
    return min((at for at in found if at is not None), default=None)


def next_times(
    calendars: Sequence[Calendar], zone: ZoneInfo, after: datetime, count: int
) -> list[datetime]:
    """Return the next times, at most ``count``."""
    times: list[datetime] = []
    at: datetime | None = after
    while len(times) < count:
        at = next_time(calendars, zone, at) if at else None
        if at is None:
            break
        times.append(at)
    return times


def _next_of(calendar: Calendar, zone: ZoneInfo, after: datetime) -> datetime | None:
    earliest = after.astimezone(zone).replace(tzinfo=None, fold=0) - _DISORDER
    best: datetime | None = None
    enough: datetime | None = None
    for local in calendar.local_times(earliest):
        if enough is not None and local > enough:
            break
        at = local.replace(tzinfo=zone).astimezone(UTC)
        if at > after and (best is None or at < best):
            best, enough = at, local + _DISORDER
    return best


def _parse_field(field: _Field, text: str) -> tuple[int, ...]:
    values: set[int] = set()
    for part in text.split(","):
        values |= _parse_part(field, part.strip())
    if field.name == "day_of_week":
        values = {value % 7 for value in values}
    return tuple(sorted(values))


def _parse_part(field: _Field, text: str) -> set[int]:
    span, slash, step_text = text.partition("/")
    step = _number(field, text, step_text) if slash else 1
    if step < 1:
        raise _wrong(field, text)
    first_text, dash, last_text = span.partition("-")
    if span == "*":
        first, last = field.low, field.high
    else:
        first = _value(field, text, first_text)
        last = _value(field, text, last_text) if dash else (field.high if slash else first)
    if field.name == "day_of_week" and last == 0 < first:
        last = 7
    if last < first:
        raise InvalidRequestError(
            f"'{text}' for the {field.name} goes backwards. "
            f"Write {first}-{field.high},{field.low}-{last}."
        )
    return set(range(first, last + 1, step))


def _value(field: _Field, part: str, text: str) -> int:
    named = field.names.get(text.lower()[:3]) if text.isalpha() else None
    value = _number(field, part, text) if named is None else named
    if not field.low <= value <= field.high:
        raise _wrong(field, part)
    return value


def _number(field: _Field, part: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < len("10000")):
        raise _wrong(field, part)
    return int(text)


def _wrong(field: _Field, text: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"'{text}' is not right for the {field.name}. It can be * or numbers from {field.bounds}, "
        "ranges like 1-5, steps like */2, and lists of them with commas."
    )
