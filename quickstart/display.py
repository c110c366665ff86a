"""Shows the list of steps: redrawn in place on a terminal, a line per change elsewhere."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from quickstart.board import Board, State, Step

REFRESH_PER_SECOND = 8

MARKS = {
    State.WAITING: ("·", "dim"),
    State.DONE: ("✔", "green"),
    State.WARNED: ("!", "yellow"),
    State.FAILED: ("✘", "red"),
}
ASCII_MARKS = {"·": " ", "✔": "+", "✘": "x"}
PLAIN_WORDS = {
    State.WAITING: "wait",
    State.WORKING: "....",
    State.DONE: "done",
    State.WARNED: "warn",
    State.FAILED: "FAIL",
}


@contextmanager
def showing(board: Board, console: Console) -> Iterator[None]:
    """Show a board for as long as the block lasts."""
    if console.is_terminal and not console.is_dumb_terminal and not os.environ.get("CI"):
        with _live(board, console):
            yield
    else:
        plain = _Plain(board, console)
        board.listeners.append(plain)
        try:
            yield
        finally:
            board.listeners.remove(plain)


def _live(board: Board, console: Console) -> Live:
    drawing = _Drawing(board, console)
    return Live(
        console=console,
        get_renderable=drawing.table,
        refresh_per_second=REFRESH_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _Drawing:
    """Draws the board as a table; keeps the spinners, whose phase depends on their age."""

    def __init__(self, board: Board, console: Console) -> None:
        self._board = board
        self._unicode = (console.encoding or "").lower().startswith("utf")
        self._spinner = Spinner("dots" if self._unicode else "line", style="cyan")

    def table(self) -> Table:
        """Return the board as it is now."""
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(width=2)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="ellipsis", no_wrap=True, ratio=1)
        for step in self._board.steps:
            style = "dim" if step.state is State.WAITING else ""
            table.add_row(
                self._mark(step),
                Text("  " * step.level + step.title, style=style),
                Text(duration(step.elapsed), style="cyan" if step.level == 0 else "dim"),
                Text(step.detail, style="red" if step.state is State.FAILED else "dim"),
            )
        return table

    def _mark(self, step: Step) -> Spinner | Text:
        if step.state is State.WORKING:
            return self._spinner
        mark, style = MARKS[step.state]
        return Text(mark if self._unicode else ASCII_MARKS.get(mark, mark), style=style)


class _Plain:
    """Writes a line whenever a step changes."""

    def __init__(self, board: Board, console: Console) -> None:
        self._board = board
        self._console = console

    def __call__(self, step: Step) -> None:
        took = ""
        if step.state in {State.DONE, State.WARNED, State.FAILED}:
            took = f" ({duration(step.elapsed)})"
        detail = f": {step.detail}" if step.detail else ""
        self._console.print(
            f"[{self._board.elapsed:6.1f} s] {PLAIN_WORDS[step.state]}  "
            f"{'  ' * step.level}{step.title}{took}{detail}",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )


def duration(seconds: float | None) -> str:
    """Return a duration as people read it."""
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{seconds:.1f} s"
