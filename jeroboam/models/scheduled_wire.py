"""What crosses the wire between a scheduled run, its activities and Temporal: names, then values.

As in ``wire``: no field may ever hold a secret.
"""

from datetime import datetime
from enum import StrEnum

from jeroboam.models.base import Model, RunInput
from jeroboam.models.kind import OperationKind
from jeroboam.models.parameters import Parameters
from jeroboam.models.schedule import RunState, Schedule, Selector, WhenBusy
from jeroboam.models.start import RunStart

SCHEDULED_OPERATION_WORKFLOW = "ScheduledOperation"
SYNC_SCHEDULES_WORKFLOW = "SyncSchedules"

EVENTS_PER_RUN = 4000
"""A run whose history is longer goes on in a new one; Temporal's own limit is 50,000."""

PAGE = 100
"""How many clusters are looked up at a time."""


class Order(Model):
    """What a run of a schedule does, as it was when the run began.

    Args:
        was_paused: Whether the schedule was paused already; a later pause holds the rest back.
    """

    schedule_id: str
    name: str
    project_id: str
    user_id: str
    kind: OperationKind
    parameters: Parameters
    cluster_id: str | None = None
    selector: Selector | None = None
    all_projects: bool = False
    max_parallel: int
    when_busy: WhenBusy
    wait_minutes: int
    was_paused: bool = False

    @classmethod
    def of(cls, schedule: Schedule) -> "Order":
        """Return what a schedule asks for now."""
        shared = set(cls.model_fields) & set(Schedule.model_fields)
        values = {name: getattr(schedule, name) for name in shared}
        return cls(**values, schedule_id=schedule.uuid, was_paused=schedule.paused)


class Candidate(Model):
    """A cluster that is to be worked on."""

    uuid: str
    name: str


class Deferred(Model):
    """A cluster whose turn comes later.

    Args:
        until: When to try again.
        deadline: When to give up.
        tries: How often it was tried.
    """

    cluster: Candidate
    until: datetime
    deadline: datetime
    tries: int


class Totals(Model):
    """How many clusters ended how."""

    succeeded: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, state: RunState) -> "Totals":
        """Return the totals with one more cluster."""
        name = state.lower()
        return self.model_copy(update={name: getattr(self, name) + 1})


class ScheduledRequest(RunInput):
    """The input of a scheduled run; the first two fields come from Temporal's schedule.

    The rest is what a run hands to its continuation, so that no history grows with the clusters.

    Args:
        revision: Of the schedule, as Temporal has it.
        scheduled_at: When the run was due.
        queue: Clusters that were looked up and not begun.
        after: Number of the last cluster that was looked up.
        exhausted: Whether there are no more to look up.
    """

    schedule_id: str
    revision: int = 0
    scheduled_at: datetime | None = None
    order: Order | None = None
    queue: tuple[Candidate, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    after: int = 0
    exhausted: bool = False
    totals: Totals = Totals()
    events_per_run: int = EVENTS_PER_RUN


class SelectInput(Model):
    """Which clusters to look up.

    Args:
        scheduled_by: Id of the schedule in Temporal that started the run, if one did.
        order: As it was when the run began; ``None`` the first time.
    """

    schedule_id: str
    workflow_id: str
    scheduled_at: datetime
    scheduled_by: str | None = None
    order: Order | None = None
    after: int = 0
    page: int = PAGE


class Selection(Model):
    """One page of clusters; without an order there is nothing to do."""

    order: Order | None = None
    clusters: tuple[Candidate, ...] = ()
    after: int = 0
    exhausted: bool = True


class AcceptInput(Model):
    """A cluster whose turn it is.

    Args:
        now: Time of the run, which is what maintenance windows are compared with.
        deadline: Until when it may wait.
    """

    order: Order
    cluster: Candidate
    workflow_id: str
    scheduled_at: datetime
    now: datetime
    deadline: datetime


class Verdict(StrEnum):
    """What becomes of a cluster whose turn it is."""

    ACCEPTED = "accepted"
    LATER = "later"
    OVER = "over"


class Acceptance(Model):
    """The answer to ``AcceptInput``.

    Args:
        start: For ``ACCEPTED``: the run to start.
        opens_at: For ``LATER``: when the maintenance window opens; ``None`` if it is busy.
        state: For ``OVER``: how it ended.
    """

    verdict: Verdict
    start: RunStart | None = None
    opens_at: datetime | None = None
    state: RunState | None = None
    reason: str | None = None


class CloseInput(Model):
    """An outcome to write down: that of an operation, or a failure to begin one."""

    order: Order
    cluster: Candidate
    workflow_id: str
    scheduled_at: datetime
    failure: str | None = None


class Closing(Model):
    """What is known of the operation.

    Args:
        state: How it ended; ``None`` while it has not.
        pending: Whether its run is yet to be started.
    """

    state: RunState | None = None
    pending: bool = False
