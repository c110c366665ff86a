"""When maintenance windows are open."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.errors import InvalidRequestError
from jeroboam.models.maintenance import DAYS, MaintenanceWindow, check_window
from tests.unit.models.test_calendar import ZONES, moments

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")

windows = st.builds(
    MaintenanceWindow,
    days=st.lists(st.sampled_from(DAYS), unique=True).map(tuple),
    start=st.times().map(lambda at: f"{at:%H:%M}"),
    duration_minutes=st.integers(10, 3 * 24 * 60),
    time_zone=st.sampled_from(ZONES),
)


def a_window(**changes: Any) -> MaintenanceWindow:
    values = {"start": "22:00", "duration_minutes": 240, "time_zone": "Europe/Berlin"}
    return MaintenanceWindow(**values | changes)


def at(text: str, fold: int = 0) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold)


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2026-11-21 21:59:59", False),
        ("2026-11-21 22:00", True),
        ("2026-11-22 01:59:59", True),
        ("2026-11-22 02:00", False),
        ("2026-11-22 22:30", False),
    ],
)
def test_open_across_midnight(moment: str, expected: bool) -> None:
    """A window of a day lasts into the next one, and its end is no longer in it."""
    assert a_window(days=("sat",)).is_open(at(moment)) is expected


def test_short_day() -> None:
    """A window that begins in the hour that is left out opens as long after midnight."""
    window = a_window(start="02:30", duration_minutes=60)
    opening = window.next_opening(at("2027-03-28 00:00"))
    assert opening == at("2027-03-28 03:30")
    assert not window.is_open(at("2027-03-28 03:00"))
    assert window.is_open(at("2027-03-28 04:29"))
    assert not window.is_open(at("2027-03-28 04:30"))


def test_long_day() -> None:
    """A window that begins in the hour that there is twice opens once, the first time."""
    window = a_window(start="02:30", duration_minutes=45)
    assert window.is_open(at("2027-10-31 02:30"))
    assert window.is_open(at("2027-10-31 02:59"))
    assert window.is_open(at("2027-10-31 02:10", fold=1))
    assert not window.is_open(at("2027-10-31 02:20", fold=1))
    assert not window.is_open(at("2027-10-31 02:30", fold=1))


def test_across_a_change() -> None:
    """A window lasts as long as it says by a stop watch, not by the wall clock."""
    window = a_window(start="01:00", duration_minutes=120)
    assert window.is_open(at("2027-03-28 03:59"))
    assert not window.is_open(at("2027-03-28 04:00"))
    assert window.is_open(at("2027-10-31 02:59"))
    assert not window.is_open(at("2027-10-31 02:00", fold=1))


def test_cron() -> None:
    """The openings may be a cron expression."""
    window = a_window(start=None, cron="0 1 1 * *", duration_minutes=60)
    assert window.next_opening(NOW) == at("2026-12-01 01:00")
    assert window.words == "cron '0 1 1 * *' Europe/Berlin for 60 minutes"


def test_never_again() -> None:
    """A window whose openings are over has no next one, and is not open."""
    window = a_window(start=None, cron="0 1 1 1 * 2020")
    assert window.next_opening(NOW) is None
    assert not window.is_open(NOW)


def test_words() -> None:
    """People can read when a window is."""
    assert a_window().words == "every day at 22:00 Europe/Berlin for 240 minutes"
    assert a_window(days=("sat", "sun")).words.startswith("sat, sun at 22:00")


@given(windows, moments)
def test_open_from_its_opening_for_its_duration(
    window: MaintenanceWindow, moment: datetime
) -> None:
    """At its opening a window is open, until its duration is over and no later one has opened."""
    opening = window.next_opening(moment)
    assert opening is not None
    end = opening + timedelta(minutes=window.duration_minutes)
    assert window.is_open(opening)
    assert window.is_open(end - timedelta(seconds=1))
    following = window.next_opening(opening)
    assert following is not None
    assert window.is_open(end) is (following <= end)


@given(windows, moments)
def test_closed_until_it_opens(window: MaintenanceWindow, moment: datetime) -> None:
    """A window that is closed stays so until its next opening, to the second."""
    opening = window.next_opening(moment)
    assert opening is not None
    if not window.is_open(moment):
        assert not window.is_open(opening - timedelta(seconds=1))
        assert not window.is_open(moment + (opening - moment) / 2)


@given(windows, moments)
def test_opens_on_its_days_only(window: MaintenanceWindow, moment: datetime) -> None:
    """A window opens once on each of its days by its own clocks, and on no others."""
    zone = ZoneInfo(window.time_zone)
    openings: list[datetime] = []
    after = moment
    for _ in range(20):
        opening = window.next_opening(after)
        assert opening is not None
        openings.append(opening)
        after = opening
    days = [one.astimezone(zone).date() for one in openings]
    wanted = {DAYS.index(day) for day in window.days or DAYS}
    assert {day.weekday() for day in days} <= wanted
    for one, other in pairwise(days):
        between = (one + timedelta(days=n) for n in range(1, (other - one).days))
        assert other > one
        assert not any(day.weekday() in wanted for day in between)


@given(windows)
def test_sound_windows_are_accepted(window: MaintenanceWindow) -> None:
    """What the API can be given of days and times is a window."""
    check_window(window, NOW)


def test_contradictions() -> None:
    """A window that says nothing, or too much, is refused."""
    for window in (a_window(start=None), a_window(cron="0 1 * * *")):
        with pytest.raises(InvalidRequestError, match="Give either 'start'"):
            check_window(window, NOW)
