"""Makes request bodies of what was typed. Pure, but for secrets, which come from files."""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from jeroboam.cli.client.problems import UsageError

STANDARD_INPUT = "-"

ChangeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="A field of the API and its new value, as JSON or as text; 'null' returns to the "
        "default. May be repeated.",
    ),
]


def given(**fields: Any) -> dict[str, Any]:
    """Return those of the fields that were given: others are the service's to decide."""
    return {name: value for name, value in fields.items() if value not in (None, [])}


def words(texts: Iterable[str] | None) -> list[str]:
    """Return words as the API has them: ``soft-reboot`` is ``soft_reboot``."""
    return [text.strip().lower().replace("-", "_") for text in texts or ()]


def pairs(texts: Iterable[str] | None, option: str) -> dict[str, str]:
    """Return texts like ``key=value`` by key.

    Args:
        option: Where they come from, for the message.

    Raises:
        UsageError: One is not like that, or a key is there twice.
    """
    found: dict[str, str] = {}
    for text in texts or ():
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise UsageError(f"{option} takes KEY=VALUE, and not '{text}'.")
        if key in found:
            raise UsageError(f"{option} names '{key}' twice.")
        found[key] = value
    return found


def plain_values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return values as JSON reads them, or as the texts that they are."""
    return {key: _plain(text) for key, text in texts.items()}


def batch_size_of(text: str) -> int | None:
    """Return how many nodes to work on at a time; ``None`` for all.

    Raises:
        UsageError: It is no such number.
    """
    if text == "all":
        return None
    if text.isascii() and text.isdecimal() and int(text) > 0:
        return int(text)
    raise UsageError(f"--batch-size is a number from 1 on, or 'all', and not '{text}'.")


def secret_from(file: str | None) -> str | None:
    """Return the first line of a file, or of standard input for ``-``.

    Secrets are no arguments, since everybody on the machine sees those.

    Raises:
        UsageError: The file cannot be read.
    """
    if file is None:
        return None
    try:
        text = sys.stdin.read() if file == STANDARD_INPUT else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The secret's file {file} cannot be read: {error}") from error
    return text.partition("\n")[0].rstrip("\r")


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
