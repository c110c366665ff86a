"""Declarations: which hook runs for which clusters, and how."""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints, model_validator

from jeroboam.models.base import Model, new_uuid, utc_now
from jeroboam.models.cluster import ClusterSpec
from jeroboam.models.kind import OperationKind
from jeroboam.models.plan import FailurePolicy, HookPhase, HookSource

LONGEST_TIMEOUT_SECONDS = 7 * 24 * 3600

HookName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$")]
"""Shown in the names of steps, and sent to webhooks."""

_SECRET_NAME = re.compile(r"passw|secret|token|credential|private|api_?key", re.IGNORECASE)


class HookScope(StrEnum):
    """For which clusters a hook runs."""

    ALL = "all"
    DRIVER = "driver"
    TEMPLATE = "template"
    PROJECT = "project"
    CLUSTER = "cluster"


class HookDeclaration(Model):
    """One hook that an operator wants to run. It never holds the hook's secret.

    Args:
        hook: For ``python``, the installed hook; by default the one with this name.
        phases: ``None`` stands for all that an installed hook has; others must say.
        operations: ``None`` stands for all.
        scope_id: Name of the driver, or uuid of the template, project or cluster.
        runs_after: Names of hooks that run earlier, of any source.
        timeout_seconds: For all attempts on living workers together, and once more for the wait for
            a late answer; ``None`` is what an installed hook says, else 300.
        on_failure: ``None`` is what an installed hook says, else ``fail``.
        options: For the hook; never secret.
        url: For ``webhook``, the target.
        argv: For ``command``, the program and its arguments; only the operator's file has it.
    """

    uuid: str = Field(default_factory=new_uuid)
    name: HookName
    source: HookSource
    hook: str | None = None
    phases: tuple[HookPhase, ...] | None = None
    operations: tuple[OperationKind, ...] | None = None
    scope: HookScope = HookScope.ALL
    scope_id: str | None = None
    runs_after: tuple[HookName, ...] = ()
    timeout_seconds: Annotated[int, Field(ge=1, le=LONGEST_TIMEOUT_SECONDS)] | None = None
    on_failure: FailurePolicy | None = None
    enabled: bool = True
    options: Mapping[str, Any] = Field(default_factory=dict)
    url: str | None = None
    argv: tuple[str, ...] = ()
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None

    @model_validator(mode="after")
    def _check(self) -> "HookDeclaration":
        """Refuse what contradicts itself; the text tells what to do."""
        complaint = next((text for wrong, text in self._complaints() if wrong), None)
        if complaint:
            raise ValueError(complaint)
        return self

    @property
    def installed_name(self) -> str | None:
        """The installed hook that this runs, if it runs one."""
        return self.hook or self.name if self.source is HookSource.PYTHON else None

    def concerns(self, spec: ClusterSpec) -> bool:
        """Whether the hook is meant for a cluster."""
        of_scope = {
            HookScope.DRIVER: spec.cluster.driver,
            HookScope.TEMPLATE: spec.template.uuid,
            HookScope.PROJECT: spec.cluster.project_id,
            HookScope.CLUSTER: spec.cluster.uuid,
        }
        return self.scope is HookScope.ALL or of_scope[self.scope] == self.scope_id

    def _complaints(self) -> tuple[tuple[bool, str], ...]:
        python = self.source is HookSource.PYTHON
        return (
            (
                self.source is HookSource.DRIVER,
                "A driver's own hooks cannot be declared: source is python, webhook or command.",
            ),
            (
                (self.url is None) == (self.source is HookSource.WEBHOOK),
                "A webhook needs 'url', and nothing else has it.",
            ),
            (
                bool(self.argv) != (self.source is HookSource.COMMAND),
                "A command needs 'argv', and nothing else has it.",
            ),
            (
                self.hook is not None and not python,
                "'hook' names an installed hook: only the source python has it.",
            ),
            (
                self.phases == () or (self.phases is None and not python),
                "Say in 'phases' when it runs: before, after, failure.",
            ),
            (self.operations == (), "'operations' is empty; leave it out to mean all."),
            (
                self.scope is not HookScope.ALL and not self.scope_id,
                f"The scope '{self.scope}' needs 'scope_id'.",
            ),
            (
                self.scope is HookScope.ALL and self.scope_id is not None,
                "The scope 'all' has no 'scope_id'.",
            ),
        )


def without_secrets(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels with the values hidden of those that seem to be secret, by their names."""
    return {key: "***" if _SECRET_NAME.search(key) else value for key, value in labels.items()}
