"""What a scheduled run does with one cluster: accept, start, follow, write down."""

from datetime import datetime

from temporalio import workflow
from temporalio.exceptions import (
    ChildWorkflowError,
    WorkflowAlreadyStartedError,
    is_cancelled_exception,
)
from temporalio.workflow import ParentClosePolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.scheduled import ScheduledActivities
    from jeroboam.models.schedule import RunState
    from jeroboam.models.scheduled_wire import (
        Acceptance,
        AcceptInput,
        Candidate,
        CloseInput,
        Closing,
        Deferred,
        Order,
    )
    from jeroboam.models.start import RunStart

from jeroboam.workflows import limits
from jeroboam.workflows.attributes import typed


class ScheduledClusters:
    """The clusters of one run.

    Args:
        run_id: Id of the run's workflow.
        due: When the run was due.
    """

    def __init__(self, run_id: str, due: datetime) -> None:
        self._id = run_id
        self._due = due

    async def accept(self, order: Order, turn: Deferred) -> Acceptance:
        """Ask whether the operation may start on a cluster now."""
        ask = AcceptInput(
            order=order,
            cluster=turn.cluster,
            workflow_id=self._id,
            scheduled_at=self._due,
            now=workflow.now(),
            deadline=turn.deadline,
        )
        return await workflow.execute_activity_method(
            ScheduledActivities.accept_scheduled,
            ask,
            start_to_close_timeout=limits.ACCEPT_ATTEMPT,
            schedule_to_close_timeout=limits.ACCEPT_TOTAL,
            retry_policy=limits.RETRY,
            summary=f"{order.kind.words.capitalize()} {turn.cluster.name}",
        )

    async def follow(self, order: Order, turn: Deferred, start: RunStart) -> RunState:
        """See the operation through to its end, whoever runs it; return how it ended."""
        pause = limits.FOLLOW_FIRST
        pending = True
        while True:
            if pending:
                await self._run_child(start)
            closing = await self.close(order, turn.cluster)
            if closing.state is not None:
                return closing.state
            pending = closing.pending
            await workflow.sleep(pause, summary=f"Until {turn.cluster.name} is done")
            pause = min(pause * 2, limits.FOLLOW_LONGEST)

    async def _run_child(self, start: RunStart) -> None:
        try:
            await workflow.execute_child_workflow(
                start.workflow,
                start.request,
                id=start.id,
                memo=start.memo,
                search_attributes=typed(start.attributes),
                static_summary=start.summary,
                parent_close_policy=ParentClosePolicy.ABANDON,
                cancellation_type=workflow.ChildWorkflowCancellationType.ABANDON,
            )
        except WorkflowAlreadyStartedError:
            # The reconciler was quicker, or the run before this one has not closed yet.
            return
        except ChildWorkflowError as error:
            if is_cancelled_exception(error) and workflow.cancellation_reason() is not None:
                raise
            # How it ended is in the operation's record.

    async def close(self, order: Order, cluster: Candidate, failure: str | None = None) -> Closing:
        """Write down how an operation has ended, or that it could not be begun."""
        return await workflow.execute_activity_method(
            ScheduledActivities.close_scheduled,
            CloseInput(
                order=order,
                cluster=cluster,
                workflow_id=self._id,
                scheduled_at=self._due,
                failure=failure,
            ),
            start_to_close_timeout=limits.RECORD_ATTEMPT,
            retry_policy=limits.RETRY,
            summary=f"Outcome of {cluster.name}",
        )
