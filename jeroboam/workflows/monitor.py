"""One round of looks at clusters; a schedule starts it, one at a time."""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.monitoring import MonitoringActivities
    from jeroboam.models.monitoring_wire import MONITOR_WORKFLOW, MonitorRequest

PARALLEL = 10
ATTEMPT = timedelta(seconds=90)
WAIT_FOR_WORKER = timedelta(minutes=2)
WAIT_FOR_OWN_WORKER = timedelta(seconds=20)
ONCE = RetryPolicy(maximum_attempts=1)


@workflow.defn(name=MONITOR_WORKFLOW)
class MonitorWorkflow:
    """Look at the clusters whose time has come; what fails has its turn again."""

    @workflow.run
    async def run(self) -> int:
        """Return how many clusters were looked at."""
        due = await workflow.execute_activity_method(
            MonitoringActivities.due_clusters,
            start_to_close_timeout=timedelta(seconds=30),
            retry_policy=ONCE,
        )
        gate = asyncio.Semaphore(PARALLEL)
        looks = [self._look(gate, request) for request in due.clusters]
        return sum(await asyncio.gather(*looks))

    async def _look(self, gate: asyncio.Semaphore, request: MonitorRequest) -> int:
        async with gate:
            try:
                await workflow.execute_activity_method(
                    MonitoringActivities.monitor_cluster,
                    request,
                    task_queue=request.queue,
                    start_to_close_timeout=ATTEMPT,
                    schedule_to_start_timeout=WAIT_FOR_OWN_WORKER
                    if request.queue
                    else WAIT_FOR_WORKER,
                    heartbeat_timeout=timedelta(seconds=30),
                    retry_policy=ONCE,
                )
            except ActivityError:
                return await self._note_silence(request)
            return 1

    async def _note_silence(self, request: MonitorRequest) -> int:
        """Record that nobody could look, so that the cluster does not hold up each round."""
        try:
            await workflow.execute_activity_method(
                MonitoringActivities.note_silence,
                request,
                start_to_close_timeout=timedelta(seconds=30),
                retry_policy=ONCE,
            )
        except ActivityError:
            # The database is away: the cluster is still due.
            return 0
        return 1
