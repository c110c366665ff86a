"""Temporal follows the rows, whatever happened in between; outcomes get their end."""

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.testing import ActivityEnvironment

from jeroboam import temporal
from jeroboam.activities.schedule_upkeep import KEEP, UpkeepActivities
from jeroboam.errors import CloudUnavailableError
from jeroboam.models import OperationKind, new_uuid, utc_now
from jeroboam.models.schedule import RunState, Schedule, ScheduleRun, Selector, run_uuid
from jeroboam.models.scheduled_wire import SYNC_SCHEDULES_WORKFLOW
from jeroboam.settings import Settings
from jeroboam.workflows.schedule_client import ScheduleClient
from tests.integration.schedules.scheduling import Scheduling, a_schedule

LONG_AGO = utc_now() - timedelta(days=1)


async def listed(client: Client) -> set[str]:
    return {one.id async for one in await client.list_schedules()}


async def round_of(scheduling: Scheduling) -> int:
    """Do one round of upkeep as the worker does."""
    activities = UpkeepActivities(scheduling.engine.store, scheduling.client)
    return await ActivityEnvironment().run(activities.sync_schedules)


async def unsynced(scheduling: Scheduling) -> Schedule:
    """Store a schedule as an API does that dies before it has told Temporal."""
    schedule = a_schedule(selector=Selector())
    await scheduling.engine.store.schedules.add(schedule, project_limit=1000)
    return schedule


async def test_round(scheduling: Scheduling) -> None:
    """The worker does a round, as a workflow of its own."""
    schedule = await unsynced(scheduling)
    result = await scheduling.engine.client.execute_workflow(
        SYNC_SCHEDULES_WORKFLOW,
        id=f"sync-{new_uuid()}",
        task_queue=scheduling.engine.settings.task_queue,
        result_type=int,
    )
    assert result >= 1
    assert schedule.temporal_id in await listed(scheduling.engine.client)
    assert await scheduling.client.sync_all() == 0


async def test_lost_in_temporal(scheduling: Scheduling) -> None:
    """A schedule that somebody deleted in Temporal, or that it lost, is there again."""
    schedule = await scheduling.add(selector=Selector())
    await scheduling.engine.client.get_schedule_handle(schedule.temporal_id).delete()
    while schedule.temporal_id in await listed(scheduling.engine.client):
        continue  # The list may lag behind.
    assert await scheduling.client.sync_all() == 1
    assert await scheduling.client.next_times(schedule)


async def test_deleted_while_temporal_was_away(scheduling: Scheduling) -> None:
    """A schedule that is deleted and that Temporal still has goes in the next round."""
    schedule = await scheduling.add(selector=Selector())
    await scheduling.engine.store.schedules.mark_deleted(schedule.uuid)
    assert await round_of(scheduling) >= 1
    assert await scheduling.engine.store.schedules.stored(schedule.uuid) is None
    handle = scheduling.engine.client.get_schedule_handle(schedule.temporal_id)
    with pytest.raises(RPCError):
        await handle.describe()


async def test_name_taken_again(scheduling: Scheduling) -> None:
    """A new schedule of the name of a deleted one takes its place in Temporal, and stays there."""
    first = await scheduling.add(name="again", selector=Selector(), cron="0 1 * * *")
    await scheduling.engine.store.schedules.mark_deleted(first.uuid)
    second = await scheduling.add(name="again", selector=Selector(), cron="0 2 * * *")
    await scheduling.client.sync(first.uuid)
    (at, *_) = await scheduling.client.next_times(second)
    assert at.hour == 2


async def test_change_overtaken_by_another(scheduling: Scheduling) -> None:
    """Whoever is slow to tell Temporal of a change does not undo a later one."""
    schedule = await scheduling.add(selector=Selector(), cron="0 1 * * *")
    await scheduling.change(schedule, cron="0 2 * * *")
    await scheduling.client._put(schedule)
    (at, *_) = await scheduling.client.next_times(schedule)
    assert at.hour == 2


async def test_changes_at_the_same_time(scheduling: Scheduling) -> None:
    """After any number of changes and tellings at once, Temporal has the last one."""
    schedule = await scheduling.add(selector=Selector(), cron="0 0 * * *")
    tellings = []
    for hour in range(1, 8):
        stored = await scheduling.engine.store.schedules.stored(schedule.uuid)
        assert stored
        changed = stored.model_copy(update={"cron": f"0 {hour} * * *"})
        await scheduling.engine.store.schedules.change(changed)
        tellings.append(asyncio.create_task(scheduling.client.sync(schedule.uuid)))
    await asyncio.gather(*tellings)
    stored = await scheduling.engine.store.schedules.stored(schedule.uuid)
    assert stored
    assert stored.synced_revision == stored.revision
    (at, *_) = await scheduling.client.next_times(stored)
    assert at.hour == 7


async def test_preview_left_behind(scheduling: Scheduling) -> None:
    """A preview whose process died is removed; one of this moment is not, nor another's."""
    queue = scheduling.engine.settings.task_queue
    now = int(utc_now().timestamp())
    old, new, other = (
        f"preview/{queue}/{now - 3600}/{new_uuid()}",
        f"preview/{queue}/{now}/{new_uuid()}",
        f"preview/other/{now - 3600}/{new_uuid()}",
    )
    schedule = await scheduling.add(selector=Selector())
    handle = scheduling.engine.client.get_schedule_handle(schedule.temporal_id)
    wanted = (await handle.describe()).schedule
    wanted.state.paused = True
    for ident in (old, new, other):
        await scheduling.engine.client.create_schedule(ident, wanted)
    async with asyncio.timeout(10):
        while old in await listed(scheduling.engine.client):
            await round_of(scheduling)
    assert {new, other} <= await listed(scheduling.engine.client)
    for ident in (new, other):
        await scheduling.engine.client.get_schedule_handle(ident).delete()


async def test_temporal_does_not_answer(scheduling: Scheduling) -> None:
    """Without Temporal a change is kept for later, and whoever needs an answer is told."""
    away = await temporal.connect(Settings(temporal_address="127.0.0.1:1"), lazy=True)
    client = ScheduleClient(away, scheduling.engine.store, scheduling.engine.settings)
    schedule = await unsynced(scheduling)
    await client.try_sync(schedule.uuid)
    stored = await scheduling.engine.store.schedules.stored(schedule.uuid)
    assert stored
    assert stored.synced_revision == 0
    for ask in (client.sync_all(), client.trigger(schedule), client.doings(schedule)):
        with pytest.raises(CloudUnavailableError, match="Temporal"):
            await ask


async def test_run_now_after_temporal_was_away(scheduling: Scheduling) -> None:
    """A run can be started of a schedule that Temporal learns of only now."""
    schedule = a_schedule(selector=Selector(labels={"no": "cluster"}))
    await scheduling.engine.store.schedules.add(schedule, project_limit=1000)
    await scheduling.client.trigger(schedule)
    await scheduling.until(schedule, bool)


async def forgotten(scheduling: Scheduling, **fields: object) -> ScheduleRun:
    """Store an outcome that nobody has written for a long time."""
    schedule, workflow = new_uuid(), f"lost-{new_uuid()}"
    run = ScheduleRun(
        uuid=run_uuid(schedule, workflow, None),
        schedule_id=schedule,
        workflow_id=workflow,
        scheduled_at=LONG_AGO,
        created_at=LONG_AGO,
        updated_at=LONG_AGO,
        state=RunState.WAITING,
    ).model_copy(update=fields)
    await scheduling.engine.store.schedule_runs.record(run)
    return run


async def outcome_of(scheduling: Scheduling, run: ScheduleRun) -> ScheduleRun:
    schedule = a_schedule(uuid=run.schedule_id)
    return await scheduling.outcome(schedule)


async def test_waiting_in_a_run_that_is_gone(scheduling: Scheduling) -> None:
    """A cluster that waited in a run which was terminated is left out."""
    run = await forgotten(scheduling)
    await round_of(scheduling)
    found = await outcome_of(scheduling, run)
    assert found.state is RunState.SKIPPED
    assert "ended from outside" in str(found.reason)
    assert found.ended_at


async def test_started_in_a_run_that_is_gone(scheduling: Scheduling) -> None:
    """The outcome of an operation is written although its run was terminated."""
    cluster = await scheduling.cluster()
    operation = scheduling.engine.operation(cluster, OperationKind.CHECK_HEALTH)
    await scheduling.engine.store.operations.accept(operation)
    run = await forgotten(scheduling, state=RunState.STARTED, operation_id=operation.uuid)
    await round_of(scheduling)
    assert (await outcome_of(scheduling, run)).state is RunState.STARTED
    await scheduling.engine.operations.start(operation)
    await asyncio.wait_for(
        scheduling.engine.client.get_workflow_handle(f"cluster/{cluster.uuid}").result(), 30
    )
    await forgotten(scheduling, **run.model_dump())
    await round_of(scheduling)
    assert (await outcome_of(scheduling, run)).state is RunState.SUCCEEDED


async def test_waiting_in_a_run_at_work(scheduling: Scheduling) -> None:
    """A cluster that waits in a run which is at work goes on waiting."""
    ident = f"open-{new_uuid()}"
    handle = await scheduling.engine.client.start_workflow(
        "NobodyRunsThis", id=ident, task_queue=f"nobody-{new_uuid()}"
    )
    run = await forgotten(scheduling, workflow_id=ident)
    await round_of(scheduling)
    found = await outcome_of(scheduling, run)
    assert found.state is RunState.WAITING
    assert found.updated_at > LONG_AGO
    await handle.terminate()


async def test_old_outcomes_go(scheduling: Scheduling) -> None:
    """Outcomes are kept for a while, and then removed."""
    old = await forgotten(scheduling, state=RunState.FAILED, ended_at=utc_now() - 2 * KEEP)
    young = await forgotten(scheduling, state=RunState.FAILED, ended_at=utc_now())
    await round_of(scheduling)
    assert await scheduling.outcomes(a_schedule(uuid=old.schedule_id)) == []
    assert await scheduling.outcomes(a_schedule(uuid=young.schedule_id))
