"""Decides by policy what a caller may do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from oslo_config import cfg
from oslo_policy import policy
from oslo_policy.policy import RuleDefault

from jeroboam.api.http import policies
from jeroboam.errors import ConfigurationError, NotAuthorizedError
from jeroboam.models import Identity


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

    Args:
        policy_file: Overrides of the defaults, as YAML or JSON.

    Raises:
        ConfigurationError: The file does not exist.
    """

    def __init__(self, policy_file: Path | None = None) -> None:
        if policy_file is not None and not policy_file.is_file():
            raise ConfigurationError(
                f"The policy file {policy_file} does not exist; correct JEROBOAM_POLICY_FILE."
            )
        options = cfg.ConfigOpts()
        options([], project="jeroboam", default_config_files=[], default_config_dirs=[])
        self._enforcer = policy.Enforcer(
            options,
            policy_file=str(policy_file.absolute()) if policy_file else "no-policy-file",
        )
        # The directories that oslo.policy would search are those of other services.
        options.set_override("policy_dirs", [], group="oslo_policy")
        self._of_drivers: frozenset[str] = frozenset()
        self._enforcer.register_defaults(policies.list_rules())
        try:
            self._enforcer.load_rules()
        except Exception as error:
            raise ConfigurationError(
                f"The policy file {policy_file} cannot be read: {error}"
            ) from error

    def put_drivers_rules(self, rules: Sequence[RuleDefault]) -> None:
        """Take the rules that drivers bring along in the place of those that they brought before.

        The operator's file overrides them as all others.
        """
        for name in self._of_drivers:
            self._enforcer.registered_rules.pop(name, None)
            if name not in self._enforcer.file_rules:
                self._enforcer.rules.pop(name, None)
        self._of_drivers = frozenset(rule.name for rule in rules)
        self._enforcer.register_defaults(rules)
        self._enforcer.load_rules(force_reload=True)

    def recognise_admin(self, identity: Identity) -> Identity:
        """Return the identity with ``is_admin`` as the rule ``context_is_admin`` has it."""
        is_admin = self._permits("context_is_admin", {}, identity)
        return identity.model_copy(update={"is_admin": is_admin})

    def permits(self, rule: str, identity: Identity) -> bool:
        """Whether the caller may do something to what is the caller's own."""
        own = {"project_id": identity.project_id, "user_id": identity.user_id}
        return self._permits(rule, own, identity)

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
        owner = identity if target is None else target
        owned = {"project_id": owner.project_id, "user_id": owner.user_id}
        if not self._permits(rule, owned, identity):
            raise NotAuthorizedError(f"Policy doesn't allow {rule} to be performed.")

    def require_for_all_projects(self, rule: str, identity: Identity) -> None:
        """Check an ``*_all_projects`` rule, which binds only those who see all projects."""
        if identity.is_admin:
            self.require(rule, identity)

    def _permits(self, rule: str, target: dict[str, str], identity: Identity) -> bool:
        credentials: dict[str, Any] = {
            "user_id": identity.user_id,
            "project_id": identity.project_id,
            "roles": list(identity.roles),
            "is_admin": identity.is_admin,
        }
        return bool(self._enforcer.enforce(rule, target, credentials))
