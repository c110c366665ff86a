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
from temporalio.service import RPCError, RPCStatusCode

from jeroboam.models.monitoring_wire import MONITOR_WORKFLOW
from jeroboam.models.scheduled_wire import SYNC_SCHEDULES_WORKFLOW
from jeroboam.models.wire import RECONCILE_WORKFLOW
from jeroboam.settings import Settings

RECONCILE_SCHEDULE = "jeroboam-reconcile"
SYNC_SCHEDULE = "jeroboam-sync-schedules"
MONITOR_SCHEDULE = "jeroboam-monitor"

LONGEST_ROUND_SECONDS = 60.0
"""How often it is asked which clusters are due, at the most."""


async def ensure_schedules(client: Client, settings: Settings) -> None:
    """Create the schedules, or bring those that exist up to date."""
    wanted = {
        RECONCILE_SCHEDULE: _regularly(RECONCILE_WORKFLOW, "reconcile", settings),
        SYNC_SCHEDULE: _regularly(SYNC_SCHEDULES_WORKFLOW, "sync-schedules", settings),
    }
    if settings.monitor_interval_seconds:
        wanted[MONITOR_SCHEDULE] = _monitoring(settings)
    else:
        await _remove(client, MONITOR_SCHEDULE)
    for ident, schedule in wanted.items():
        try:
            await client.create_schedule(ident, schedule)
        except ScheduleAlreadyRunningError:
            await client.get_schedule_handle(ident).update(partial(_with_interval, schedule))


async def _remove(client: Client, ident: str) -> None:
    try:
        await client.get_schedule_handle(ident).delete()
    except RPCError as error:
        if error.status is not RPCStatusCode.NOT_FOUND:
            raise


def _with_interval(wanted: Schedule, existing: ScheduleUpdateInput) -> ScheduleUpdate:
    # The rest, whether it is paused above all, is the operator's.
    found = existing.description.schedule
    found.spec, found.action = wanted.spec, wanted.action
    return ScheduleUpdate(schedule=found)


def _monitoring(settings: Settings) -> Schedule:
    """Return the schedule of the rounds; within one, each cluster has its own time."""
    every = timedelta(seconds=min(LONGEST_ROUND_SECONDS, settings.monitor_interval_seconds / 2))
    schedule = _regularly(MONITOR_WORKFLOW, "monitor", settings, every)
    schedule.spec.jitter = every / 5
    return schedule


def _regularly(
    workflow: str, ident: str, settings: Settings, every: timedelta | None = None
) -> Schedule:
    every = every or timedelta(seconds=settings.reconcile_interval_seconds)
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
