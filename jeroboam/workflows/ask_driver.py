"""A question to a driver that runs in a worker of its own."""

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.driver_questions import DriverQuestions
    from jeroboam.models.driver_wire import ASK_DRIVER_WORKFLOW, DriverQuestion

from jeroboam.workflows import limits


@workflow.defn(name=ASK_DRIVER_WORKFLOW)
class AskDriverWorkflow:
    """Ask once; a request waits for the answer."""

    @workflow.run
    async def run(self, question: DriverQuestion) -> None:
        """End when the driver has no objection, and fail with the one that it has."""
        await workflow.execute_activity_method(
            DriverQuestions.ask_driver,
            question,
            start_to_close_timeout=limits.ASK_TOTAL,
            retry_policy=RetryPolicy(maximum_attempts=1),
            summary=f"{question.driver}: {question.method}",
        )
