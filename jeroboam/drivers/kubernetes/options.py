"""Command-line flags given as one text, as in Magnum's ``*_options`` labels. Pure."""

import shlex
from collections.abc import Collection

Flags = tuple[tuple[str, str], ...]


def parse_flags(text: str, allowed: Collection[str] = ()) -> Flags:
    """Return the flags as pairs of a name without dashes and a value.

    A flag without a value means ``true``, as Go's flag package has it.

    Args:
        allowed: The names that may be given; empty allows all.

    Raises:
        ValueError: Something is not a flag, or not an allowed one.
    """
    flags = tuple(_flag(word) for word in shlex.split(text))
    if allowed and any(name not in allowed for name, _ in flags):
        raise ValueError(text)
    return flags


def _flag(word: str) -> tuple[str, str]:
    name, equals, value = word.removeprefix("--").partition("=")
    if not word.startswith("--") or not name.replace("-", "").isalnum():
        raise ValueError(word)
    return name, value if equals else "true"


def extra_args(flags: Flags) -> list[dict[str, str]]:
    """Return the flags in the form of kubeadm's v1beta4 configuration."""
    return [{"name": name, "value": value} for name, value in flags]
