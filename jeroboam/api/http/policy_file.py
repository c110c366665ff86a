"""Reads an operator's policy file, and refuses one that would not do what it says.

oslo.policy takes a rule that it cannot parse for "nobody", an empty value for "everybody", and a
reference to a rule that is not there for "nobody", each with a line in the log at most. In a file
that carries over from another service such slips would show when a tenant is refused, or is not.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from oslo_policy import policy

from jeroboam.errors import ConfigurationError

DEFAULT = "default"
"""The rule that oslo.policy asks in the place of one that is not there."""

_WORDS = re.compile(r"[\s()]+")
_NOBODY = "!"

Value = str | list[Any]


@dataclass(frozen=True)
class PolicyFile:
    """What an operator's file says.

    Args:
        path: Where it is; ``None`` stands for no file.
        values: The check of each rule, as it is written.
    """

    path: Path | None = None
    values: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "PolicyFile":
        """Read a file of YAML or JSON.

        Raises:
            ConfigurationError: It cannot be read, or one of its rules cannot be understood.
        """
        try:
            content = yaml.safe_load(path.read_text("utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise ConfigurationError(
                f"The policy file {path} cannot be read: {_in_one_line(error)} "
                "It is YAML or JSON with the name of a rule and its check on each line."
            ) from error
        found = {} if content is None else content
        if not isinstance(found, dict):
            raise ConfigurationError(
                f"The policy file {path} is no mapping of rules to checks, but a "
                f'{type(found).__name__}. A line is like: "cluster:create": "role:member".'
            )
        for name, value in found.items():
            _check_entry(path, name, value)
        return cls(path, found)

    def merged(self, defaults: Iterable[policy.RuleDefault]) -> policy.Rules:
        """Return the rules in force: the defaults, and over them those of the file.

        Raises:
            ConfigurationError: A rule of the file refers to one that is nowhere, or to itself.
        """
        checks = {rule.name: rule.check for rule in defaults}
        checks |= _parsed(self.values)
        for name in self.values:
            self._check_references(name, checks)
        return policy.Rules(checks, DEFAULT)

    def unknown(self, known: Iterable[str]) -> Mapping[str, str | None]:
        """Return the rules that nothing asks, each with the name that may have been meant.

        Args:
            known: The names of the rules with defaults.
        """
        names = set(known)
        checks = _parsed(self.values)
        used = {name for check in checks.values() for name in _references(check)}
        return {
            name: next(iter(get_close_matches(name, names, n=1)), None)
            for name in self.values
            if name not in names | used | {DEFAULT}
        }

    def _check_references(self, name: str, checks: Mapping[str, Any]) -> None:
        """Follow what a rule refers to.

        A name with a colon may be of a driver whose worker has not told of its rules yet.
        """
        seen, left = {name}, list(_references(checks[name]))
        while left:
            reference = left.pop()
            if reference == name:
                raise ConfigurationError(f"The rule '{name}' in {self.path} refers to itself.")
            if reference in seen:
                continue
            seen.add(reference)
            if reference in checks:
                left += _references(checks[reference])
            elif ":" not in reference and DEFAULT not in checks:
                raise ConfigurationError(
                    f"The rule '{name}' in {self.path} refers to 'rule:{reference}', which is "
                    "neither there nor one of the defaults; 'jeroboam policy list' shows those."
                )


def _check_entry(path: Path, name: object, value: object) -> None:
    if not isinstance(name, str):
        raise ConfigurationError(f"The policy file {path} has a rule {name!r}; names are text.")
    if not isinstance(value, str | list) or value == []:
        raise ConfigurationError(
            f"The rule '{name}' in {path} has no check, but {value!r}. Write \"!\" for nobody, "
            '"@" for everybody, or what a caller needs, as "role:member".'
        )
    parsed = str(_parsed({name: value})[name])
    if _count(parsed) > _count(value if isinstance(value, str) else str(value)):
        raise ConfigurationError(
            f"The rule '{name}' in {path} cannot be understood: {value!r}. A check is like "
            '"role:member and project_id:%(project_id)s"; parentheses come in pairs.'
        )


def _parsed(values: Mapping[str, Value]) -> policy.Rules:
    # oslo.policy's annotation leaves out the lists of old files, which it reads.
    texts: dict[str, Any] = dict(values)
    return policy.Rules.from_dict(texts, DEFAULT)


def _count(text: str) -> int:
    """Count how often "nobody" stands in a check; for what it cannot parse oslo.policy adds one."""
    return sum(word.strip("'\"[],") == _NOBODY for word in _WORDS.split(text))


def _references(check: Any) -> Iterator[str]:
    """Yield the rules that a check refers to."""
    if getattr(check, "kind", None) == "rule":
        yield check.match
    for part in getattr(check, "rules", ()):
        yield from _references(part)
    if hasattr(check, "rule"):
        yield from _references(check.rule)


def _in_one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if text.endswith(".") else f"{text}."
