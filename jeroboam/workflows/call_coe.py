"""A request to the engine that runs in a cluster."""

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.coe import CoeActivities
    from jeroboam.models.coe_wire import CALL_COE_WORKFLOW, CoeAnswer, CoeRequest

from jeroboam.workflows import limits


@workflow.defn(name=CALL_COE_WORKFLOW)
class CallCoeWorkflow:
    """Ask once; whoever waits for the answer asks again if it wants to."""

    @workflow.run
    async def run(self, request: CoeRequest) -> CoeAnswer:
        """Return the driver's answer."""
        return await workflow.execute_activity_method(
            CoeActivities.call_coe,
            request,
            schedule_to_start_timeout=limits.COE_START,
            start_to_close_timeout=limits.COE_ATTEMPT,
            retry_policy=RetryPolicy(maximum_attempts=1),
            summary=f"{request.verb} {request.coe}/{request.path}",
        )
