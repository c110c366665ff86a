"""Questions to whoever sits in front of the terminal."""

import sys
from typing import Annotated

import typer

from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.text import visible

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def confirm(question: str) -> None:
    """Ask, and end the command with exit code 1 unless the answer is yes.

    Raises:
        UsageError: Nobody is there to answer.
    """
    if not sys.stdin.isatty():
        raise UsageError(f"{visible(question)} Say --yes, since there is no terminal to ask on.")
    typer.confirm(visible(question), abort=True)
