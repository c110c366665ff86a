"""Operations: what is asked of a cluster, and the record of how it went."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from jeroboam.models.base import Model, new_uuid, utc_now
from jeroboam.models.cluster import ClusterOutputs, Health, Status
from jeroboam.models.kind import OperationKind
from jeroboam.models.parameters import Parameters
from jeroboam.models.plan import Plan


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

    @property
    def done(self) -> bool:
        """Whether a retry passes over it."""
        return self in {self.SUCCEEDED, self.WARNED}


class StepRecord(Model):
    """What happened to one step of the plan.

    Args:
        result: What it found or did, in words: a hook's answer, what was left in the cloud.
        undoes: Whether it is a step of the roll-back.
        seq: The transition that wrote it last, as the store has noted.
    """

    name: str
    state: StepState = StepState.PENDING
    started_at: datetime | None = None
    ended_at: datetime | None = None
    error: str | None = None
    result: str | None = None
    undoes: bool = False
    seq: int = 0


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
        rollback: Whether a failure is compensated.
        plan: The resolved plan; ``None`` until the run has made it.
        undone: Whether a roll-back has finished, so that a retry begins at the first step.
        schedule_id: The schedule that asked for it, if no person did.
        previous_statuses: Statuses by uuid of the cluster and its node groups before, for a
            request that loses the race.
        seq: Number of the last transition that was written; a lower one of its run is refused.
        run_id: The Temporal run that writes the record, for a link into its UI.
        reason: Why it failed or was cancelled, in words for the user.
    """

    uuid: str = Field(default_factory=new_uuid)
    kind: OperationKind
    cluster_id: str
    cluster_name: str
    project_id: str
    user_id: str
    request_id: str
    parameters: Parameters = Parameters()
    rollback: bool = False
    plan: Plan | None = None
    undone: bool = False
    schedule_id: str | None = None
    previous_statuses: Mapping[str, str] = Field(default_factory=dict)
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
        steps: The steps that changed since the last transition, and no others: a run's history
            must not grow with the square of its steps.
        undone: Whether a roll-back has finished.
        cluster_status: New status of the cluster; ``None`` leaves it.
        node_groups: uuids of the groups that get ``node_group_status``; ``None`` means all, and
            none those that are in progress.
        node_group_status: New status of those groups; ``None`` leaves it.
        stack_id: Backend id to store; ``None`` leaves it.
        node_group_stacks: Backend ids of node groups to store, by uuid.
        outputs: Outputs to store; ``None`` leaves them.
        health: Health to store; ``None`` leaves it.
        labels: Labels that a hook adds to the cluster's.
        commit: Make the operation's target the cluster's record: sizes, template, node groups.
        put_back: Give cluster and groups the statuses that they had before the operation: it was
            refused before it had touched anything.
        remove_node_group: uuid of a node group whose row is deleted.
        remove_cluster: Delete the cluster's row, its node groups and secrets. The operation stays.
    """

    operation_id: str
    cluster_id: str
    seq: int
    at: datetime
    state: OperationState
    run_id: str | None = None
    steps: tuple[StepRecord, ...] = ()
    undone: bool = False
    reason: str | None = None
    cluster_status: Status | None = None
    status_reason: str | None = None
    node_groups: tuple[str, ...] | None = None
    node_group_status: Status | None = None
    faults: Mapping[str, str] = Field(default_factory=dict)
    stack_id: str | None = None
    node_group_stacks: Mapping[str, str] = Field(default_factory=dict)
    outputs: ClusterOutputs | None = None
    health: Health | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    commit: bool = False
    put_back: bool = False
    remove_node_group: str | None = None
    remove_cluster: bool = False


class Recorded(StrEnum):
    """What became of a transition.

    ``STALE`` was written before. ``ENDED`` tells a run that its operation ended without it, and
    ``OTHER_RUN`` that another run works on it: such a run must stop and touch nothing.
    """

    WRITTEN = "WRITTEN"
    STALE = "STALE"
    OTHER_RUN = "OTHER_RUN"
    ENDED = "ENDED"
