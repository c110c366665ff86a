"""The plan of an operation: its steps as data, resolved once and kept in the run's history."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import Field

from jeroboam.models.base import Model
from jeroboam.models.kind import OperationKind


class Action(StrEnum):
    """What a step does; each is one activity.

    ``SUBMIT`` calls the driver, ``WAIT`` waits until the backend has done what was submitted.
    ``DRAIN`` empties nodes that will go, ``UNDRAIN`` lets work onto those that stay after all.
    ``TURN_CERTIFICATES`` takes the stored authorities one stage further, or back.
    ``MAKE_ACCOUNT`` makes the user of programs in the cluster, ``HAND_ACCOUNT`` gives it to them,
    ``RESTORE_ACCOUNT`` puts the former one back, ``REMOVE_ACCOUNTS`` removes all others.
    """

    RUN_HOOK = "run_hook"
    ISSUE_CERTIFICATES = "issue_certificates"
    SUBMIT = "submit"
    WAIT = "wait"
    DRAIN = "drain"
    UNDRAIN = "undrain"
    COLLECT_OUTPUTS = "collect_outputs"
    CHECK_HEALTH = "check_health"
    FIND_LEFTOVERS = "find_leftovers"
    TRY_CREDENTIALS = "try_credentials"
    REVOKE_CREDENTIALS = "revoke_credentials"
    TURN_CERTIFICATES = "turn_certificates"
    MAKE_ACCOUNT = "make_account"
    HAND_ACCOUNT = "hand_account"
    RESTORE_ACCOUNT = "restore_account"
    REMOVE_ACCOUNTS = "remove_accounts"


class Method(StrEnum):
    """The driver's method that a step calls, or whose end it waits for."""

    CREATE_CLUSTER = "create_cluster"
    UPDATE_CLUSTER = "update_cluster"
    DELETE_CLUSTER = "delete_cluster"
    CREATE_NODE_GROUP = "create_node_group"
    DELETE_NODE_GROUP = "delete_node_group"
    UPGRADE_NODE_GROUP = "upgrade_node_group"
    REBOOT_NODES = "reboot_nodes"
    REBUILD_NODES = "rebuild_nodes"
    ROTATE_CREDENTIAL = "rotate_credential"
    RENEW_CERTIFICATES = "renew_certificates"

    @property
    def removes(self) -> bool:
        """Whether what it works on is gone when it has succeeded."""
        return self in {self.DELETE_CLUSTER, self.DELETE_NODE_GROUP}


class BackendCall(Model):
    """What a step asks of the driver.

    Args:
        submitted_by: Name of the step that submits it; a ``WAIT`` and a repeated submission share
            that step's idempotency key.
        node_group: uuid of the group that is meant.
        nodes: Names of the nodes that are meant.
        batch_size: How many nodes the backend may replace at a time.
        hard: Of a reboot, whether it is a power cycle.
        restore: Whether the cluster is led back to its recorded state, instead of to the target.
    """

    method: Method
    submitted_by: str
    node_group: str | None = None
    nodes: tuple[str, ...] = ()
    nodes_to_remove: tuple[str, ...] = ()
    batch_size: int | None = None
    hard: bool = False
    restore: bool = False


class FailurePolicy(StrEnum):
    """What a failed step means for the operation."""

    FAIL = "fail"
    WARN = "warn"
    IGNORE = "ignore"


class HookPhase(StrEnum):
    """When a hook runs."""

    BEFORE = "before"
    AFTER = "after"
    FAILURE = "failure"


class HookSource(StrEnum):
    """Where a hook comes from."""

    DRIVER = "driver"
    PYTHON = "python"
    WEBHOOK = "webhook"
    COMMAND = "command"


class HookCall(Model):
    """Which hook a step runs.

    Args:
        name: Name of the installed or declared hook; ``None`` is the driver's own.
        declaration: uuid of the stored declaration, or name of the one in the settings file; its
            options and secrets are read when the hook runs and never get into history.
    """

    phase: HookPhase
    source: HookSource = HookSource.DRIVER
    name: str | None = None
    declaration: str | None = None


class CertificateTurn(StrEnum):
    """What happens to the stored authorities of a cluster; see ``certificate_sets``."""

    STAGE = "stage"
    PROMOTE = "promote"
    DEMOTE = "demote"
    RETIRE = "retire"
    REINSTATE = "reinstate"
    DROP = "drop"


class PlanStep(Model):
    """One step.

    Args:
        name: Unique within the plan; shown to users and operators.
        timeout_seconds: The longest that the step may take, its retries included. ``None`` gives
            it what is left of the operation's deadline. Of a hook only its attempts count.
        undo: Steps, in order, that undo this one when it or a later one fails.
        call: For ``SUBMIT`` and ``WAIT``, what is asked of the driver.
        hook: For ``RUN_HOOK``, which one.
        trusts: For ``TRY_CREDENTIALS``, ``REVOKE_CREDENTIALS`` and ``MAKE_ACCOUNT``, ids of trusts;
            empty is the cluster's own.
        turn: For ``TURN_CERTIFICATES``, which way.
    """

    name: str
    action: Action
    timeout_seconds: int | None = None
    undo: tuple["PlanStep", ...] = ()
    call: BackendCall | None = None
    hook: HookCall | None = None
    trusts: tuple[str, ...] = ()
    turn: CertificateTurn | None = None
    on_failure: FailurePolicy = FailurePolicy.FAIL


class Plan(Model):
    """An operation's steps with the driver and the deadline that hold for all of them.

    Args:
        driver_queue: The task queue of the driver's own workers; ``None`` if it runs in any.
        deadline_seconds: Time from the start of the run until the operation must have ended.
        rollback: Whether a failure is compensated, or what was built is kept for inspection.
        node_groups: uuids of the groups whose status the operation changes; ``None`` means all.
        changes: What will be different, in words: from, to.
        final: Steps that cannot be undone. They begin when the target is the record, and nothing
            stops them; what goes wrong in them is only noted.
        on_failure: Hooks that run when the operation has failed, after the roll-back.
    """

    kind: OperationKind
    driver: str
    driver_version: str
    driver_queue: str | None = None
    cloud: str
    cluster_name: str
    project_id: str
    deadline_seconds: int
    rollback: bool = False
    node_groups: tuple[str, ...] | None = None
    changes: Mapping[str, str] = Field(default_factory=dict)
    steps: tuple[PlanStep, ...]
    final: tuple[PlanStep, ...] = ()
    on_failure: tuple[PlanStep, ...] = ()
