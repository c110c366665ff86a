"""What must hold of the times of a schedule."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from jeroboam.api.http.schemas.schedule import Times
from jeroboam.errors import InvalidRequestError
from jeroboam.models import OperationKind, new_uuid, utc_now
from jeroboam.models.calendar import check_zone, next_times
from jeroboam.models.schedule import Schedule, Selector
from jeroboam.settings import Settings

LOOKED_AT = 50
"""How many times are looked at to find the shortest pause between two."""


def check_times(settings: Settings, times: Times, *, paused: bool = False) -> None:
    """Refuse times that cannot be understood, never come, or come too often.

    Args:
        paused: Whether it is no matter that they are over.

    Raises:
        InvalidRequestError: With what would be right.
    """
    if (times.cron is None) == (times.calendar is None):
        raise InvalidRequestError(
            "Give either 'cron', for example '30 3 * * sat', or 'calendar', for example "
            '{"hour": "3", "minute": "30", "day_of_week": "sat"}.'
        )
    if times.start_at and times.end_at and times.end_at <= times.start_at:
        raise InvalidRequestError("'end_at' must be after 'start_at'.")
    check_zone(times.time_zone)
    draft = as_schedule(times)
    now = utc_now()
    start = max(now, times.start_at or now) - timedelta(seconds=1)
    coming = next_times(draft.calendars, draft.zone, start, LOOKED_AT)
    if not paused and (not coming or (times.end_at and coming[0] > times.end_at)):
        raise InvalidRequestError(
            "This schedule would never start anything: its times do not come"
            f"{_before(times.end_at)}. Correct 'cron', 'calendar' or 'end_at'."
        )
    shortest = min((later - one for one, later in pairwise(coming)), default=None)
    least = timedelta(seconds=settings.schedule_minimum_seconds)
    if shortest is not None and shortest < least:
        raise InvalidRequestError(
            f"Two times of this schedule are {shortest.total_seconds():.0f} seconds apart, and "
            f"{settings.schedule_minimum_seconds} are the least that the operator allows. A cron "
            "expression of seven fields begins with the second."
        )


def as_schedule(times: Times) -> Schedule:
    """Return a schedule that has these times and is good for nothing else."""
    return Schedule(
        name=new_uuid(),
        project_id="",
        user_id="",
        kind=OperationKind.CHECK_HEALTH,
        selector=Selector(),
        cron=times.cron,
        calendar=times.calendar.fields() if times.calendar else None,
        time_zone=times.time_zone,
        start_at=times.start_at,
        end_at=times.end_at,
    )


def _before(end: datetime | None) -> str:
    return f" before {end.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if end else ""
