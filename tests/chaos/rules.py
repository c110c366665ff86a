"""Faults that happen at a point of an operation, as files that all processes of a run read."""

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from jeroboam.models import Model, new_uuid

EVERY_STEP = "*"
PLANNING = "load_plan"

ACKNOWLEDGED_SECONDS = 5.0
"""How long a crash may be waited for that somebody else has to bring about."""


def writing(number: int) -> str:
    """Return how rules name the n-th write of an operation's record, counted from 1."""
    return f"record {number}"


def crash_mark(directory: Path, cluster_name: str) -> Path:
    """Return the file that lets the API die when an operation on a cluster is accepted."""
    return directory / f"crash-api-{cluster_name}"


class When(StrEnum):
    """At which side of an activity."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"
    ALWAYS = "always"


class Act(StrEnum):
    """What happens. ``WORKER`` is the process at work itself."""

    WORKER = "worker"
    OTHER_WORKER = "other-worker"
    TEMPORAL = "temporal"
    DATABASE = "database"
    API = "api"
    BACKEND = "backend"
    HEAT = "heat"
    NOVA = "nova"
    TWICE = "twice"
    LOST = "lost"


class Rule(Model):
    """One fault.

    Args:
        step: Name of the step in the plan, or one of the names above.
        seconds: For ``DURING``, how long after the beginning.
    """

    id: str
    operation: str
    step: str
    when: When
    act: Act
    seconds: float = 0.0

    def __str__(self) -> str:
        """Return it for a report."""
        return f"{self.act} {self.when} {self.step}"

    @classmethod
    def new(cls, operation: str, step: str, when: When, act: Act, seconds: float = 0.0) -> "Rule":
        """Return a rule with an id of its own."""
        return cls(
            id=new_uuid(), operation=operation, step=step, when=when, act=act, seconds=seconds
        )


class RuleBook:
    """The rules of a run, in a directory.

    Args:
        directory: Shared by all processes of the run.
    """

    def __init__(self, directory: Path) -> None:
        self._rules = directory / "rules"
        self._fired = directory / "fired"
        self._requests = directory / "requests"
        for folder in (self._rules, self._fired, self._requests):
            folder.mkdir(parents=True, exist_ok=True)

    def set(self, operation: str, rules: Iterable[Rule]) -> None:
        """Set the rules of an operation; its first step waits for them."""
        text = json.dumps([rule.model_dump(mode="json") for rule in rules])
        _write(self._rules / operation, text)

    def known(self, operation: str) -> bool:
        """Return whether the harness has made up its mind about an operation."""
        return (self._rules / operation).exists()

    def of(self, operation: str) -> tuple[Rule, ...]:
        """Return the rules of an operation."""
        try:
            found = json.loads((self._rules / operation).read_text())
        except FileNotFoundError:
            return ()
        return tuple(Rule.model_validate(rule) for rule in found)

    def fire(self, rule: Rule) -> bool:
        """Return whether a rule is to be obeyed now: each is obeyed once, by one process."""
        try:
            os.close(os.open(self._fired / rule.id, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def fired(self, rule: Rule) -> bool:
        """Return whether a rule was obeyed."""
        return (self._fired / rule.id).exists()

    def ask(self, what: str, seconds: float = ACKNOWLEDGED_SECONDS) -> None:
        """Ask the harness for a crash, and wait a moment for it to happen."""
        request = self._requests / new_uuid()
        _write(request, what)
        deadline = time.monotonic() + seconds
        while request.exists() and time.monotonic() < deadline:
            time.sleep(0.01)

    def requests(self) -> dict[Path, str]:
        """Return what was asked for; removing a file tells that it has happened."""
        found: dict[Path, str] = {}
        for path in self._requests.iterdir():
            if not path.name.endswith(".new"):
                with suppress(FileNotFoundError):
                    found[path] = path.read_text()
        return found


def _write(path: Path, text: str) -> None:
    new = path.with_suffix(f".{os.getpid()}.new")
    new.write_text(text)
    new.replace(path)
