"""Clusters that are busy or outside their window, and schedules that are paused meanwhile."""

import asyncio
from datetime import timedelta

from jeroboam.models import (
    Operation,
    OperationKind,
)
from jeroboam.models.schedule import RunState, Selector, WhenBusy
from jeroboam.models.scheduled_wire import Totals
from tests.integration.schedules.scheduling import Scheduling, window_in


async def busy(scheduling: Scheduling, seconds: float) -> tuple[str, Operation]:
    """Return a cluster on which a person's reboot is at work."""
    cluster = await scheduling.cluster(fake_reboot_seconds=str(seconds / 2))
    operation = scheduling.engine.operation(cluster, OperationKind.SOFT_REBOOT)
    await scheduling.engine.store.operations.accept(operation)
    await scheduling.engine.operations.start(operation)
    return cluster.uuid, operation


async def test_busy_cluster_is_left_out(scheduling: Scheduling) -> None:
    """With ``skip``, a busy cluster is left out, and the outcome says why: operation and step."""
    cluster, operation = await busy(scheduling, 4)
    schedule = await scheduling.add(cluster_id=cluster, when_busy=WhenBusy.SKIP)
    assert await scheduling.run(schedule) == Totals(skipped=1)
    outcome = await scheduling.outcome(schedule)
    assert outcome.operation_id is None
    assert str(outcome.reason).startswith(f"Busy with operation {operation.uuid} (soft_reboot)")


async def test_busy_cluster_is_waited_for(scheduling: Scheduling) -> None:
    """With ``wait``, the operation starts when the cluster is free."""
    cluster, operation = await busy(scheduling, 3)
    schedule = await scheduling.add(cluster_id=cluster)
    handle = await scheduling.start(schedule)
    (waiting,) = await scheduling.until(schedule, bool)
    assert waiting.state is RunState.WAITING
    assert operation.uuid in str(waiting.reason)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1)
    (mine,) = await scheduling.operations(schedule)
    theirs = await scheduling.engine.store.operations.get(operation.uuid)
    assert theirs.ended_at
    assert mine.created_at >= theirs.ended_at
    assert (await scheduling.outcome(schedule)).reason is None


async def test_waiting_holds_nobody_up(scheduling: Scheduling) -> None:
    """While one cluster is waited for, the others get their turn."""
    cluster, _ = await busy(scheduling, 5)
    await scheduling.clusters(2, group="free")
    schedule = await scheduling.add(selector=Selector(driver="fake"), max_parallel=1)
    handle = await scheduling.start(schedule)
    found = await scheduling.until(
        schedule, lambda runs: sum(one.state is RunState.SUCCEEDED for one in runs) > 1
    )
    states = {one.cluster_id: one.state for one in found}
    assert states.get(cluster) in {None, RunState.WAITING}
    await asyncio.wait_for(handle.result(), 90)


async def test_wait_has_an_end(scheduling: Scheduling) -> None:
    """Who has waited in vain for as long as the schedule says is left out."""
    cluster, _ = await busy(scheduling, 6)
    schedule = await scheduling.add(cluster_id=cluster, wait_minutes=0)
    assert await scheduling.run(schedule) == Totals(skipped=1)
    assert "waited for, 0 minutes" in str((await scheduling.outcome(schedule)).reason)


async def test_outside_the_window(scheduling: Scheduling) -> None:
    """Outside its maintenance window a cluster is left out if the wait would be too long."""
    cluster = await scheduling.cluster()
    window = window_in(timedelta(hours=2))
    await scheduling.engine.store.maintenance.put(cluster.uuid, window)
    schedule = await scheduling.add(cluster_id=cluster.uuid, wait_minutes=30)
    assert await scheduling.run(schedule) == Totals(skipped=1)
    reason = str((await scheduling.outcome(schedule)).reason)
    assert f"Outside the cluster's maintenance window (every day at {window.start} UTC" in reason
    assert reason.endswith("The schedule waits 30 minutes at most.")


async def test_inside_the_window(scheduling: Scheduling) -> None:
    """Inside its maintenance window a cluster is worked on."""
    cluster = await scheduling.cluster()
    await scheduling.engine.store.maintenance.put(cluster.uuid, window_in(timedelta(minutes=-5)))
    schedule = await scheduling.add(cluster_id=cluster.uuid)
    assert await scheduling.run(schedule) == Totals(succeeded=1)


async def test_pause_holds_the_rest_back(scheduling: Scheduling) -> None:
    """A pause lets the cluster at work end, and no further ones begin."""
    await scheduling.clusters(3, group="paused", fake_reboot_seconds="1")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT, selector=Selector(labels={"group": "paused"})
    )
    handle = await scheduling.start(schedule)
    await scheduling.until(schedule, bool)
    await scheduling.change(schedule, paused=True)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1, skipped=2)
    (skipped, _) = await scheduling.outcomes(schedule, RunState.SKIPPED)
    assert "was paused" in str(skipped.reason)
    assert await scheduling.run(schedule) == Totals(succeeded=3)


async def test_delete_holds_the_rest_back(scheduling: Scheduling) -> None:
    """A schedule that is deleted begins on no further clusters."""
    await scheduling.clusters(2, group="deleted", fake_reboot_seconds="1")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT, selector=Selector(labels={"group": "deleted"})
    )
    handle = await scheduling.start(schedule)
    await scheduling.until(schedule, bool)
    await scheduling.remove(schedule)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1, skipped=1)
