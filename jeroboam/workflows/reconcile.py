"""The scheduled repair of rows that nobody works on."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.reconcile import ReconcileActivities
    from jeroboam.models.wire import RECONCILE_WORKFLOW


@workflow.defn(name=RECONCILE_WORKFLOW)
class ReconcileWorkflow:
    """One round of the reconciler; a schedule starts it."""

    @workflow.run
    async def run(self) -> int:
        """Reconcile once; what fails is for the next round."""
        return await workflow.execute_activity_method(
            ReconcileActivities.reconcile,
            start_to_close_timeout=timedelta(minutes=10),
            heartbeat_timeout=timedelta(minutes=1),
            retry_policy=RetryPolicy(maximum_attempts=1),
        )
