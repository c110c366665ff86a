"""Schedules on a real Temporal server, by the real clock."""

import asyncio
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from temporalio.client import Client, ScheduleActionStartWorkflow

from jeroboam.errors import ConflictError
from jeroboam.models import OperationKind, OperationState, utc_now
from jeroboam.models.calendar import next_times
from jeroboam.models.schedule import Overlap, RunState, Schedule, Selector
from tests.integration.schedules.scheduling import EVERY_SECOND, Scheduling, a_schedule

EVERY_TWO_SECONDS = "*/2 * * * * * *"


async def test_fires(scheduling: Scheduling) -> None:
    """A schedule starts an operation at each of its times, and each has an outcome."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(cron=EVERY_TWO_SECONDS, cluster_id=cluster.uuid)
    found = await scheduling.until(
        schedule, lambda runs: sum(one.state is RunState.SUCCEEDED for one in runs) > 1
    )
    await scheduling.remove(schedule)
    assert len({one.operation_id for one in found}) == len({one.workflow_id for one in found})
    assert {one.cluster_name for one in found} == {cluster.name}
    for one in found[:2]:
        assert one.scheduled_at.second % 2 == 0
        assert one.workflow_id == f"{schedule.temporal_id}-{one.scheduled_at:%Y-%m-%dT%H:%M:%SZ}"
    operation = (await scheduling.operations(schedule))[0]
    assert operation.kind is OperationKind.CHECK_HEALTH
    assert (operation.user_id, operation.project_id) == ("u1", "p1")


async def test_overlap_skips(scheduling: Scheduling) -> None:
    """With ``skip``, times that come while a run is at work are left out."""
    cluster = await scheduling.cluster(fake_reboot_seconds="4")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT, cron=EVERY_SECOND, cluster_id=cluster.uuid
    )
    await scheduling.until(schedule, bool)
    await asyncio.sleep(3)
    assert len(await scheduling.outcomes(schedule)) == 1
    doings = await scheduling.client.doings(schedule)
    assert doings.overlapped >= 1
    assert len(doings.running) == 1
    with pytest.raises(ConflictError, match="still at work"):
        await scheduling.client.trigger(schedule)
    await scheduling.remove(schedule)
    await scheduling.until(schedule, lambda runs: all(one.state.ended for one in runs))


async def test_overlap_allowed_waits_for_the_cluster(scheduling: Scheduling) -> None:
    """Runs that overlap never work on one cluster at once: the later waits, or leaves it out."""
    cluster = await scheduling.cluster(fake_reboot_seconds="2")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT,
        cron=EVERY_SECOND,
        cluster_id=cluster.uuid,
        overlap=Overlap.ALLOW_ALL,
        wait_minutes=0,
    )
    found = await scheduling.until(
        schedule, lambda runs: sum(one.state is RunState.SKIPPED for one in runs) > 1
    )
    await scheduling.remove(schedule)
    reason = next(one.reason for one in found if one.state is RunState.SKIPPED)
    assert reason is not None
    assert "Busy with operation" in reason
    assert "(soft_reboot)" in reason


async def test_pause_and_run_now(scheduling: Scheduling) -> None:
    """A paused schedule starts nothing by itself, and one run when it is asked to."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(cron=EVERY_SECOND, cluster_id=cluster.uuid, paused=True)
    await asyncio.sleep(2.5)
    assert await scheduling.outcomes(schedule) == []
    await scheduling.client.trigger(schedule)
    found = await scheduling.until(schedule, lambda runs: bool(runs) and runs[0].state.ended)
    assert [one.state for one in found] == [RunState.SUCCEEDED]
    await scheduling.change(schedule, paused=False)
    await scheduling.until(schedule, lambda runs: len(runs) > 1)
    await scheduling.remove(schedule)


async def test_end_date(scheduling: Scheduling) -> None:
    """After its end a schedule starts nothing more, and upkeep leaves it alone."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(
        cron=EVERY_SECOND, cluster_id=cluster.uuid, end_at=utc_now() + timedelta(seconds=3)
    )
    await scheduling.until(schedule, bool)
    await asyncio.sleep(4)
    count = len(await scheduling.outcomes(schedule))
    await asyncio.sleep(2)
    assert len(await scheduling.outcomes(schedule)) == count
    assert await scheduling.client.sync_all() == 0
    await scheduling.remove(schedule)


async def test_start_date(scheduling: Scheduling) -> None:
    """Before its start a schedule starts nothing, and its next times are after it."""
    start = utc_now() + timedelta(days=2)
    schedule = await scheduling.add(
        cron=EVERY_SECOND, selector=Selector(driver="none"), start_at=start
    )
    assert min(await scheduling.client.next_times(schedule)) >= start - timedelta(seconds=1)
    await scheduling.remove(schedule)


async def test_operators_understand_it(scheduling: Scheduling, temporal_client: Client) -> None:
    """In Temporal the schedule and its runs have names, summaries and search attributes."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(
        kind=OperationKind.HARD_REBOOT, cluster_id=cluster.uuid, note="Ask Ada first."
    )
    handle = temporal_client.get_schedule_handle(f"schedule/p1/{schedule.name}")
    described = await handle.describe()
    action = described.schedule.action
    assert isinstance(action, ScheduleActionStartWorkflow)
    assert described.schedule.state.note == "Ask Ada first."
    assert described.schedule.spec.calendars[0].comment == f"cron '{schedule.cron}' UTC"
    found = {pair.key.name: pair.value for pair in described.typed_search_attributes}
    assert found["Operation"] == "hard_reboot"
    assert found["ClusterId"] == cluster.uuid
    await scheduling.client.trigger(schedule)
    (outcome,) = await scheduling.until(schedule, lambda runs: bool(runs) and runs[0].state.ended)
    run = await temporal_client.get_workflow_handle(outcome.workflow_id).describe()
    assert await run.static_summary() == f"hard reboot: cluster {cluster.uuid}"
    assert "At most 1 clusters at a time" in str(await run.static_details())
    of_run = {pair.key.name: pair.value for pair in run.typed_search_attributes}
    assert of_run["ProjectId"] == "p1"
    child = await temporal_client.get_workflow_handle(f"cluster/{cluster.uuid}").describe()
    assert await child.static_summary() == "hard reboot demo (fake)"
    assert child.parent_id == outcome.workflow_id
    of_child = {pair.key.name: pair.value for pair in child.typed_search_attributes}
    assert of_child["ClusterName"] == "demo"
    (operation,) = await scheduling.operations(schedule)
    assert operation.state is OperationState.SUCCEEDED
    assert await child.memo_value("operation_id") == operation.uuid
    await scheduling.remove(schedule)


@pytest.mark.parametrize(
    "cron",
    [
        "*/15 2-4 * * mon-fri",
        "0 3 13 * 5",
        "5/20 8,20 1-7,29 */2 *",
        "59 23 31 dec *",
        "0 0 29 2 *",
        "7 7 * * 7",
        "@monthly",
        "15 30 6 * * 6 2027-2030",
    ],
)
async def test_times_are_understood_alike(scheduling: Scheduling, cron: str) -> None:
    """Where no clock is changed, Temporal's times are those that the API has checked."""
    for zone in ("UTC", "Asia/Kathmandu", "Asia/Tokyo"):
        schedule = a_schedule(cron=cron, time_zone=zone, selector=Selector())
        temporals = list(await scheduling.client.preview(schedule))
        ours = next_times(schedule.calendars, schedule.zone, utc_now(), len(temporals))
        assert temporals == ours
        assert temporals


async def test_preview_is_temporals(scheduling: Scheduling) -> None:
    """The preview of an unsaved schedule is what the saved one has, and leaves nothing behind."""
    wanted = {"cron": "15 2 * * sun", "time_zone": "America/New_York", "selector": Selector()}
    unsaved = Schedule(
        name="unsaved",
        project_id="p1",
        user_id="u1",
        kind=OperationKind.REBUILD,
        jitter_seconds=600,
        **wanted,
    )
    times = await scheduling.client.preview(unsaved)
    saved = await scheduling.add(**wanted)
    assert list(times) == list(await scheduling.client.next_times(saved))
    assert len(times) == 10
    await scheduling.remove(saved)
    await asyncio.sleep(1)
    listed = [one.id async for one in await scheduling.engine.client.list_schedules()]
    assert not any(one.startswith("preview/") for one in listed)


async def test_jitter(scheduling: Scheduling) -> None:
    """With jitter each next time is put off, not all alike, and by no more than the bound."""
    bound = timedelta(minutes=20)
    hourly = {"cron": "0 * * * *", "selector": Selector(), "paused": True}
    exact = await scheduling.add(**hourly)
    spread = await scheduling.add(**hourly, jitter_seconds=int(bound.total_seconds()))
    assert {put_off(one) for one in await scheduling.client.next_times(exact)} == {timedelta()}
    times = await scheduling.client.next_times(spread)
    delays = [put_off(one) for one in times]
    assert len(times) == 10
    assert all(delay <= bound for delay in delays), delays
    assert len(set(delays)) > 1
    assert max(delays) > bound / 10, "jitter is not in some smaller unit"
    hours = [one - delay for one, delay in zip(times, delays, strict=True)]
    assert [later - hour for hour, later in pairwise(hours)] == [timedelta(hours=1)] * 9


def put_off(time: datetime) -> timedelta:
    """Return how long after the full hour a time is."""
    return time - time.replace(minute=0, second=0, microsecond=0)
