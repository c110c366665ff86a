"""What a command prints: for people a table, for programs JSON, YAML or bare values."""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.text import cell

Row = Mapping[str, Any]
LONG = frozenset(
    {
        *("value", "reason", "current_step", "step", "detail", "change", "undone by"),
        *("phases", "operations", "target", "times"),
    }
)
"""Columns that may be broken; uuids, times and words stay whole, so that they can be copied."""

LEAST_LONG = 20
WIDE = 10_000
"""Columns of a pipe: whoever reads it wraps lines as he likes."""


class Format(StrEnum):
    """The formats that OpenStack's clients have in common."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    VALUE = "value"


class Screen:
    """Prints results on standard output.

    Args:
        output: The format that was asked for.
        columns: The columns that were asked for; none means those that the command chooses.
        console: Where to print; by default standard output.
    """

    def __init__(
        self,
        output: Format = Format.TABLE,
        columns: Sequence[str] = (),
        console: Console | None = None,
    ) -> None:
        self.output = output
        self._columns = columns
        self.console = console or stdout()

    @property
    def for_people(self) -> bool:
        """Whether somebody reads the output who likes more than was asked for."""
        return self.output is Format.TABLE and not self._columns

    def rows(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        """Print a list.

        Args:
            columns: Those that are shown unless others were asked for.
        """
        known = dict.fromkeys([*columns, *(name for row in rows for name in row)])
        chosen = self._chosen(columns, list(known))
        picked = [{name: row.get(name) for name in chosen} for row in rows]
        match self.output:
            case Format.TABLE:
                self.draw(table_of(picked, chosen, ascii_only=not self.console.is_terminal))
            case Format.VALUE:
                for row in picked:
                    self._print(" ".join(_flat(value) for value in row.values()))
            case _:
                self._dump(picked)

    def record(self, record: Row, columns: Sequence[str] = ()) -> None:
        """Print one thing, a line for each of its fields.

        Args:
            columns: Those that are shown to people unless others were asked for; none means all.
                Programs get all.
        """
        shown = columns if self.output is Format.TABLE and columns else list(record)
        picked = {name: record.get(name) for name in self._chosen(shown, list(record))}
        match self.output:
            case Format.TABLE:
                lines = [{"field": name, "value": value} for name, value in picked.items()]
                plain = not self.console.is_terminal
                self.draw(table_of(lines, ("field", "value"), ascii_only=plain))
            case Format.VALUE:
                for value in picked.values():
                    self._print(_flat(value))
            case _:
                self._dump(picked)

    def draw(self, table: Table) -> None:
        """Print a table; on a terminal that is too narrow its lines go on below, whole."""
        least = Measurement.get(self.console, self.console.options.update(width=WIDE), table)
        width = self.console.width
        self.console.width = max(width, least.minimum)
        self.console.print(table, soft_wrap=least.minimum > width)
        self.console.width = width

    def say(self, sentence: str) -> None:
        """Tell people something; programs find it on standard error."""
        console = self.console if self.output is Format.TABLE else Console(stderr=True)
        say(console, cell(sentence))

    def _chosen(self, default: Sequence[str], known: Sequence[str]) -> Sequence[str]:
        if not self._columns:
            return default
        by_lower = {name.lower(): name for name in known}
        unknown = [name for name in self._columns if name.lower() not in by_lower]
        if unknown:
            raise UsageError(
                f"No such column: {', '.join(unknown)}. There are: {', '.join(known)}."
            )
        return [by_lower[name.lower()] for name in self._columns]

    def _dump(self, value: Any) -> None:
        if self.output is Format.JSON:
            self._print(json.dumps(value, indent=2))
        else:
            import yaml  # noqa: PLC0415 - only who asks for YAML waits for it

            self._print(yaml.safe_dump(value, sort_keys=False, allow_unicode=True).rstrip())

    def _print(self, text: str) -> None:
        # Not by rich, which would change tabs and the names of emojis.
        self.console.file.write(f"{text}\n")


def say(console: Console, line: str) -> None:
    """Print a line as it is, and at once."""
    console.print(Text(line), soft_wrap=True)
    console.file.flush()


def stdout() -> Console:
    """Return standard output, which breaks no line when it is no terminal."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDE)


def table_of(rows: Sequence[Row], columns: Sequence[str], *, ascii_only: bool = False) -> Table:
    """Return a table with a row for each item."""
    table = Table(box=box.ASCII2 if ascii_only else box.ROUNDED, header_style="bold")
    for name in columns:
        longest = max(
            (len(line) for row in rows for line in cell(row[name]).split("\n")), default=0
        )
        least = min(longest, LEAST_LONG) if name in LONG else longest
        table.add_column(name, overflow="fold", min_width=least)
    for row in rows:
        table.add_row(*(Text(cell(row[name]), style=_style(row[name])) for name in columns))
    return table


_STYLES = {
    "SUCCEEDED": "green",
    "RUNNING": "cyan",
    "COMPENSATING": "yellow",
    "FAILED": "red",
    "CANCELLED": "yellow",
}


def _style(value: Any) -> str:
    return _STYLES.get(value, "") if isinstance(value, str) else ""


def _flat(value: Any) -> str:
    return cell(value).replace("\n", ", ")
