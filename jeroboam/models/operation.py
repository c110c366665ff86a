"""Operations: what is asked of a cluster, and the record of how it went."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from jeroboam.models.base import Model, new_uuid, utc_now
from jeroboam.models.cluster import ClusterOutputs, Status


class OperationKind(StrEnum):
    """The lifecycle operations."""

    CREATE = "create"
    DELETE = "delete"


class OperationState(StrEnum):
    """Where an operation stands.

    ``PENDING`` rows are accepted and wait for their run to start; ``REJECTED`` ones lost the race
    for the cluster and never ran.
    """

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPENSATING = "COMPENSATING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    REJECTED = "REJECTED"

    @property
    def active(self) -> bool:
        """Whether the operation holds the cluster, or is about to."""
        return self in {self.PENDING, self.RUNNING, self.COMPENSATING}


class StepState(StrEnum):
    """Where a step stands."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    WARNED = "WARNED"
    CANCELLED = "CANCELLED"


class StepRecord(Model):
    """What happened to one step of the plan."""

    name: str
    state: StepState = StepState.PENDING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None


class StepNote(Model):
    """An advisory remark of a running step: its attempts, its last error, how far it is.

    State is the workflow's to write; a note never changes it.
    """

    operation_id: str
    step: str
    attempt: int = 1
    message: str
    noted_at: datetime = Field(default_factory=utc_now)


class Operation(Model):
    """One requested change of one cluster.

    Args:
        seq: Number of the last transition that was written; a lower one is refused.
        run_id: The Temporal run, for a link into its UI.
        reason: Why it failed or was cancelled, in words for the user.
    """

    uuid: str = Field(default_factory=new_uuid)
    kind: OperationKind
    cluster_id: str
    cluster_name: str
    project_id: str
    user_id: str
    request_id: str
    rollback: bool = False
    state: OperationState = OperationState.PENDING
    seq: int = 0
    steps: tuple[StepRecord, ...] = ()
    reason: str | None = None
    run_id: str | None = None
    created_at: datetime = Field(default_factory=utc_now)
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def current_step(self) -> str | None:
        """Name of the step at work, if any."""
        running = (step.name for step in self.steps if step.state is StepState.RUNNING)
        return next(running, None)


class Transition(Model):
    """One write of an operation's state, with what it means for the cluster's row.

    Applied only when ``seq`` is above the stored one, so a late or repeated write does no harm.

    Args:
        at: Workflow time of the transition.
        cluster_status: New status of the cluster and its node groups; ``None`` leaves it.
        stack_id: Backend id to store; ``None`` leaves it.
        outputs: Outputs to store; ``None`` leaves them.
        remove_cluster: Delete the cluster's row, its node groups and secrets. The operation stays.
    """

    operation_id: str
    cluster_id: str
    seq: int
    at: datetime
    state: OperationState
    run_id: str | None = None
    steps: tuple[StepRecord, ...] = ()
    reason: str | None = None
    cluster_status: Status | None = None
    status_reason: str | None = None
    faults: Mapping[str, str] = Field(default_factory=dict)
    stack_id: str | None = None
    outputs: ClusterOutputs | None = None
    remove_cluster: bool = False
