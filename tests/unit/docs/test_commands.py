"""The commands that the documentation shows exist."""

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from jeroboam.cli.main import app
from tests.unit.docs import tables

PAGES = sorted([tables.DOCS.parent / "README.md", *tables.DOCS.rglob("*.md")])
IN_BLOCK = re.compile(r"^ *\$ (jeroboam (?:.*\\\n)*.*)$", re.MULTILINE)
IN_LINE = re.compile(r"`(jeroboam [a-z][^`]*)`")


def shown(page: Path) -> list[str]:
    text = page.read_text()
    return [line.replace("\\\n", " ") for line in (*IN_BLOCK.findall(text), *IN_LINE.findall(text))]


COMMANDS = sorted({line.partition(" #")[0] for page in PAGES for line in shown(page)})


@pytest.mark.parametrize("line", COMMANDS)
def test_command_exists(line: str) -> None:
    """Every ``jeroboam`` command in the pages is one, and has the options that it is given."""
    command, words = get_command(app), shlex.split(line)[1:]
    while words and (children := getattr(command, "commands", None)):
        assert words[0] in children or words[0].startswith("-"), f"no such command: {words[0]}"
        if words[0].startswith("-"):
            break
        command = children[words.pop(0)]
    known = {
        option
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    given = {word.partition("=")[0] for word in words if word.startswith("-")}
    assert given <= known | {"--help"}
