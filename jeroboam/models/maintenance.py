"""Maintenance windows: when scheduled operations may start on a cluster. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from pydantic import Field

from jeroboam.errors import InvalidRequestError
from jeroboam.models.base import Model, utc_now
from jeroboam.models.calendar import Calendar, check_zone, next_time, parse_calendar, parse_cron

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SHORTEST_MINUTES = 10
LONGEST_MINUTES = 7 * 24 * 60


class MaintenanceWindow(Model):
    """Times at which a cluster may be worked on; each lasts ``duration_minutes`` of real time.

    Args:
        days: Days on which it opens, ``mon`` to ``sun``; empty means every day.
        start: Time of day at which it opens, ``HH:MM``.
        cron: The openings as a cron expression, instead of ``days`` and ``start``.
        time_zone: IANA name; days and times are those of its clocks.
    """

    days: tuple[str, ...] = ()
    start: str | None = None
    cron: str | None = None
    duration_minutes: int
    time_zone: str = "UTC"
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None

    @property
    def words(self) -> str:
        """The window as people read it."""
        when = f"cron '{self.cron}'" if self.cron else f"{self._days_in_words} at {self.start}"
        return f"{when} {self.time_zone} for {self.duration_minutes} minutes"

    def is_open(self, at: datetime) -> bool:
        """Whether work may start at a moment."""
        # In UTC: Python adds minutes to a local time by the wall clock, which may jump.
        moment = at.astimezone(UTC)
        opened = self.next_opening(moment - timedelta(minutes=self.duration_minutes))
        return opened is not None and opened <= moment

    def next_opening(self, after: datetime) -> datetime | None:
        """Return when it opens next after a moment, in UTC; ``None`` if it never does again."""
        return next_time(self._openings, self._zone, after)

    @property
    def _openings(self) -> Sequence[Calendar]:
        if self.cron:
            return parse_cron(self.cron)
        hour, minute = _clock(self.start or "")
        days = ",".join(self.days) or "*"
        return (parse_calendar({"hour": hour, "minute": minute, "day_of_week": days}),)

    @property
    def _zone(self) -> ZoneInfo:
        return check_zone(self.time_zone)

    @property
    def _days_in_words(self) -> str:
        return ", ".join(self.days) or "every day"


def check_window(window: MaintenanceWindow, now: datetime) -> None:
    """Refuse a window that cannot be meant.

    Raises:
        InvalidRequestError: With what would be right.
    """
    if (window.cron is None) == (window.start is None):
        raise InvalidRequestError(
            "Give either 'start' (for example 22:30, with 'days' if not every day), or 'cron'."
        )
    if window.cron is not None and window.days:
        raise InvalidRequestError("With 'cron', the days are part of it; leave 'days' out.")
    wrong = [day for day in window.days if day not in DAYS]
    if wrong:
        raise InvalidRequestError(f"'{wrong[0]}' is no day. Use: {', '.join(DAYS)}.")
    if not SHORTEST_MINUTES <= window.duration_minutes <= LONGEST_MINUTES:
        raise InvalidRequestError(
            f"'duration_minutes' must be between {SHORTEST_MINUTES} and {LONGEST_MINUTES}."
        )
    check_zone(window.time_zone)
    if window.next_opening(now) is None:
        raise InvalidRequestError("This window would never open. Correct the days of its 'cron'.")


def _clock(text: str) -> tuple[str, str]:
    hour, colon, minute = text.partition(":")
    digits = f"{hour}{minute}"
    if not (colon and digits.isascii() and digits.isdigit() and len(minute) == len("00")):
        raise InvalidRequestError(f"'{text}' is no time of day. Write it as HH:MM, like 22:30.")
    return hour, minute
