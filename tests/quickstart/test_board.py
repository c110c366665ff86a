"""The list of steps and how it is shown."""

import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from quickstart.board import Board, State
from quickstart.display import _Drawing, duration, showing


def test_steps_are_timed() -> None:
    """A step's clock runs while it is at work, and stands afterwards."""
    board = Board()
    step = board.add("Temporal")
    assert step.elapsed is None
    with board.working(step):
        time.sleep(0.02)
    took = step.elapsed
    time.sleep(0.02)
    assert took is not None
    assert took >= 0.02
    assert step.elapsed == took
    assert step.state is State.DONE


def test_what_raises_has_failed() -> None:
    """A step in which something is raised is shown as failed."""
    board = Board()
    step = board.add("Temporal")
    with pytest.raises(OSError, match="full"), board.working(step):
        raise OSError("full")
    assert step.state is State.FAILED


def test_a_pipe_gets_one_line_per_change() -> None:
    """Without a terminal each change is one plain line, and no change is none."""
    board, output = Board(), io.StringIO()
    with showing(board, Console(file=output, width=40)):
        step = board.add("API")
        with board.working(step):
            board.update(step, detail="http://127.0.0.1:15011/[v1]/" + "long" * 20)
            board.update(step, detail=step.detail)
    lines = output.getvalue().splitlines()
    assert len(lines) == 3
    assert [line.split("]")[1].split()[0] for line in lines] == ["....", "....", "done"]
    assert lines[1].endswith("[v1]/" + "long" * 20)
    assert "\x1b" not in output.getvalue()


def test_a_terminal_gets_a_table() -> None:
    """On a terminal every step is one line of a table that fits the width."""
    board = Board()
    states = [board.add(state.name) for state in State]
    for step, state in zip(states, State, strict=True):
        board.update(step, state, "detail " * 30)
    output = io.StringIO()
    console = Console(file=output, width=60, force_terminal=True)
    console.print(_Drawing(board, console).table())
    lines = console.export_text() if console.record else output.getvalue()
    assert len(lines.splitlines()) == len(State)
    assert all(state.name in lines for state in State)


@given(st.floats(min_value=0, max_value=1e5))
def test_durations_read_well(seconds: float) -> None:
    """No duration shows 60 seconds, which would be a minute."""
    shown = duration(seconds)
    assert " 60 s" not in shown
    assert shown.endswith(" s")
