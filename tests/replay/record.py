"""Records the histories that ``test_replay`` replays.

Run ``python -m tests.replay.record`` after a change of a workflow that is meant to break old runs
never: add the new files and keep the old ones, since runs that began before an upgrade end after
it.
"""

import asyncio
import json
import sys
import tempfile
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio.client import WorkflowFailureError, WorkflowHandle

from jeroboam import __version__, temporal
from jeroboam.models import ClusterSpec, NodeGroup, OperationKind, Status, new_uuid
from jeroboam.models.requested_wire import REQUEST_OPERATION_WORKFLOW
from jeroboam.models.schedule import Selector
from jeroboam.models.scheduled_wire import SYNC_SCHEDULES_WORKFLOW
from jeroboam.workflows.schedule_client import ScheduleClient
from tests.conftest import TemporalServer, free_port
from tests.integration.engine import Engine, running_engine
from tests.integration.schedules.scheduling import Scheduling, window_in

QUICK = {
    f"fake_{call}_seconds": "0.1"
    for call in ("create", "update", "upgrade", "reboot", "rebuild", "group")
}
HISTORIES = Path(__file__).with_name("histories")


async def record() -> None:
    """Run each kind of operation once and keep its history."""
    with tempfile.TemporaryDirectory() as name:
        server = TemporalServer(Path(name), free_port())
        server.start()
        try:
            client = await server.client()
            await temporal.register_search_attributes(client)
            async with running_engine(client, Path(name) / "state", trusts={"new"}) as engine:
                await _succeed(engine)
                await _fail(engine)
                await _interrupt(engine)
                await _schedule(engine)
                await _request(engine)
        finally:
            server.kill()


async def _succeed(engine: Engine) -> None:
    """Lead one cluster through every kind of operation."""
    spec = await engine.create(labels={**QUICK, "fake_interruptions": "1"})
    await engine.settled(spec)
    await _keep(engine, spec, "create")
    worker, gpu = spec.group("default-worker").uuid, _group(spec)
    new = spec.template.model_copy(update={"uuid": new_uuid(), "name": "new"})
    await engine.store.templates.add(new)
    for kind, parameters in (
        (OperationKind.UPDATE, {"node_group": worker, "node_count": 2}),
        (OperationKind.RESIZE, {"node_group": worker, "node_count": 3}),
        (OperationKind.UPGRADE, {"cluster_template_id": new.uuid}),
        (OperationKind.REBUILD, {"batch_size": 2}),
        (OperationKind.SOFT_REBOOT, {"batch_size": None}),
        (OperationKind.HARD_REBOOT, {"node_groups": (worker,)}),
        (OperationKind.CREATE_NODE_GROUP, {"group": gpu}),
        (OperationKind.UPDATE_NODE_GROUP, {"group": gpu.model_copy(update={"max_node_count": 5})}),
        (OperationKind.DELETE_NODE_GROUP, {"node_group": gpu.uuid}),
        (OperationKind.CHECK_HEALTH, {}),
        (OperationKind.ROTATE_CA, {}),
        (OperationKind.ROTATE_CREDENTIAL, {"trust_id": "new"}),
    ):
        await engine.ended(await engine.ask(spec, kind, **parameters))
        await _keep(engine, spec, kind.replace("_", "-"))
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    await _keep(engine, spec, "delete")


async def _fail(engine: Engine) -> None:
    """Record a roll-back, and a retry that passes over what is done."""
    spec = await engine.create(rollback=True, labels={"fake_fail": "create"})
    await engine.settled(spec)
    await _keep(engine, spec, "create-rolled-back")
    fails = {"fake_fail": "reboot", "fake_fail_batch": "2", "fake_fail_times": "1"}
    spec = await engine.ready(workers=2, labels={**QUICK, **fails})
    operation = await engine.ended(await engine.ask(spec, OperationKind.HARD_REBOOT))
    await engine.operations.retry(operation)
    await engine.ended(operation)
    await _keep(engine, spec, "hard-reboot-retried")


async def _interrupt(engine: Engine) -> None:
    """Record what ends an operation from outside: a cancellation, a delete, one by force."""
    spec = await engine.ready(labels={**QUICK, "fake_update_seconds": "5"})
    worker = spec.group("default-worker").uuid
    operation = await engine.ask(spec, OperationKind.RESIZE, node_group=worker, node_count=4)
    at_work = await engine.at_step(operation, "Wait")
    await engine.operations.cancel(at_work, "Cancelled by a user.")
    await engine.ended(operation)
    await _keep(engine, spec, "resize-cancelled")
    spec = await engine.create(labels={"fake_create_seconds": "60"})
    await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    await _keep(engine, spec, "create-superseded")
    spec = await engine.ready(labels={"fake_leftovers": "1"})
    forced = engine.operation(spec.cluster, OperationKind.FORCE_DELETE)
    await engine.operations.delete(spec.cluster, forced)
    await engine.gone(spec)
    await _keep(engine, spec, "force-delete")


def _group(spec: ClusterSpec) -> NodeGroup:
    return NodeGroup(
        name="gpu",
        cluster_id=spec.cluster.uuid,
        project_id=spec.cluster.project_id,
        labels=spec.cluster.labels,
        status=Status.CREATE_IN_PROGRESS,
    )


async def _request(engine: Engine) -> None:
    """Record an operation that was asked for straight from Temporal."""
    spec = await engine.ready(labels=QUICK)
    asked = await engine.client.start_workflow(
        REQUEST_OPERATION_WORKFLOW,
        {"operation": "check_health", "cluster_id": spec.cluster.uuid},
        id="by-hand",
        task_queue=engine.settings.task_queue,
    )
    await keep(asked, "request-operation")


async def _schedule(engine: Engine) -> None:
    """Record runs of schedules: some clusters at a time, one busy, one outside its window."""
    scheduling = Scheduling(engine, ScheduleClient(engine.client, engine.store, engine.settings))
    labels = {**QUICK, "fake_reboot_seconds": "2"}
    first, second, third, _ = [await engine.ready(labels=labels) for _ in range(4)]
    window = window_in(timedelta(hours=2))
    await engine.store.maintenance.put(second.cluster.uuid, window)
    await engine.ask(first, OperationKind.SOFT_REBOOT)
    schedule = await scheduling.add(
        kind=OperationKind.HARD_REBOOT,
        selector=Selector(labels={"fake_reboot_seconds": "2"}),
        max_parallel=2,
    )
    await keep(await scheduling.start(schedule), "scheduled")
    handle = await scheduling.start(schedule, events_per_run=20)
    begun = engine.client.get_workflow_handle(handle.id, run_id=handle.first_execution_run_id)
    await keep(begun, "scheduled-continued")
    single = await scheduling.add(cluster_id=third.cluster.uuid)
    handle = await scheduling.start(single)
    await scheduling.until(single, bool)
    await handle.cancel()
    await keep(handle, "scheduled-cancelled")
    synced = await engine.client.start_workflow(
        SYNC_SCHEDULES_WORKFLOW, id="sync", task_queue=engine.settings.task_queue
    )
    await keep(synced, "sync-schedules")


async def _keep(engine: Engine, spec: ClusterSpec, what: str) -> None:
    await keep(engine.run(spec), what)


async def keep(handle: WorkflowHandle[Any, Any], what: str) -> None:
    """Wait for a run's end and keep its history."""
    with suppress(WorkflowFailureError):
        await handle.result()
    history = json.loads((await handle.fetch_history()).to_json())
    text = json.dumps(_without_place(history), indent=1)
    (HISTORIES / f"{__version__}-{what}.json").write_text(text + "\n")
    sys.stdout.write(f"{what}: {len(text)} characters\n")


def _without_place(part: Any) -> Any:
    """Drop what only says where it was recorded; a replay does not look at it."""
    if isinstance(part, dict):
        return {
            name: _without_place(value)
            for name, value in part.items()
            if name not in {"stackTrace", "identity"}
        }
    return [_without_place(one) for one in part] if isinstance(part, list) else part


if __name__ == "__main__":
    HISTORIES.mkdir(exist_ok=True)
    asyncio.run(record())
