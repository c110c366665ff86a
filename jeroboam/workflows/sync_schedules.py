"""The regular upkeep of schedules."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.schedule_upkeep import UpkeepActivities
    from jeroboam.models.scheduled_wire import SYNC_SCHEDULES_WORKFLOW


@workflow.defn(name=SYNC_SCHEDULES_WORKFLOW)
class SyncSchedulesWorkflow:
    """One round of upkeep; a schedule starts it."""

    @workflow.run
    async def run(self) -> int:
        """Do it once; what fails is for the next round."""
        return await workflow.execute_activity_method(
            UpkeepActivities.sync_schedules,
            start_to_close_timeout=timedelta(minutes=10),
            heartbeat_timeout=timedelta(minutes=1),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
