"""The plan of an operation: its steps as data, resolved once and kept in the run's history."""

from enum import StrEnum

from jeroboam.models.base import Model
from jeroboam.models.operation import OperationKind


class Action(StrEnum):
    """What a step does; each is one activity."""

    RUN_HOOK = "run_hook"
    ISSUE_CERTIFICATES = "issue_certificates"
    SUBMIT_CREATE = "submit_create"
    SUBMIT_DELETE = "submit_delete"
    WAIT_CREATED = "wait_created"
    WAIT_DELETED = "wait_deleted"
    COLLECT_OUTPUTS = "collect_outputs"
    REVOKE_CREDENTIALS = "revoke_credentials"


class FailurePolicy(StrEnum):
    """What a failed step means for the operation."""

    FAIL = "fail"
    WARN = "warn"
    IGNORE = "ignore"


class HookPhase(StrEnum):
    """When a hook runs."""

    BEFORE = "before"
    AFTER = "after"


class HookCall(Model):
    """Which hook a step runs.

    Args:
        name: Name of an installed hook; ``None`` is the driver's own.
    """

    phase: HookPhase
    name: str | None = None


class PlanStep(Model):
    """One step.

    Args:
        name: Unique within the plan; shown to users and operators.
        timeout_seconds: The longest that the step may take, its retries included. ``None`` gives
            it what is left of the operation's deadline.
        compensation: Actions, in order, that undo the step when a later one fails.
        hook: For ``RUN_HOOK``, which one.
    """

    name: str
    action: Action
    timeout_seconds: int | None = None
    compensation: tuple[Action, ...] = ()
    hook: HookCall | None = None
    on_failure: FailurePolicy = FailurePolicy.FAIL


class Plan(Model):
    """An operation's steps with the driver and the deadline that hold for all of them.

    Args:
        deadline_seconds: Time from the start of the run until the operation must have ended.
        rollback: Whether a failure is compensated, or what was built is kept for inspection.
    """

    kind: OperationKind
    driver: str
    driver_version: str
    cloud: str
    cluster_name: str
    project_id: str
    deadline_seconds: int
    rollback: bool = False
    steps: tuple[PlanStep, ...]
