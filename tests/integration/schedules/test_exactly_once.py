"""Whatever happens to a run: each cluster gets one operation, and its end is known."""

import asyncio

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import CancelledError

from jeroboam.models import (
    OperationKind,
    OperationState,
    new_uuid,
    utc_now,
)
from jeroboam.models.schedule import RunState, Selector, operation_uuid
from jeroboam.models.scheduled_wire import Totals
from tests.integration.engine import running_engine
from tests.integration.schedules.scheduling import Scheduling, a_schedule


async def test_a_repeated_run_starts_nothing_twice(scheduling: Scheduling) -> None:
    """A second run of the same id finds what the first one did, and does nothing."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(kind=OperationKind.SOFT_REBOOT, cluster_id=cluster.uuid)
    ident = f"{schedule.temporal_id}-{new_uuid()}"
    for _ in range(2):
        handle = await scheduling.start(schedule, ident)
        assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1)
    (operation,) = await scheduling.operations(schedule)
    assert operation.uuid == operation_uuid(schedule.uuid, ident, cluster.uuid)
    assert len(await scheduling.outcomes(schedule)) == 1


async def test_a_reset_starts_nothing_twice(
    scheduling: Scheduling, temporal_client: Client
) -> None:
    """A reset to the beginning, in Temporal's UI say, finds the operations that were started."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(kind=OperationKind.SOFT_REBOOT, cluster_id=cluster.uuid)
    handle = await scheduling.start(schedule)
    await asyncio.wait_for(handle.result(), 60)
    await temporal_client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace="default",
            workflow_execution=WorkflowExecution(workflow_id=handle.id),
            reason="test",
            workflow_task_finish_event_id=3,
            request_id=new_uuid(),
        )
    )
    again = temporal_client.get_workflow_handle(handle.id, result_type=Totals)
    assert await asyncio.wait_for(again.result(), 60) == Totals(succeeded=1)
    assert len(await scheduling.operations(schedule)) == 1
    assert len(await scheduling.outcomes(schedule)) == 1


async def test_the_reconciler_was_quicker(scheduling: Scheduling) -> None:
    """An operation that was accepted, and that somebody else runs, is followed to its end."""
    cluster = await scheduling.cluster(fake_reboot_seconds="1")
    schedule = await scheduling.add(kind=OperationKind.SOFT_REBOOT, cluster_id=cluster.uuid)
    ident = f"{schedule.temporal_id}-{new_uuid()}"
    operation = scheduling.engine.operation(cluster, OperationKind.SOFT_REBOOT).model_copy(
        update={
            "uuid": operation_uuid(schedule.uuid, ident, cluster.uuid),
            "schedule_id": schedule.uuid,
        }
    )
    await scheduling.engine.store.operations.accept(operation)
    await scheduling.engine.operations.start(operation)
    handle = await scheduling.start(schedule, ident)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1)
    (found,) = await scheduling.operations(schedule)
    assert found.uuid == operation.uuid


async def test_accepted_and_never_started(scheduling: Scheduling) -> None:
    """An operation whose start was lost with a worker is started by the run that accepted it."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(kind=OperationKind.SOFT_REBOOT, cluster_id=cluster.uuid)
    ident = f"{schedule.temporal_id}-{new_uuid()}"
    uuid = operation_uuid(schedule.uuid, ident, cluster.uuid)
    operation = scheduling.engine.operation(cluster, OperationKind.SOFT_REBOOT)
    await scheduling.engine.store.operations.accept(
        operation.model_copy(update={"uuid": uuid, "schedule_id": schedule.uuid})
    )
    handle = await scheduling.start(schedule, ident)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1)


async def test_the_end_of_a_run_leaves_operations_at_work(
    scheduling: Scheduling, temporal_client: Client
) -> None:
    """Who cancels or terminates a run ends no operation with it."""
    for end in ("cancel", "terminate"):
        cluster = await scheduling.cluster(fake_reboot_seconds="1")
        schedule = await scheduling.add(kind=OperationKind.SOFT_REBOOT, cluster_id=cluster.uuid)
        handle = await scheduling.start(schedule)
        (outcome,) = await scheduling.until(schedule, bool)
        await asyncio.sleep(0.5)
        await getattr(temporal_client.get_workflow_handle(handle.id), end)()
        with pytest.raises(WorkflowFailureError) as raised:
            await asyncio.wait_for(handle.result(), 30)
        assert end == "terminate" or isinstance(raised.value.cause, CancelledError)
        run = temporal_client.get_workflow_handle(f"cluster/{cluster.uuid}")
        await asyncio.wait_for(run.result(), 30)
        operation = await scheduling.engine.store.operations.get(str(outcome.operation_id))
        assert operation.state is OperationState.SUCCEEDED


async def test_a_cancelled_operation(scheduling: Scheduling) -> None:
    """An operation that a person cancels is an outcome, and the run goes on."""
    await scheduling.clusters(2, group="cancelled", fake_reboot_seconds="2")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT, selector=Selector(labels={"group": "cancelled"})
    )
    handle = await scheduling.start(schedule)
    (outcome,) = await scheduling.until(schedule, bool)
    await asyncio.sleep(1)
    operation = await scheduling.engine.store.operations.get(str(outcome.operation_id))
    await scheduling.engine.operations.cancel(operation, "Cancelled by a test.")
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1, failed=1)
    (failed,) = await scheduling.outcomes(schedule, RunState.FAILED)
    assert "Cancelled by a test." in str(failed.reason)


async def test_no_row(scheduling: Scheduling, temporal_client: Client) -> None:
    """A run of a schedule that is in no database ends at once and has Temporal forget it."""
    orphan = a_schedule(selector=Selector(), paused=True)
    store = scheduling.engine.store
    await store.schedules.add(orphan, project_limit=1000)
    await scheduling.client.sync(orphan.uuid)
    await store.schedules.mark_deleted(orphan.uuid)
    await store.schedules.remove(orphan.uuid)
    handle = temporal_client.get_schedule_handle(orphan.temporal_id)
    await handle.trigger()
    async with asyncio.timeout(20):
        while True:
            listed = [one.id async for one in await temporal_client.list_schedules()]
            if orphan.temporal_id not in listed:
                break
            await asyncio.sleep(0.2)
    assert await scheduling.outcomes(orphan) == []


async def test_a_worker_dies(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Workers come and go during a run, and each cluster gets one operation all the same."""
    directory = tmp_path_factory.mktemp("dying")
    async with running_engine(temporal_client, directory) as engine:
        scheduling = Scheduling(engine, None)  # type: ignore[arg-type]
        await scheduling.clusters(3, fake_reboot_seconds="1.5")
        schedule = a_schedule(kind=OperationKind.SOFT_REBOOT, selector=Selector(), max_parallel=2)
        await engine.store.schedules.add(schedule, project_limit=1)
        handle = await scheduling.start(schedule)
        await scheduling.until(schedule, lambda runs: len(runs) > 1)
        queue = engine.settings.task_queue
    async with running_engine(temporal_client, directory, queue=queue) as engine:
        scheduling = Scheduling(engine, None)  # type: ignore[arg-type]
        assert await asyncio.wait_for(handle.result(), 90) == Totals(succeeded=3)
        operations = await scheduling.operations(schedule)
        assert len({one.cluster_id for one in operations}) == len(operations) == 3
        assert {one.state for one in operations} == {OperationState.SUCCEEDED}
        assert all(one.ended_at and one.ended_at <= utc_now() for one in operations)
