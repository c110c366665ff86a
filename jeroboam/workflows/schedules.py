"""The schedules that every installation has."""

from datetime import timedelta
from functools import partial

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from jeroboam.models.scheduled_wire import SYNC_SCHEDULES_WORKFLOW
from jeroboam.models.wire import RECONCILE_WORKFLOW
from jeroboam.settings import Settings

RECONCILE_SCHEDULE = "jeroboam-reconcile"
SYNC_SCHEDULE = "jeroboam-sync-schedules"


async def ensure_schedules(client: Client, settings: Settings) -> None:
    """Create the schedules, or bring those that exist up to date."""
    wanted = {
        RECONCILE_SCHEDULE: _regularly(RECONCILE_WORKFLOW, "reconcile", settings),
        SYNC_SCHEDULE: _regularly(SYNC_SCHEDULES_WORKFLOW, "sync-schedules", settings),
    }
    for ident, schedule in wanted.items():
        try:
            await client.create_schedule(ident, schedule)
        except ScheduleAlreadyRunningError:
            await client.get_schedule_handle(ident).update(partial(_with_interval, schedule))


def _with_interval(wanted: Schedule, existing: ScheduleUpdateInput) -> ScheduleUpdate:
    # The rest, whether it is paused above all, is the operator's.
    found = existing.description.schedule
    found.spec, found.action = wanted.spec, wanted.action
    return ScheduleUpdate(schedule=found)


def _regularly(workflow: str, ident: str, settings: Settings) -> Schedule:
    every = timedelta(seconds=settings.reconcile_interval_seconds)
    return Schedule(
        action=ScheduleActionStartWorkflow(
            workflow,
            id=ident,
            task_queue=settings.task_queue,
            execution_timeout=timedelta(minutes=15),
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)]),
        policy=SchedulePolicy(
            overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(minutes=1)
        ),
    )
