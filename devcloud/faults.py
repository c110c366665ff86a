"""Faults that tests inject: rules in a file which all services look at.

A rule says what it concerns (a server in Nova, the call-back of a simulated node, a request
to an API), when it applies and what happens then. The services check the file's time stamp
on each occasion, so a rule works from the next request on, in all processes, without a port.
"""

import contextlib
import fcntl
import fnmatch
import json
import re
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from devcloud.errors import UsageError
from devcloud.layout import write_private

ACTIONS = {
    "server": ("fail", "delay"),
    "reboot": ("fail", "delay"),
    "node": ("fail", "delay", "drop"),
    "api": ("fail", "delay", "drop"),
}
"""What can be done to each kind of target."""

FAILURES = range(400, 600)
"""HTTP statuses that tell of a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One rule.

    Attributes:
        target: ``server`` (Nova's spawn, of a rebuild too), ``reboot`` (of a server), ``node`` (a
            simulated node's call-back) or ``api``.
        action: ``fail``, ``delay`` or ``drop``. A dropped call-back is never made; a dropped
            request has its connection closed without an answer.
        name: Pattern (``*`` and ``?``) for the server's name; all targets but api.
        service: Which API; target api.
        method: HTTP method or ``*``; target api.
        path: Regular expression searched for in path and query; target api.
        nth: The rule applies from its n-th match on, counted from 1.
        count: How many matches it applies to; None for all that follow.
        until: Seconds since the epoch after which it no longer applies.
        message: Reason given by a failure.
        seconds: Length of a delay.
        status: HTTP status of a failing API.
        id: Name of the rule, for listing and removing it.
        matches: How often it has matched so far; kept by the services.
    """

    target: str
    action: str
    name: str = "*"
    service: str = ""
    method: str = "*"
    path: str = ""
    nth: int = 1
    count: int | None = None
    until: float | None = None
    message: str = "fault injected by devcloud"
    seconds: float = 0.0
    status: int = 503
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    matches: int = 0

    def __post_init__(self) -> None:
        """Refuse rules that could never apply or mean nothing."""
        if self.action not in ACTIONS.get(self.target, ()):
            raise UsageError(f"A fault cannot {self.action!r} a {self.target!r}.")
        if self.target == "api" and not self.service:
            raise UsageError("A fault of an API must name the service.")
        if self.action == "delay" and self.seconds <= 0:
            raise UsageError("A delay must last longer than 0 seconds.")
        if self.nth < 1 or (self.count is not None and self.count < 1):
            raise UsageError("A fault counts matches from 1.")
        if self.status not in FAILURES:
            raise UsageError(f"{self.status} is no HTTP status of a failure.")
        try:
            re.compile(self.path)
        except re.error as error:
            raise UsageError(f"{self.path!r} is no regular expression: {error}.") from None

    def concerns(
        self, *, name: str = "", service: str = "", method: str = "", path: str = ""
    ) -> bool:
        """Tell whether the rule is about this server, node or request."""
        if self.until is not None and time.time() > self.until:
            return False
        if self.target != "api":
            return fnmatch.fnmatchcase(name, self.name)
        return (
            self.service == service
            and self.method in ("*", method)
            and re.search(self.path, path) is not None
        )

    def counted(self) -> "Fault":
        """Return the rule after one more match."""
        return replace(self, matches=self.matches + 1)

    def describe(self) -> str:
        """Return the rule in words."""
        if self.target == "api":
            subject = f"{self.service} {self.method} /{self.path}/"
        else:
            subject = self.name
        effect = {"fail": self.message, "delay": f"{self.seconds:g} s", "drop": ""}[self.action]
        if self.target == "api" and self.action == "fail":
            effect = str(self.status)
        last = "" if self.count is None else self.nth + self.count - 1
        return (
            f"{self.target} {subject}: {self.action} {effect}".rstrip()
            + f" (matches {self.nth}-{last}, so far {self.matches})"
        )

    @property
    def applies(self) -> bool:
        """Whether the match counted last is one that the rule acts on."""
        late = self.count is not None and self.matches >= self.nth + self.count
        return self.matches >= self.nth and not late


class FaultFile:
    """The rules of one devcloud."""

    def __init__(self, path: Path) -> None:
        """Name the file; it need not exist."""
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._rules: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Add a rule and return it."""
        with self._exclusive() as rules:
            self._write([*rules, fault])
        return fault

    def rules(self) -> list[Fault]:
        """Return all rules, the oldest first."""
        try:
            stat = self._path.stat()
        except FileNotFoundError:
            return []
        stamp = (stat.st_mtime_ns, stat.st_ino)
        if stamp != self._stamp:
            with contextlib.suppress(FileNotFoundError):
                stored = json.loads(self._path.read_text(encoding="utf-8"))
                self._rules = [Fault(**rule) for rule in stored]
                self._stamp = stamp
        return list(self._rules)

    def clear(self, identifier: str | None = None) -> int:
        """Remove one rule or all, and return how many were removed."""
        with self._exclusive() as rules:
            kept = [r for r in rules if identifier is not None and r.id != identifier]
            self._write(kept)
        return len(rules) - len(kept)

    def fire(self, target: str, **subject: str) -> list[Fault]:
        """Count a match with each rule that concerns the subject.

        Args:
            target: Kind of the subject.
            **subject: What ``Fault.concerns`` compares with.

        Returns:
            The rules that apply now.
        """
        if not any(r.target == target and r.concerns(**subject) for r in self.rules()):
            return []
        with self._exclusive() as rules:
            hit = {r.id for r in rules if r.target == target and r.concerns(**subject)}
            counted = [r.counted() if r.id in hit else r for r in rules]
            self._write(counted)
        return [r for r in counted if r.id in hit and r.applies]

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[list[Fault]]:
        """Hold the rules still while they are read and rewritten."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.with_suffix(".lock").open("w", encoding="utf-8") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield self.rules()

    def _write(self, rules: list[Fault]) -> None:
        write_private(self._path, json.dumps([asdict(r) for r in rules], indent=1) + "\n")
