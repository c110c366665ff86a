"""Text and times on their way into a database."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.dialects import sqlite

from jeroboam.store.columns import MAX_TEXT, UtcDateTime, clip

ANY_CHARACTER = st.characters(codec=None, exclude_categories=())
DIALECT = sqlite.dialect()


@given(text=st.text(ANY_CHARACTER))
def test_clipped_text_can_be_stored(text: str) -> None:
    """Whatever the text, what is left of it is UTF-8 without NUL, and clipping ends."""
    clipped = clip(text)
    assert "\x00" not in clipped
    assert clipped.encode().decode() == clipped
    assert clip(clipped) == clipped


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_good_text_stays(text: str) -> None:
    """Text of sane length and content is stored as it is."""
    assert clip(text) == text


def test_long_text_is_cut() -> None:
    """Text beyond the limit is cut to it, visibly."""
    clipped = clip("x" * (MAX_TEXT + 1))
    assert len(clipped) == MAX_TEXT
    assert clipped.endswith(" …")
    assert clip("x" * MAX_TEXT) == "x" * MAX_TEXT


def test_times_are_utc() -> None:
    """Aware times are turned into UTC, and naive ones, as SQLite returns them, are UTC."""
    column = UtcDateTime()
    noon = datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    assert column.process_bind_param(noon, DIALECT) == datetime(2026, 1, 1, 10, tzinfo=UTC)
    naive = datetime(2026, 1, 1, 10)  # noqa: DTZ001 - this is what a driver returns
    assert column.process_result_value(naive, DIALECT) == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert column.process_bind_param(None, DIALECT) is None
