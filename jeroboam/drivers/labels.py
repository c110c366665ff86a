"""Typed labels: a table says what a driver understands, and everything else is refused. Pure."""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from typing import Any

from jeroboam.errors import InvalidRequestError

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}


@dataclass(frozen=True)
class Kind:
    """A type of label value.

    Args:
        name: For the documentation.
        expected: For error messages, following "expected".
        parse: Turns text into a value, or raises ``ValueError``.
    """

    name: str
    expected: str
    parse: Callable[[str], Any]


@dataclass(frozen=True)
class Label:
    """One label.

    Args:
        default: Value when it is not set; text as a user would write it.
        meaning: One sentence for the documentation.
    """

    name: str
    kind: Kind
    default: str
    meaning: str

    def parse(self, text: str) -> Any:
        """Return the typed value.

        Raises:
            InvalidRequestError: The text does not fit; the message says what would.
        """
        try:
            return self.kind.parse(text.strip())
        except ValueError:
            raise InvalidRequestError(
                f"Label {self.name} has the value '{text}'; expected {self.kind.expected}."
            ) from None


def _boolean(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(text)


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _network(text: str) -> str:
    return str(IPv4Network(text))


def _networks(text: str) -> tuple[str, ...]:
    return tuple(_network(part.strip()) for part in text.split(",") if part.strip())


def choice(*values: str) -> Kind:
    """Return the kind of a label that takes one of a few words."""

    def parse(text: str) -> str:
        if text not in values:
            raise ValueError(text)
        return text

    return Kind("one of " + ", ".join(values), f"one of {', '.join(values)}", parse)


BOOLEAN = Kind("boolean", "true or false", _boolean)
NATURAL = Kind("whole number", "a whole number, 0 or more", _natural)
NETWORK = Kind("CIDR", "an IPv4 network without host bits, as 10.0.0.0/24", _network)
NETWORKS = Kind("list of CIDRs", "IPv4 networks separated by commas", _networks)


class LabelTable:
    """The labels that a driver understands.

    Args:
        retired: Labels of Magnum's drivers that make no sense any more, with what to do instead.
    """

    def __init__(self, labels: Sequence[Label], retired: Mapping[str, str] | None = None) -> None:
        self.labels: Mapping[str, Label] = {label.name: label for label in labels}
        self.retired: Mapping[str, str] = dict(retired or {})

    def having(
        self,
        *,
        defaults: Mapping[str, str] | None = None,
        meanings: Mapping[str, str] | None = None,
        without: Mapping[str, str] | None = None,
    ) -> "LabelTable":
        """Return the table of a driver that differs a little.

        Args:
            defaults: Other defaults, by label.
            meanings: Other sentences for the documentation, by label.
            without: Labels that the driver does not have, with what to do instead.

        Raises:
            KeyError: There is no such label.
        """
        left_out = without or {}
        changed = dict(self.labels)
        for name in left_out:
            del changed[name]
        for name, default in (defaults or {}).items():
            changed[name] = replace(changed[name], default=default)
        for name, meaning in (meanings or {}).items():
            changed[name] = replace(changed[name], meaning=meaning)
        return LabelTable(tuple(changed.values()), {**self.retired, **left_out})

    def read(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return the typed values of all labels, defaults included; "" counts as not set.

        Raises:
            InvalidRequestError: A label is unknown or has a value of the wrong type.
        """
        for name, text in given.items():
            self._require_known(name, text)
        return {
            name: label.parse(str(given.get(name) or label.default))
            if given.get(name) or label.default
            else None
            for name, label in self.labels.items()
        }

    def _require_known(self, name: str, text: str) -> None:
        """Refuse what would be ignored. A retired label that asks for nothing does no harm."""
        if name in self.labels:
            return
        if name in self.retired:
            if text.strip().lower() in _FALSE | {""}:
                return
            raise InvalidRequestError(f"Label '{name}' is not offered. {self.retired[name]}")
        near = difflib.get_close_matches(name, self.labels, n=1)
        advice = f"Did you mean '{near[0]}'?" if near else "Remove it."
        raise InvalidRequestError(f"Label '{name}' is not known to this driver. {advice}")

    def markdown(self, title: str) -> str:
        """Return the reference page of the table."""
        rows = [
            f"| `{label.name}` | {label.kind.name} | {_code(label.default)} | {label.meaning} |"
            for label in sorted(self.labels.values(), key=lambda label: label.name)
        ]
        head = [f"# {title}", "", "| Label | Type | Default | Meaning |", "|---|---|---|---|"]
        return "\n".join([*head, *rows, ""])

    def markdown_of_retired(self) -> str:
        """Return the table of the labels that are refused, with what to do instead."""
        rows = [f"| `{name}` | {advice} |" for name, advice in sorted(self.retired.items())]
        return "\n".join(["| Label | Instead |", "|---|---|", *rows])


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
