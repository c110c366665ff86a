"""The forms of the output are those of OpenStack's clients."""

import io
import json
from typing import Any

import pytest
import yaml
from rich.console import Console
from rich.text import Text

from jeroboam.cli.client.output import WIDE, Format, Screen
from jeroboam.cli.client.problems import UsageError

ROWS = [
    {"uuid": "u1", "name": "first [v1]", "count": 3, "labels": {"a": "1", "b": "2"}, "at": None},
    {"uuid": "u2", "name": "second", "count": 0, "labels": {}, "at": "2026-01-31T12:00:00+00:00"},
]


def printed(output: Format, *columns: str, terminal: bool = False, record: bool = False) -> str:
    """Return what is printed of the rows, or of the first one."""
    stream = io.StringIO()
    width = 60 if terminal else WIDE
    console = Console(file=stream, width=width, force_terminal=terminal, no_color=True)
    screen = Screen(output, columns, console)
    if record:
        screen.record(ROWS[0], ("uuid", "name"))
    else:
        screen.rows(ROWS, ("uuid", "name", "count"))
    return stream.getvalue()


def test_json_of_a_list() -> None:
    """A list is an array of objects with the columns of the table."""
    expected = [{name: row[name] for name in ("uuid", "name", "count")} for row in ROWS]
    assert json.loads(printed(Format.JSON)) == expected


def test_yaml_of_a_list() -> None:
    """YAML holds the same."""
    assert yaml.safe_load(printed(Format.YAML)) == json.loads(printed(Format.JSON))


def test_values_of_a_list() -> None:
    """Bare values are one row a line, for shell loops."""
    assert printed(Format.VALUE, "uuid") == "u1\nu2\n"
    assert printed(Format.VALUE) == "u1 first [v1] 3\nu2 second 0\n"


def test_columns_that_are_not_shown_otherwise() -> None:
    """Any field of the API can be a column, its case does not matter, the order is the user's."""
    assert json.loads(printed(Format.JSON, "AT", "uuid"))[1] == {
        "at": "2026-01-31T12:00:00+00:00",
        "uuid": "u2",
    }


def test_a_column_that_is_not_there() -> None:
    """An unknown column is refused, with those that there are."""
    with pytest.raises(UsageError, match=r"No such column: nmae\. There are: uuid, name, count"):
        printed(Format.TABLE, "nmae")


def test_programs_get_the_whole_record() -> None:
    """JSON of one thing has all its fields; the table for people only those that matter."""
    assert json.loads(printed(Format.JSON, record=True)) == ROWS[0]
    assert "labels" not in printed(Format.TABLE, record=True)


def test_values_of_a_record() -> None:
    """One field as a bare value is what a shell variable takes."""
    assert printed(Format.VALUE, "count", record=True) == "3\n"
    assert printed(Format.VALUE, "labels", record=True) == "a=1, b=2\n"


def test_a_table_in_a_pipe_is_not_cut() -> None:
    """Without a terminal a table is ASCII and its lines are as long as they must be."""
    long: list[dict[str, Any]] = [{"name": "x" * 300}]
    stream = io.StringIO()
    Screen(Format.TABLE, (), Console(file=stream, width=WIDE)).rows(long, ("name",))
    assert "x" * 300 in stream.getvalue()
    assert stream.getvalue().isascii()


def test_a_table_on_a_terminal_fits() -> None:
    """On a terminal no line is longer than the terminal is wide."""
    lines = Text.from_ansi(printed(Format.TABLE, terminal=True)).plain.splitlines()
    assert len(lines) > 3
    assert all(len(line) <= 60 for line in lines)


def test_a_terminal_that_is_too_narrow() -> None:
    """What people copy stays whole: rather the lines are longer than the terminal is wide."""
    rows = [{"uuid": "u" * 36, "reason": "because " * 20, "name": "n" * 30}]
    stream = io.StringIO()
    screen = Screen(Format.TABLE, (), Console(file=stream, width=50, force_terminal=True))
    screen.rows(rows, ("uuid", "reason", "name"))
    lines = Text.from_ansi(stream.getvalue()).plain.splitlines()
    assert "u" * 36 in stream.getvalue()
    assert "n" * 30 in stream.getvalue()
    assert len({len(line) for line in lines}) == 1
    assert len(lines) > 8


@pytest.mark.parametrize("output", Format)
def test_texts_come_as_they_are(output: Format) -> None:
    """Nothing in a text is taken for the name of an emoji, for markup or for a command."""
    stream = io.StringIO()
    rows = [{"name": "a:warning:b [red]c[/red] \x9b2J"}]
    Screen(output, (), Console(file=stream, width=WIDE)).rows(rows, ("name",))
    assert "a:warning:b [red]c[/red] " in stream.getvalue()
    assert "\x9b" not in stream.getvalue()


def test_an_empty_list() -> None:
    """No rows are an empty array, and no line of values."""
    stream = io.StringIO()
    console = Console(file=stream, width=WIDE)
    Screen(Format.JSON, (), console).rows([], ("uuid",))
    Screen(Format.VALUE, (), console).rows([], ("uuid",))
    assert stream.getvalue() == "[]\n"


def test_programs_find_remarks_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    """What is said to people does not get into the JSON that a program reads."""
    stream = io.StringIO()
    Screen(Format.JSON, (), Console(file=stream)).say("Accepted.")
    assert stream.getvalue() == ""
    assert capsys.readouterr().err == "Accepted.\n"
