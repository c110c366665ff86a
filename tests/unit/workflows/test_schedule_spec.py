"""Schedules as Temporal holds them."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from temporalio.client import (
    ScheduleActionStartWorkflow,
    ScheduleOverlapPolicy,
    ScheduleRange,
)

from jeroboam.models import OperationKind
from jeroboam.models.schedule import Overlap, Schedule, Selector
from jeroboam.workflows.schedule_spec import ranges, temporal_schedule

SCHEDULE = Schedule(
    name="nightly",
    project_id="p1",
    user_id="u1",
    kind=OperationKind.UPGRADE,
    selector=Selector(labels={"tier": "test"}),
    cron="*/15 2-4 * * mon-fri",
    time_zone="Europe/Berlin",
    jitter_seconds=30,
    overlap=Overlap.BUFFER_ONE,
    catchup_minutes=5,
    max_parallel=3,
)


@given(st.sets(st.integers(0, 59)).map(sorted))
def test_ranges_mean_the_same(values: list[int]) -> None:
    """Ranges hold exactly the numbers that they were made of, each once."""
    found = [n for one in ranges(values) for n in range(one.start, one.end + 1, one.step)]
    assert found == values


def test_ranges_are_few() -> None:
    """A series is one range, as a person would write it."""
    assert ranges(list(range(0, 60, 15))) == [ScheduleRange(0, 45, 15)]
    assert ranges([1, 2, 3, 4, 5]) == [ScheduleRange(1, 5, 1)]
    assert ranges([3, 8]) == [ScheduleRange(3, 3, 1), ScheduleRange(8, 8, 1)]
    assert ranges([7]) == [ScheduleRange(7, 7, 1)]


def test_schedule() -> None:
    """Times, policies and words reach Temporal."""
    found = temporal_schedule(SCHEDULE, "queue")
    (calendar,) = found.spec.calendars
    assert list(calendar.hour) == [ScheduleRange(2, 4, 1)]
    assert list(calendar.minute) == [ScheduleRange(0, 45, 15)]
    assert list(calendar.day_of_week) == [ScheduleRange(1, 5, 1)]
    assert calendar.comment == "cron '*/15 2-4 * * mon-fri' Europe/Berlin"
    assert found.spec.time_zone_name == "Europe/Berlin"
    assert found.spec.jitter == timedelta(seconds=30)
    assert found.policy.overlap is ScheduleOverlapPolicy.BUFFER_ONE
    assert found.policy.catchup_window == timedelta(minutes=5)
    assert found.state.note == "upgrade: clusters of label tier=test"
    action = found.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    assert action.id == "schedule/p1/nightly"
    assert action.task_queue == "queue"
    assert action.static_summary == "upgrade: clusters of label tier=test"
    assert "At most 3 clusters at a time" in str(action.static_details)
