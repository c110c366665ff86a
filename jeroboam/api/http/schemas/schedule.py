"""Schedules and what became of them, on the wire."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, StringConstraints

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.action import NodeWork
from jeroboam.api.http.schemas.base import (
    Labels,
    Link,
    Positive,
    RequestModel,
    ResponseModel,
    ShortText,
    Timestamp,
)
from jeroboam.models import OperationKind
from jeroboam.models.schedule import MOST_TIMES, Doings, Schedule, ScheduleRun

MOST_PARALLEL = 100
LONGEST_WAIT_MINUTES = 7 * 24 * 60
LONGEST_JITTER_SECONDS = 24 * 60 * 60
MOST_DAYS = 3650

ScheduleName = Annotated[
    str, StringConstraints(min_length=1, max_length=100, pattern=r"^[a-zA-Z][a-zA-Z0-9_.-]*$")
]


def _as_field(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


FieldText = Annotated[ShortText, BeforeValidator(_as_field)]
"""A field of a calendar; ``3`` and ``"3"`` mean the same."""

Moment = Annotated[AwareDatetime, AfterValidator(lambda value: value.astimezone(UTC))]


class Calendar(RequestModel):
    """Times by the fields of the wall clock; all that are given must fit."""

    second: FieldText | None = None
    minute: FieldText | None = None
    hour: FieldText | None = None
    day_of_month: FieldText | None = None
    month: FieldText | None = None
    day_of_week: FieldText | None = None
    year: FieldText | None = None

    def fields(self) -> dict[str, str]:
        """Return the fields that are given."""
        return self.model_dump(exclude_none=True)


class SelectorBody(RequestModel):
    """Which clusters; what is given must all fit. Administrators may name a project, or none."""

    project_id: ShortText | None = None
    driver: ShortText | None = None
    labels: Labels = Field(default_factory=dict)
    certificates_end_within_days: Annotated[int, Field(ge=1, le=MOST_DAYS)] | None = None


class UpgradeParameters(RequestModel):
    """What a scheduled upgrade moves to."""

    cluster_template: ShortText
    max_batch_size: Positive | None = None


class NoParameters(RequestModel):
    """A health check and a rotation of authorities have none."""


PARAMETERS: Mapping[OperationKind, type[RequestModel]] = {
    OperationKind.REBUILD: NodeWork,
    OperationKind.SOFT_REBOOT: NodeWork,
    OperationKind.HARD_REBOOT: NodeWork,
    OperationKind.UPGRADE: UpgradeParameters,
    OperationKind.CHECK_HEALTH: NoParameters,
    OperationKind.ROTATE_CA: NoParameters,
}


class Times(RequestModel):
    """When; either ``cron`` or ``calendar``."""

    cron: ShortText | None = None
    calendar: Calendar | None = None
    time_zone: ShortText = "UTC"
    start_at: Moment | None = None
    end_at: Moment | None = None


class ScheduleBody(Times):
    """A schedule as requests describe it, but for its name."""

    kind: Literal["rebuild", "soft_reboot", "hard_reboot", "upgrade", "check_health", "rotate_ca"]
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    cluster_id: ShortText | None = None
    selector: SelectorBody | None = None
    jitter_seconds: Annotated[int, Field(ge=0, le=LONGEST_JITTER_SECONDS)] = 0
    overlap: Literal["skip", "buffer_one", "buffer_all", "allow_all"] = "skip"
    catchup_minutes: Annotated[int, Field(ge=1, le=LONGEST_WAIT_MINUTES)] = 60
    max_parallel: Annotated[int, Field(ge=1, le=MOST_PARALLEL)] = 1
    when_busy: Literal["wait", "skip"] = "wait"
    wait_minutes: Annotated[int, Field(ge=0, le=LONGEST_WAIT_MINUTES)] = 60
    paused: bool = False
    note: ShortText | None = None


class ScheduleCreate(ScheduleBody):
    """Body of ``POST /v1/schedules``."""

    name: ScheduleName


class Note(RequestModel):
    """Body of ``pause`` and ``unpause``: why."""

    note: ShortText | None = None


class PreviewBody(Times):
    """Body of ``POST /v1/schedules/preview``."""

    count: Annotated[int, Field(ge=1, le=MOST_TIMES)] = MOST_TIMES


class Preview(ResponseModel):
    """The next times, each with the offset of the schedule's zone.

    Each time is put off by up to ``jitter_seconds``; those of a stored schedule are so already.
    """

    times: Sequence[str]
    time_zone: str
    jitter_seconds: int

    @classmethod
    def of(cls, schedule: Schedule, times: Sequence[datetime], count: int) -> "Preview":
        """Return the first times, as the schedule's clocks show them."""
        local = [at.astimezone(schedule.zone).isoformat(timespec="seconds") for at in times]
        return cls(
            times=local[:count],
            time_zone=schedule.time_zone,
            jitter_seconds=schedule.jitter_seconds,
        )


class ScheduleSummary(ResponseModel):
    """A schedule in a list. ``synced`` is false until Temporal has its last change."""

    uuid: str
    name: str
    project_id: str
    user_id: str
    kind: str
    parameters: Mapping[str, Any]
    cluster_id: str | None
    selector: Mapping[str, Any] | None
    all_projects: bool
    cron: str | None
    calendar: Mapping[str, str] | None
    time_zone: str
    jitter_seconds: int
    start_at: Timestamp | None
    end_at: Timestamp | None
    overlap: str
    catchup_minutes: int
    max_parallel: int
    when_busy: str
    wait_minutes: int
    paused: bool
    note: str | None
    synced: bool
    created_at: Timestamp
    updated_at: Timestamp | None
    links: list[Link]

    @classmethod
    def of(cls, schedule: Schedule, links: Links) -> "ScheduleSummary":
        """Return a schedule as it stands in a list."""
        return cls(**fields(schedule, links))


class ScheduleDetail(ScheduleSummary):
    """A schedule with what Temporal knows of it; null when Temporal does not answer.

    ``running`` are the runs at work, ``overlapped`` counts times that were left out as a run was
    still at work, ``missed`` those that were too old to be made up for.
    """

    next_times: Sequence[Timestamp] | None
    running: Sequence[str] | None
    overlapped: int | None
    missed: int | None

    @classmethod
    def build(
        cls, schedule: Schedule, doings: Doings | None, links: Links, temporal_url: str | None
    ) -> "ScheduleDetail":
        """Return a schedule with all that is known.

        Args:
            temporal_url: Its address in Temporal's UI, for those who may know.
        """
        found = fields(schedule, links)
        if temporal_url:
            found["links"] = [*found["links"], Link(rel="temporal", href=temporal_url)]
        told = dict.fromkeys(Doings.model_fields) if doings is None else doings.model_dump()
        return cls(**found, **told)


class ScheduleList(ResponseModel):
    """A page of schedules."""

    schedules: Sequence[ScheduleSummary]
    next: str | None = None


class Triggered(ResponseModel):
    """The answer to ``run``."""

    uuid: str
    message: str


class RunBody(ResponseModel):
    """What became of one cluster in one run; without a cluster it is a remark on the run."""

    uuid: str
    scheduled_at: Timestamp
    workflow_id: str
    cluster_id: str | None
    cluster_name: str | None
    operation_id: str | None
    state: str
    reason: str | None
    created_at: Timestamp
    updated_at: Timestamp
    ended_at: Timestamp | None

    @classmethod
    def of(cls, run: ScheduleRun) -> "RunBody":
        """Return an outcome as it stands in a list."""
        return cls(**run.model_dump(include=set(cls.model_fields)))


class RunList(ResponseModel):
    """A page of outcomes."""

    runs: Sequence[RunBody]
    next: str | None = None


def fields(schedule: Schedule, links: Links) -> dict[str, Any]:
    """Return what lists and details share."""
    own = ("links", "synced", "parameters")
    return {
        **schedule.model_dump(mode="python", include=set(ScheduleSummary.model_fields) - set(own)),
        "parameters": parameters(schedule),
        "synced": schedule.synced_revision == schedule.revision,
        "links": [
            *links.resource("schedules", schedule.uuid),
            Link(rel="runs", href=links.url("schedules", schedule.uuid, "runs")),
        ],
    }


def parameters(schedule: Schedule) -> dict[str, Any]:
    """Return the parameters in the words of requests."""
    given = schedule.parameters
    if PARAMETERS[schedule.kind] is NoParameters:
        return {}
    if schedule.kind is OperationKind.UPGRADE:
        return {"cluster_template": given.cluster_template_id, "max_batch_size": given.batch_size}
    found: dict[str, Any] = {"batch_size": given.batch_size}
    if given.node_groups:
        found["node_groups"] = list(given.node_groups)
    if given.nodes:
        found["nodes"] = list(given.nodes)
    return found
