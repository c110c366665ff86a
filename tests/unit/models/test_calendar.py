"""Cron and calendar expressions, and when they come next."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jeroboam.errors import InvalidRequestError
from jeroboam.models.calendar import (
    check_zone,
    next_time,
    next_times,
    parse_calendar,
    parse_cron,
)

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "Antarctica/Troll",
    "America/St_Johns",
    "Asia/Kathmandu",
    "Africa/Casablanca",
    "Pacific/Apia",
)
moments = st.integers(0, 4 * 365 * 24 * 60 * 60).map(
    lambda seconds: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
)
zones = st.sampled_from(ZONES).map(ZoneInfo)


def field(low: int, high: int) -> st.SearchStrategy[str]:
    """Return texts of a cron field: stars, numbers, ranges, steps and lists."""
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.integers(1, 7).map(lambda n: f"*/{n}")
    one = st.one_of(number.map(str), span, step)
    return st.one_of(st.just("*"), st.lists(one, min_size=1, max_size=3).map(",".join))


crons = st.tuples(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7)).map(" ".join)


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 3 * * sat", ["2026-11-21 03:30", "2026-11-28 03:30"]),
        ("0 0 1 */6 *", ["2027-01-01 00:00", "2027-07-01 00:00"]),
        ("@weekly", ["2026-11-22 00:00", "2026-11-29 00:00"]),
        ("0 12 * * fri-sun", ["2026-11-20 12:00", "2026-11-21 12:00", "2026-11-22 12:00"]),
        ("0 12 * * 5-7", ["2026-11-20 12:00", "2026-11-21 12:00", "2026-11-22 12:00"]),
        ("15 10 29 2 * 2027-2030", ["2028-02-29 10:15"]),
        ("30 59 23 31 12 * *", ["2026-12-31 23:59:30", "2027-12-31 23:59:30"]),
        ("5/20 8 20 Nov *", ["2026-11-20 08:05", "2026-11-20 08:25", "2026-11-20 08:45"]),
        ("0 3 13 * 5", ["2026-11-20 03:00", "2026-11-27 03:00", "2026-12-04 03:00"]),
        ("0 3 13 dec *", ["2026-12-13 03:00"]),
    ],
)
def test_cron(cron: str, expected: list[str]) -> None:
    """A cron expression means what crond makes of it."""
    start = datetime(2026, 11, 20, 0, 30, tzinfo=UTC)
    found = next_times(parse_cron(cron), ZoneInfo("UTC"), start, len(expected))
    assert found == [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in expected]


def test_day_of_month_or_of_week() -> None:
    """Of two days that are given one must fit in cron, and both in a calendar."""
    start, zone = datetime(2026, 11, 1, tzinfo=UTC), ZoneInfo("UTC")
    by_cron = next_times(parse_cron("0 3 13 * 5"), zone, start, 20)
    fields = {"hour": "3", "day_of_month": "13", "day_of_week": "5"}
    by_calendar = next_times((parse_calendar(fields),), zone, start, 3)
    assert {at.day for at in by_cron if at.weekday() != 4} == {13}
    assert all((at.day, at.weekday()) == (13, 4) for at in by_calendar)


@pytest.mark.parametrize(
    ("cron", "complaint"),
    [
        ("", "has 0 fields"),
        ("* * * *", "has 4 fields"),
        ("@reboot", "has 1 fields"),
        ("60 * * * *", "minute. It can be * or numbers from 0 to 59"),
        ("* * 0 * *", "day_of_month"),
        ("* * * 13 *", "from 1 to 12, or jan to dec"),
        ("* * * * 8", "from 0 to 7, or sun to sat"),
        ("* * * * someday", "'someday' is not right for the day_of_week"),
        ("5-1 * * * *", "goes backwards. Write 5-59,0-1."),
        ("* * * * fri-mon", "goes backwards. Write 5-7,0-1."),
        ("*/0 * * * *", "'*/0'"),
        ("1,,2 * * * *", "''"),
        ("1-2-3 * * * *", "'1-2-3'"),
        ("٣ * * * *", "'٣'"),
        ("1e3 * * * *", "'1e3'"),
        ("99999999999 * * * *", "'99999999999'"),
        ("* * * * * 1999", "from 2000 to 2100"),
    ],
)
def test_bad_cron(cron: str, complaint: str) -> None:
    """What is no cron expression is refused with what would be right."""
    with pytest.raises(InvalidRequestError) as raised:
        parse_cron(cron)
    assert complaint in raised.value.message


def test_bad_calendar() -> None:
    """A calendar has certain fields and no others."""
    with pytest.raises(
        InvalidRequestError, match=r"no field 'hours'\. It has: second, minute, hour"
    ):
        parse_calendar({"hours": "3"})


@pytest.mark.parametrize(
    "name", ["", "Berlin", "/etc/passwd", "../UTC", "Europe/Berlin\0", "a" * 300]
)
def test_bad_zone(name: str) -> None:
    """Only names of the IANA list are time zones."""
    with pytest.raises(InvalidRequestError, match="Use a name of the IANA list"):
        check_zone(name)


def test_left_out_time() -> None:
    """A time that the clocks leave out comes as long after midnight as on other days."""
    found = next_times(parse_cron("30 2 * * *"), BERLIN, datetime(2027, 3, 27, 12, tzinfo=UTC), 2)
    assert found[0] == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)
    assert found[0].astimezone(BERLIN).hour == 3
    assert found[1].astimezone(BERLIN).hour == 2


def test_repeated_time() -> None:
    """A time that there is twice comes once, the first time."""
    found = next_times(parse_cron("30 2 * * *"), BERLIN, datetime(2027, 10, 30, 12, tzinfo=UTC), 2)
    assert found == [
        datetime(2027, 10, 31, 0, 30, tzinfo=UTC),
        datetime(2027, 11, 1, 1, 30, tzinfo=UTC),
    ]


def test_never() -> None:
    """Of times that never come there is no next one."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert next_time(parse_cron("0 0 30 2 *"), BERLIN, start) is None
    assert next_times(parse_cron("0 0 1 1 * 2025"), BERLIN, start, 3) == []


@given(crons, zones, moments)
def test_next_is_after(cron: str, zone: ZoneInfo, after: datetime) -> None:
    """The next time is after the moment, and one second before it, it is still the next one."""
    calendars = parse_cron(cron)
    found = next_time(calendars, zone, after)
    assume(found is not None)
    assert found is not None
    assert found > after
    assert next_time(calendars, zone, found - timedelta(seconds=1)) == found


@given(crons, zones, moments)
def test_next_fits(cron: str, zone: ZoneInfo, after: datetime) -> None:
    """The next time fits the expression by the zone's clocks, unless they leave it out."""
    calendars = parse_cron(cron)
    found = next_time(calendars, zone, after)
    assume(found is not None)
    assert found is not None
    local = found.astimezone(zone)
    before = (found - timedelta(hours=3)).astimezone(zone)
    shift = (local.utcoffset() or timedelta()) - (before.utcoffset() or timedelta())
    candidates = {local.replace(tzinfo=None), (local - shift).replace(tzinfo=None)}
    candidates.add((found + (before.utcoffset() or timedelta())).replace(tzinfo=None))
    assert any(
        calendar.has_day(at.date())
        and at.hour in calendar.hour
        and at.minute in calendar.minute
        and at.second in calendar.second
        for calendar in calendars
        for at in candidates
    )


@given(st.integers(0, 23), st.integers(0, 59), zones, moments)
def test_once_a_day(hour: int, minute: int, zone: ZoneInfo, after: datetime) -> None:
    """What is daily comes exactly once on each day of the wall clock, whatever the clocks do."""
    calendars = parse_cron(f"{minute} {hour} * * *")
    found = next_times(calendars, zone, after, 400)
    days = [at.astimezone(zone).date() for at in found]
    assert days == sorted(set(days))
    assert (days[-1] - days[0]).days == len(days) - 1


@given(crons, moments)
def test_brute_force(cron: str, after: datetime) -> None:
    """In UTC the next time is the first minute that fits."""
    calendars = parse_cron(cron)
    found = next_time(calendars, ZoneInfo("UTC"), after)
    at = after.replace(second=0, microsecond=0) + timedelta(minutes=1)
    for _ in range(2000):
        fits = any(
            one.has_day(at.date()) and at.hour in one.hour and at.minute in one.minute
            for one in calendars
        )
        if fits:
            assert found == at
            return
        at += timedelta(minutes=1)
    assert found is None or found >= at
