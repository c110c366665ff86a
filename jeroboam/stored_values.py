"""Changes of stored secrets by the beginnings of their names; pure."""

from collections.abc import Mapping

Values = Mapping[str, str]
"""Secrets as text, by name."""


def renamed(values: Values, old: str, new: str) -> Values:
    """Return the values with another beginning of the names that begin with ``old``."""
    return {
        f"{new}{name.removeprefix(old)}" if name.startswith(old) else name: text
        for name, text in values.items()
    }


def without(values: Values, *beginnings: str) -> Values:
    """Return the values whose names begin with none of these."""
    return {name: text for name, text in values.items() if not name.startswith(beginnings)}
