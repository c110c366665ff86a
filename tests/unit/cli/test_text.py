"""Words and figures of the command line."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.text import cell, date_of, duration, earlier, minutes, one_line, seconds

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (-3, "0 s"),
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (3599.6, "1 h 00 min"),
        (90061, "25 h 01 min"),
    ],
)
def test_durations(seconds: float | None, words: str) -> None:
    """Durations are whole seconds, and never 60 of anything."""
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("30m", NOW - timedelta(minutes=30)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(weeks=2)),
        ("2026-01-30", datetime(2026, 1, 30, tzinfo=UTC)),
        ("2026-01-30T10:00+02:00", datetime(2026, 1, 30, 8, tzinfo=UTC)),
    ],
)
def test_moments(text: str, when: datetime) -> None:
    """A moment is so long ago, or a date, in UTC unless it says otherwise."""
    assert earlier(text, NOW) == when


@pytest.mark.parametrize("text", ["", "soon", "5 m", "7y", "2026-13-01", "999999w", "-1d"])
def test_no_moments(text: str) -> None:
    """Anything else is refused with examples of what is right."""
    with pytest.raises(UsageError, match="30m, 12h, 7d"):
        earlier(text, NOW)


@pytest.mark.parametrize(
    ("text", "length"), [("90s", 90), ("15m", 900), ("4h", 14400), ("1w", 604800)]
)
def test_lengths(text: str, length: int) -> None:
    """A length of time is a number with its unit."""
    assert seconds(text) == length


def test_lengths_in_minutes() -> None:
    """Where minutes count, a length is a whole number of them."""
    assert minutes("120s") == 2
    with pytest.raises(UsageError, match="no whole number of minutes"):
        minutes("90s")


@pytest.mark.parametrize(
    "text", ["", "15", "15 m", "-1m", "1.5h", "m", "\N{ARABIC-INDIC DIGIT ONE}m"]
)
def test_no_lengths(text: str) -> None:
    """A number without a unit is refused: nobody shall have to guess it."""
    with pytest.raises(UsageError, match="a number with s, m, h or d"):
        seconds(text)


def test_dates() -> None:
    """A date is one in UTC unless it says otherwise; how long ago is none."""
    assert date_of("2026-01-30") == datetime(2026, 1, 30, tzinfo=UTC)
    with pytest.raises(UsageError, match=r"'7d' is no time\. Write a date"):
        date_of("7d")


@given(st.text())
def test_one_line(text: str) -> None:
    """No text of others moves the cursor or begins a line."""
    shown = one_line(text)
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "True"),
        (0, "0"),
        ([], ""),
        (["a", "b"], "a, b"),
        ({}, ""),
        ({"a": "1", "b": None}, "a=1\nb="),
        ({"nodes": ["a", "b"], "size": 1}, "nodes=a, b\nsize=1"),
        ({"a": {"b": 1}}, '{"a": {"b": 1}}'),
        ([{"rel": "self"}], '[{"rel": "self"}]'),
        ("\x1b[31m", "\N{REPLACEMENT CHARACTER}[31m"),
    ],
)
def test_cells(value: object, text: str) -> None:
    """Every value of the API has a form in a table."""
    assert cell(value) == text
