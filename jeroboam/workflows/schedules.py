"""The schedules that every installation has."""

from datetime import timedelta

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

from jeroboam.models.wire import RECONCILE_WORKFLOW
from jeroboam.settings import Settings

RECONCILE_SCHEDULE = "jeroboam-reconcile"


async def ensure_schedules(client: Client, settings: Settings) -> None:
    """Create the schedules, or bring those that exist up to date."""
    schedule = _reconcile(settings)
    try:
        await client.create_schedule(RECONCILE_SCHEDULE, schedule)
    except ScheduleAlreadyRunningError:
        handle = client.get_schedule_handle(RECONCILE_SCHEDULE)
        await handle.update(lambda existing: _with_interval(existing, schedule))


def _with_interval(existing: ScheduleUpdateInput, wanted: Schedule) -> ScheduleUpdate:
    # The rest, whether it is paused above all, is the operator's.
    found = existing.description.schedule
    found.spec, found.action = wanted.spec, wanted.action
    return ScheduleUpdate(schedule=found)


def _reconcile(settings: Settings) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            RECONCILE_WORKFLOW,
            id="reconcile",
            task_queue=settings.task_queue,
            execution_timeout=timedelta(minutes=15),
        ),
        spec=ScheduleSpec(
            intervals=[
                ScheduleIntervalSpec(every=timedelta(seconds=settings.reconcile_interval_seconds))
            ]
        ),
        policy=SchedulePolicy(
            overlap=ScheduleOverlapPolicy.SKIP, catchup_window=timedelta(minutes=1)
        ),
    )
