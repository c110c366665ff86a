"""Where somebody who watches looks: a table that is redrawn on a terminal; elsewhere, lines."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.live import Live

from jeroboam.cli.client import lines
from jeroboam.cli.client.drawing import Drawing
from jeroboam.cli.client.output import say
from jeroboam.cli.client.progress import Operation
from jeroboam.cli.client.text import visible

REFRESH_PER_SECOND = 8


class Display(Protocol):
    """Shows the looks at an operation."""

    def show(self, operation: Operation) -> None:
        """Show how it stands."""

    def trouble(self, sentence: str) -> None:
        """Tell why it is not known how it stands."""


@contextmanager
def display_on(console: Console) -> Iterator[Display]:
    """Yield the display that fits the console."""
    if console.is_terminal and not console.is_dumb_terminal and not os.environ.get("CI"):
        with _live(console) as live:
            yield TableDisplay(live)
    else:
        yield LineDisplay(console)


def _live(console: Console) -> Live:
    return Live(
        console=console,
        refresh_per_second=REFRESH_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class TableDisplay:
    """Redraws a table in place.

    Args:
        live: The place, started.
    """

    def __init__(self, live: Live) -> None:
        self._live = live
        unicode = (live.console.encoding or "").lower().startswith("utf")
        self._drawing = Drawing(unicode=unicode, height=live.console.height)
        self._last: Operation | None = None

    def show(self, operation: Operation) -> None:
        """Draw it anew."""
        self._last = operation
        self._live.update(self._drawing.of(operation))

    def trouble(self, sentence: str) -> None:
        """Put the trouble below the last that is known."""
        if self._last:
            self._live.update(self._drawing.of(self._last, trouble=visible(sentence)))


class LineDisplay:
    """Prints a line for each change, at once."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: Operation | None = None
        self._in_trouble = False

    def show(self, operation: Operation) -> None:
        """Print what has changed since the last look."""
        for line in lines.changes(self._last, operation):
            say(self._console, line)
        self._last = operation
        self._in_trouble = False

    def trouble(self, sentence: str) -> None:
        """Print it once, however long it lasts."""
        if not self._in_trouble:
            say(self._console, visible(sentence))
        self._in_trouble = True
