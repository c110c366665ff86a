"""Schedules: which operation is repeated when, on which clusters, and how it went."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from uuid import UUID, uuid5
from zoneinfo import ZoneInfo

from pydantic import Field

from jeroboam.models.base import Model, new_uuid, utc_now
from jeroboam.models.calendar import Calendar, check_zone, parse_calendar, parse_cron
from jeroboam.models.kind import OperationKind
from jeroboam.models.parameters import Parameters

SCHEDULABLE = (
    OperationKind.REBUILD,
    OperationKind.SOFT_REBOOT,
    OperationKind.HARD_REBOOT,
    OperationKind.UPGRADE,
    OperationKind.CHECK_HEALTH,
    OperationKind.ROTATE_CA,
)
"""The kinds that make sense again and again; a resize or a delete by the clock does not."""

MOST_TIMES = 10
"""Temporal tells no more of a schedule's next times."""

_NAMESPACE = UUID("b3f3f2f8-6d0c-4c55-9d1b-3f3a6c1f5a70")


class Overlap(StrEnum):
    """What happens when the next time comes while the last run is still at work."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"
    ALLOW_ALL = "allow_all"


class WhenBusy(StrEnum):
    """What happens to a cluster on which another operation is at work."""

    WAIT = "wait"
    SKIP = "skip"


class Selector(Model):
    """Chooses clusters, anew at each run; what is given must all fit.

    Args:
        project_id: The clusters' project; ``None`` is every project.
        driver: Name of the driver that built them.
        labels: Labels that they have, with these values.
        certificates_end_within_days: One of their authorities ends so soon, or has ended.
    """

    project_id: str | None = None
    driver: str | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    certificates_end_within_days: int | None = None

    def fits(self, labels: Mapping[str, str]) -> bool:
        """Whether a cluster with these labels is chosen, if its project and driver fit."""
        return self.labels.items() <= labels.items()

    @property
    def words(self) -> str:
        """The choice as people read it."""
        parts = [
            *([f"project {self.project_id}"] if self.project_id else ()),
            *([f"driver {self.driver}"] if self.driver else ()),
            *(f"label {name}={value}" for name, value in sorted(self.labels.items())),
        ]
        chosen = f"clusters of {', '.join(parts)}" if parts else "all clusters"
        days = self.certificates_end_within_days
        return chosen if days is None else f"{chosen} whose certificates end within {days} days"


class Schedule(Model):
    """An operation that is started by the clock. The row is the truth; Temporal follows it.

    Args:
        name: Unique in the project and never changed, as it is part of the id in Temporal.
        user_id: Who made it; the operations that it starts are this user's.
        cluster_id: The one cluster that is meant; otherwise there is a selector.
        all_projects: Whether it may work on clusters of other projects than its own.
        cron: The times as a cron expression; otherwise there is a calendar.
        calendar: The times as texts by field; see ``models.calendar``.
        jitter_seconds: Each time is put off by up to this much, so that not all come at once.
        catchup_minutes: Times that were missed are made up for if they are not older than this.
        max_parallel: On how many clusters at a time.
        wait_minutes: How long to wait for a busy cluster or a maintenance window.
        revision: Number of the last change.
        synced_revision: The change that Temporal has; smaller means that it is yet to be told.
        deleted_at: When it was deleted; the row goes when Temporal has forgotten it too.
    """

    id: int | None = None
    uuid: str = Field(default_factory=new_uuid)
    name: str
    project_id: str
    user_id: str
    kind: OperationKind
    parameters: Parameters = Parameters()
    cluster_id: str | None = None
    selector: Selector | None = None
    all_projects: bool = False
    cron: str | None = None
    calendar: Mapping[str, str] | None = None
    time_zone: str = "UTC"
    jitter_seconds: int = 0
    start_at: datetime | None = None
    end_at: datetime | None = None
    overlap: Overlap = Overlap.SKIP
    catchup_minutes: int = 60
    max_parallel: int = 1
    when_busy: WhenBusy = WhenBusy.WAIT
    wait_minutes: int = 60
    paused: bool = False
    note: str | None = None
    revision: int = 1
    synced_revision: int = 0
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None
    deleted_at: datetime | None = None

    @property
    def temporal_id(self) -> str:
        """Its id in Temporal, which operators read."""
        return f"schedule/{self.project_id}/{self.name}"

    @property
    def calendars(self) -> Sequence[Calendar]:
        """Its times by the wall clock."""
        if self.cron is not None:
            return parse_cron(self.cron)
        return (parse_calendar(self.calendar or {}),)

    @property
    def zone(self) -> ZoneInfo:
        """The clocks that count."""
        return check_zone(self.time_zone)

    @property
    def times(self) -> str:
        """Its times as people read them."""
        if self.cron is not None:
            return f"cron '{self.cron}' {self.time_zone}"
        fields = ", ".join(f"{name} {text}" for name, text in (self.calendar or {}).items())
        return f"calendar {fields} {self.time_zone}"

    @property
    def words(self) -> str:
        """What it does, as people read it."""
        whom = f"cluster {self.cluster_id}" if self.selector is None else self.selector.words
        return f"{self.kind.words}: {whom}"


class Doings(Model):
    """What Temporal knows of a schedule.

    Args:
        next_times: The next times, jitter included.
        running: Runs that are at work.
        overlapped: How many times were left out, as a run was still at work.
        missed: How many times were missed for longer than the catch-up window.
    """

    next_times: tuple[datetime, ...] = ()
    running: tuple[str, ...] = ()
    overlapped: int = 0
    missed: int = 0


class RunState(StrEnum):
    """What became of one cluster in one run of a schedule."""

    WAITING = "WAITING"
    STARTED = "STARTED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"

    @property
    def ended(self) -> bool:
        """Whether nothing more will come of it."""
        return self not in {self.WAITING, self.STARTED}


class ScheduleRun(Model):
    """The outcome of one cluster in one run of a schedule.

    Args:
        workflow_id: The run in Temporal; all its clusters share it.
        scheduled_at: When it was due.
        cluster_id: ``None`` for a remark on the whole run, for example that no cluster fits.
        operation_id: The operation, if one was accepted.
        reason: Why it waits, failed or was left out.
    """

    id: int | None = None
    uuid: str
    schedule_id: str
    workflow_id: str
    scheduled_at: datetime
    cluster_id: str | None = None
    cluster_name: str | None = None
    operation_id: str | None = None
    state: RunState
    reason: str | None = None
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime = Field(default_factory=utc_now)
    ended_at: datetime | None = None


def run_uuid(schedule_id: str, workflow_id: str, cluster_id: str | None) -> str:
    """Return the uuid of a cluster's outcome: the same however often it is written."""
    return str(uuid5(_NAMESPACE, f"run:{schedule_id}:{workflow_id}:{cluster_id or ''}"))


def operation_uuid(schedule_id: str, workflow_id: str, cluster_id: str) -> str:
    """Return the uuid of the operation that a run starts on a cluster.

    The id of the run holds the time at which it was due, so a run that is repeated, reset or
    taken over finds the operation that it has started, and never starts a second one.
    """
    return str(uuid5(_NAMESPACE, f"operation:{schedule_id}:{workflow_id}:{cluster_id}"))
