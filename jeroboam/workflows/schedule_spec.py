"""A schedule as Temporal holds it, readable for operators. Pure."""

from collections.abc import Sequence
from datetime import timedelta

from temporalio.client import (
    Schedule as TemporalSchedule,
)
from temporalio.client import (
    ScheduleActionStartWorkflow,
    ScheduleCalendarSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.common import Priority

from jeroboam.models.calendar import Calendar
from jeroboam.models.schedule import Overlap, Schedule
from jeroboam.models.scheduled_wire import SCHEDULED_OPERATION_WORKFLOW, ScheduledRequest
from jeroboam.workflows.attributes import typed

BEHIND_PEOPLE = Priority(priority_key=4)
"""What people ask for goes first; 3 is the default."""

_OVERLAP = {
    Overlap.SKIP: ScheduleOverlapPolicy.SKIP,
    Overlap.BUFFER_ONE: ScheduleOverlapPolicy.BUFFER_ONE,
    Overlap.BUFFER_ALL: ScheduleOverlapPolicy.BUFFER_ALL,
    Overlap.ALLOW_ALL: ScheduleOverlapPolicy.ALLOW_ALL,
}


def temporal_schedule(schedule: Schedule, task_queue: str) -> TemporalSchedule:
    """Return what Temporal shall have of a schedule."""
    return TemporalSchedule(
        action=ScheduleActionStartWorkflow(
            SCHEDULED_OPERATION_WORKFLOW,
            ScheduledRequest(schedule_id=schedule.uuid, revision=schedule.revision),
            id=schedule.temporal_id,
            task_queue=task_queue,
            memo={"schedule_id": schedule.uuid, "schedule": schedule.name},
            typed_search_attributes=typed(attributes(schedule)),
            static_summary=schedule.words,
            static_details=details(schedule),
            priority=BEHIND_PEOPLE,
        ),
        spec=temporal_spec(schedule),
        policy=SchedulePolicy(
            overlap=_OVERLAP[schedule.overlap],
            catchup_window=timedelta(minutes=schedule.catchup_minutes),
        ),
        state=ScheduleState(paused=schedule.paused, note=schedule.note or schedule.words),
    )


def temporal_spec(schedule: Schedule) -> ScheduleSpec:
    """Return a schedule's times."""
    return ScheduleSpec(
        calendars=[_calendar(one, schedule.times) for one in schedule.calendars],
        jitter=timedelta(seconds=schedule.jitter_seconds) if schedule.jitter_seconds else None,
        start_at=schedule.start_at,
        end_at=schedule.end_at,
        time_zone_name=schedule.time_zone,
    )


def attributes(schedule: Schedule) -> dict[str, str]:
    """Return the search attributes of a schedule and of its runs."""
    found = {"ProjectId": schedule.project_id, "Operation": str(schedule.kind)}
    if schedule.cluster_id:
        found["ClusterId"] = schedule.cluster_id
    return found


def details(schedule: Schedule) -> str:
    """Return what operators read about a schedule, as Markdown."""
    lines = [
        f"**{schedule.words}**",
        "",
        f"* Times: {schedule.times}",
        f"* At most {schedule.max_parallel} clusters at a time",
        f"* Busy clusters: {schedule.when_busy}; longest wait {schedule.wait_minutes} minutes",
        f"* Schedule {schedule.uuid} of project {schedule.project_id}, made by {schedule.user_id}",
        "* Change it by Jeroboam's API: what is changed here is undone by the next change there.",
    ]
    return "\n".join(lines)


def _calendar(calendar: Calendar, comment: str) -> ScheduleCalendarSpec:
    return ScheduleCalendarSpec(
        second=ranges(calendar.second),
        minute=ranges(calendar.minute),
        hour=ranges(calendar.hour),
        day_of_month=ranges(calendar.day_of_month),
        month=ranges(calendar.month),
        day_of_week=ranges(calendar.day_of_week),
        year=ranges(calendar.year),
        comment=comment,
    )


def ranges(values: Sequence[int]) -> list[ScheduleRange]:
    """Return ascending numbers as few ranges, for people to read: 0, 5, 10 ... 55 is one."""
    found: list[ScheduleRange] = []
    start = 0
    while start < len(values):
        end = start
        step = values[start + 1] - values[start] if start + 1 < len(values) else 1
        while end + 1 < len(values) and values[end + 1] - values[end] == step:
            end += 1
        if step > 1 and end - start == 1:
            # Two numbers are no series; the second may begin one.
            end, step = start, 1
        found.append(ScheduleRange(values[start], values[end], step))
        start = end + 1
    return found
