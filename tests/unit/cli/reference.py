"""The page on the command line, made from the commands themselves.

``python -m tests.unit.cli.reference`` writes it anew; a test checks that it is up to date.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from jeroboam.cli.main import app

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
BEGIN = "<!-- begin generated: commands -->"
END = "<!-- end generated: commands -->"

COMMON = frozenset({"cloud", "output", "columns"})
"""Options of all commands that ask the API; the page explains them once."""


def commands() -> str:
    """Return the part of the page that is made from the code."""
    root: Any = typer.main.get_command(app)
    return "\n".join(_of_group(root, ("jeroboam",)))


def _of_group(group: Any, path: tuple[str, ...]) -> Iterator[str]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield f"## {' '.join((*path, name))}\n"
            yield f"{command.help}\n"
            if name == "plan":
                yield _of_plans(command)
            else:
                yield from _of_group(command, (*path, name))
        else:
            yield from _of_command(command, (*path, name))


def _of_plans(group: Any) -> str:
    names = ", ".join(f"`{name}`" for name in group.commands)
    return f"It has {names}, with the arguments and options that they have below `cluster`.\n"


def _of_command(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    depth = "#" * (2 if len(path) == 2 else 3)
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    usage = " ".join((*path, *(_argument(one) for one in arguments)))
    yield f"{depth} {' '.join(path)}\n"
    yield f"`{usage}`\n"
    yield f"{command.help}\n"
    options = [one for one in command.params if one not in arguments and one.name not in COMMON]
    rows = [*(_row(_argument(one), one) for one in arguments), *(_option(one) for one in options)]
    if rows:
        yield "\n".join(("| | |", "| --- | --- |", *rows)) + "\n"


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(option.opts)
    if option.secondary_opts:
        names = f"{names} / {', '.join(option.secondary_opts)}"
    takes = "" if option.is_flag else f" {option.metavar or option.name.upper()}"
    return _row(f"{names}{takes}", option)


def _row(title: str, parameter: Any) -> str:
    value = parameter.default
    shown = value is not None and value is not False and not parameter.required
    default = f" Default: `{_word(value, parameter)}`." if shown else ""
    return f"| `{title}` | {parameter.help or ''}{default} |"


def _word(value: Any, parameter: Any) -> Any:
    return parameter.opts[0] if value is True else value


if __name__ == "__main__":
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{commands()}\n{END}{after}")
