"""Decides by policy what a caller may do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import structlog
from oslo_config import cfg
from oslo_policy import policy
from oslo_policy.policy import RuleDefault
from pydantic import BaseModel

from jeroboam.api.http import policies
from jeroboam.api.http.policy_file import PolicyFile
from jeroboam.errors import ConfigurationError, NotAuthorizedError
from jeroboam.models import Identity

log = structlog.get_logger(__name__)

Version = tuple[int, int, int] | None


class Owned(Protocol):
    """Something that belongs to a user of a project."""

    @property
    def project_id(self) -> str:
        """The project."""

    @property
    def user_id(self) -> str:
        """The user."""


class Authorizer:
    """The policy rules in force; reads the operator's file again when it changes.

    A changed file that cannot be used is refused with a line in the log, and what it said before
    holds on: an operator's slip neither opens the cloud nor shuts it.

    Args:
        policy_file: Overrides of the defaults, as YAML or JSON.

    Raises:
        ConfigurationError: The file does not exist, or cannot be used.
    """

    def __init__(self, policy_file: Path | None = None) -> None:
        if policy_file is not None and not policy_file.is_file():
            raise ConfigurationError(
                f"The policy file {policy_file} does not exist; correct JEROBOAM_POLICY_FILE."
            )
        self._path = policy_file.absolute() if policy_file else None
        self._options = cfg.ConfigOpts()
        self._options([], project="jeroboam", default_config_files=[], default_config_dirs=[])
        self._drivers: Sequence[RuleDefault] = ()
        self._warned: set[str] = set()
        self._version = _version_of(self._path)
        self._file = PolicyFile.read(self._path) if self._path else PolicyFile()
        self._enforcer = self._enforcer_of(self._file)

    @property
    def defaults(self) -> Sequence[RuleDefault]:
        """All rules with their defaults, those of drivers too."""
        return (*policies.list_rules(), *self._drivers)

    @property
    def overrides(self) -> Mapping[str, Any]:
        """What the operator's file says, as it is written there."""
        return self._file.values

    @property
    def unknown(self) -> Mapping[str, str | None]:
        """The rules of the file that nothing asks, each with the name that may have been meant."""
        return self._file.unknown(rule.name for rule in self.defaults)

    def put_drivers_rules(self, rules: Sequence[RuleDefault]) -> None:
        """Take the rules that drivers bring along in the place of those that they brought before.

        The operator's file overrides them as all others.
        """
        self._drivers = tuple(rules)
        self._enforcer = self._enforcer_of(self._file)
        self._warn()

    def recognise_admin(self, identity: Identity) -> Identity:
        """Return the identity with ``is_admin`` as the rule ``context_is_admin`` has it."""
        is_admin = self._permits("context_is_admin", {}, identity)
        return identity.model_copy(update={"is_admin": is_admin})

    def permits(self, rule: str, identity: Identity, target: Owned | None = None) -> bool:
        """Whether the caller may do something.

        Args:
            target: To what; without it, to what is the caller's own.
        """
        own = {"project_id": identity.project_id, "user_id": identity.user_id}
        return self._permits(rule, own if target is None else _described(target), identity)

    def require(
        self,
        rule: str,
        identity: Identity,
        target: Owned | None = None,
    ) -> None:
        """Refuse what policy does not allow.

        Args:
            target: The object in question; without one it is as if it were the caller's own.

        Raises:
            NotAuthorizedError: With the rule's name.
        """
        if not self.permits(rule, identity, target):
            raise NotAuthorizedError(f"Policy doesn't allow {rule} to be performed.")

    def require_for_all_projects(self, rule: str, identity: Identity) -> None:
        """Check an ``*_all_projects`` rule, which binds only those who see all projects."""
        if identity.is_admin:
            self.require(rule, identity)

    def _permits(self, rule: str, target: Mapping[str, Any], identity: Identity) -> bool:
        self._follow_file()
        return bool(self._enforcer.enforce(rule, dict(target), _credentials(identity)))

    def _follow_file(self) -> None:
        version = _version_of(self._path)
        if self._path is None or version == self._version:
            return
        self._version = version
        try:
            file = PolicyFile.read(self._path)
            enforcer = self._enforcer_of(file)
        except ConfigurationError as error:
            log.warning("policy_file_refused", reason=error.message, in_force="what it said before")
            return
        self._file, self._enforcer = file, enforcer
        log.info("policy_file_read", file=str(self._path), rules=len(file.values))
        self._warn()

    def _enforcer_of(self, file: PolicyFile) -> policy.Enforcer:
        # It is given its rules, and so reads no file: it would take any file that parses.
        rules = file.merged(self.defaults)
        return policy.Enforcer(self._options, rules=rules, default_rule="default", use_conf=False)

    def _warn(self) -> None:
        """Tell once of each rule in the file that nothing asks: most often a misspelt name."""
        for name, meant in self.unknown.items():
            if name not in self._warned:
                self._warned.add(name)
                log.warning("policy_rule_unknown", rule=name, meant=meant, file=str(self._path))


def _version_of(path: Path | None) -> Version:
    """Return what changes when a file does; ``None`` without one."""
    if path is None:
        return None
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _described(target: Owned) -> dict[str, Any]:
    """Return what checks like ``project_id:%(project_id)s`` can name of an object."""
    fields = target.model_dump(mode="json") if isinstance(target, BaseModel) else {}
    return {**fields, "project_id": target.project_id, "user_id": target.user_id}


def _credentials(identity: Identity) -> dict[str, Any]:
    """Return what checks can ask of a caller, by the names that Magnum's files use."""
    return {**identity.model_dump(), "roles": list(identity.roles)}
