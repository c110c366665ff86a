"""What policy says, read from the operator's file on this machine; nobody else is asked."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from oslo_policy.policy import RuleDefault

from jeroboam import settings
from jeroboam.api.http import coe
from jeroboam.api.http.app import ROUTERS
from jeroboam.api.http.authorization import Authorizer
from jeroboam.cli.client.problems import UsageError
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.models import Identity

IMPLIED: Mapping[str, str] = {"admin": "manager", "manager": "member", "member": "reader"}
"""Who has the first has the second too, as ``keystone-manage bootstrap`` arranges it."""


@dataclass(frozen=True)
class Target:
    """The owner of what a caller wants to touch."""

    project_id: str
    user_id: str


class PolicyBook:
    """The rules in force.

    Args:
        authorizer: As the API has it.
    """

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    @classmethod
    def open(cls, file: Path | None) -> "PolicyBook":
        """Read the rules of the core and of the drivers that are installed.

        Args:
            file: The operator's file; by default that of the settings.

        Raises:
            ConfigurationError: The file, or a setting, is wrong.
        """
        # What a broken driver means for the rules is that it has none.
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
        loaded = settings.load()
        authorizer = Authorizer(file or loaded.policy_file)
        drivers = [entry.driver for entry in DriverRegistry.load(loaded).entries()]
        taken = [str(getattr(one, "path", "")) for router in ROUTERS for one in router.routes]
        authorizer.put_drivers_rules(coe.rules(coe.collect(drivers, taken)))
        return cls(authorizer)

    @property
    def unknown(self) -> Mapping[str, str | None]:
        """The rules of the file that nothing asks, each with what may have been meant."""
        return self._authorizer.unknown

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield each rule with its default, what is in force, and the request that it is for."""
        overrides = self._authorizer.overrides
        for rule in self._authorizer.defaults:
            yield {
                "rule": rule.name,
                "in_force": overrides.get(rule.name, rule.check_str),
                "changed": rule.name in overrides,
                "default": rule.check_str,
                "request": _request(rule),
                "description": rule.description,
            }

    def sample(self) -> Iterator[str]:
        """Yield the lines of a policy file in which each rule is a comment."""
        for rule in self._authorizer.defaults:
            if rule.description:
                yield f"# {rule.description}"
            if request := _request(rule):
                yield f"# {request}"
            yield f'#"{rule.name}": "{rule.check_str}"'
            yield ""

    def verdicts(
        self, rules: Sequence[str], identity: Identity, target: Target
    ) -> Iterator[dict[str, Any]]:
        """Yield for each rule whether it permits a caller to touch a target.

        Args:
            rules: Their names; none means all that a request asks for.

        Raises:
            UsageError: There is no such rule.
        """
        caller = self._authorizer.recognise_admin(identity)
        known = {row["rule"]: row for row in self.rows()}
        for name in rules or [name for name, row in known.items() if row["request"]]:
            if name not in known:
                raise UsageError(f"There is no rule '{name}'; 'jeroboam policy list' has all.")
            permitted = self._authorizer.permits(name, caller, target)
            yield {
                "rule": name,
                "permitted": permitted,
                "in_force": known[name]["in_force"],
                "request": known[name]["request"],
            }


def with_implied(roles: Sequence[str]) -> tuple[str, ...]:
    """Return roles with those that they imply."""
    found = dict.fromkeys(role.strip() for role in roles if role.strip())
    for role in list(found):
        implied = IMPLIED.get(role.lower())
        while implied:
            found[implied] = None
            implied = IMPLIED.get(implied)
    return tuple(found)


def _request(rule: RuleDefault) -> str:
    operations = getattr(rule, "operations", ())
    return ", ".join(f"{one['method']} {one['path']}" for one in operations)
