"""An operation as a table that fits a terminal. Pure, but for the spinner's clock."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from jeroboam.cli.client.progress import RUNNING, WAITING, Operation, Step
from jeroboam.cli.client.text import duration

MARKS = {
    WAITING: ("·", " ", "dim"),
    RUNNING: ("▶", ">", "cyan"),
    "SUCCEEDED": ("✔", "+", "green"),
    "WARNED": ("!", "!", "yellow"),
    "CANCELLED": ("!", "!", "yellow"),
    "FAILED": ("✘", "x", "red"),
}
STATE_STYLES = {"SUCCEEDED": "bold green", "FAILED": "bold red", "CANCELLED": "bold yellow"}


class Drawing:
    """Draws an operation; keeps the spinner, whose phase depends on its age.

    Args:
        unicode: Whether the terminal has more than ASCII.
        height: Lines of the terminal; a longer list is cut around the step at work.
        still: Whether it is printed once instead of being redrawn.
    """

    def __init__(self, *, unicode: bool = True, height: int = 0, still: bool = False) -> None:
        self._unicode = unicode
        self._height = height
        self._spinner = None if still else Spinner("dots" if unicode else "line", style="cyan")

    def of(self, operation: Operation, *, trouble: str = "") -> RenderableType:
        """Return an operation as it stands.

        Args:
            trouble: Why the operation's state is not known at the moment.
        """
        parts: list[RenderableType] = [_head(operation), self.steps(operation)]
        if operation.reason:
            parts.append(Text(operation.reason, style=STATE_STYLES.get(operation.state, "")))
        if trouble:
            parts.append(Text(trouble, style="yellow"))
        return Group(*parts)

    def steps(self, operation: Operation) -> Table:
        """Return the table of steps."""
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(width=1)
        table.add_column(no_wrap=True, overflow="ellipsis")
        table.add_column(justify="right", no_wrap=True, min_width=6)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        room = self._height - 4 if self._height else len(operation.steps)
        above, shown, below = around_work(operation.steps, max(3, room))
        _add_rest(table, above, "more before")
        for step in shown:
            self._add(table, step, operation)
        _add_rest(table, below, "more to come")
        return table

    def _add(self, table: Table, step: Step, operation: Operation) -> None:
        took = duration(step.seconds(operation.at))
        indent = "  " if step.undoes else ""
        table.add_row(
            self._mark(step),
            Text(indent + step.name, style="dim" if step.state == WAITING else ""),
            Text(took, style="dim"),
            Text(step.remark, style="red" if step.state == "FAILED" else "dim"),
        )

    def _mark(self, step: Step) -> RenderableType:
        if step.state == RUNNING and self._spinner:
            return self._spinner
        mark, plain, style = MARKS.get(step.state, ("?", "?", ""))
        return Text(mark if self._unicode else plain, style=style)


def around_work(steps: Sequence[Step], room: int) -> tuple[int, Sequence[Step], int]:
    """Return the steps to show on few lines: how many are left out above, which, and below.

    The first step that is not done is among them.

    Args:
        room: Lines that there are, at least 3; a remark on what is left out takes one.
    """
    if len(steps) <= room:
        return 0, steps, 0
    open_ones = (place for place, step in enumerate(steps) if step.state in {WAITING, RUNNING})
    current = next(open_ones, len(steps) - 1)
    size = room - 2
    start = min(max(0, current - size // 2), len(steps) - size)
    return start, steps[start : start + size], len(steps) - start - size


def _head(operation: Operation) -> Text:
    head = Text(f"{operation.title}  ", style="bold")
    head.append(operation.state, style=STATE_STYLES.get(operation.state, "cyan"))
    return head.append(f"  {duration(operation.seconds)}", style="dim")


def _add_rest(table: Table, count: int, words: str) -> None:
    if count:
        table.add_row("", Text(f"... {count} {words}", style="dim"), "", "")
