"""The one workflow that people may start by hand: it asks for an operation, as the API does."""

from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.requests import RequestActivities
    from jeroboam.errors import InvalidRequestError
    from jeroboam.models.requested_wire import (
        REQUEST_OPERATION_WORKFLOW,
        AcceptRequestInput,
        RequestedOperation,
        Wanted,
        kind_of,
        operation_uuid,
        wanted,
    )

from jeroboam.workflows import limits

CLUSTER_ID = SearchAttributeKey.for_keyword("ClusterId")
OPERATION = SearchAttributeKey.for_keyword("Operation")


@workflow.defn(name=REQUEST_OPERATION_WORKFLOW)
class RequestOperationWorkflow:
    """Has an operation accepted and started; its own end is not that of the operation.

    It is not the operation's run, whose id is the cluster's lock: it may be started as often as
    anybody likes, under any id, and harms nothing.
    """

    @workflow.run
    async def run(self, given: Any = None) -> RequestedOperation:
        """Return what was begun.

        Args:
            given: One of the requests of ``models.requested_wire``; anything else is refused here,
                where a wrong type would have Temporal try again for ever.

        Raises:
            ApplicationError: The request is wrong, or what it wants cannot be done now.
        """
        request = _checked(given)
        workflow.upsert_search_attributes(
            [CLUSTER_ID.value_set(request.cluster_id), OPERATION.value_set(kind_of(request))]
        )
        info = workflow.info()
        ask = AcceptRequestInput(
            operation_id=operation_uuid(info.workflow_id, info.first_execution_run_id),
            request=request,
        )
        try:
            return await workflow.execute_activity_method(
                RequestActivities.accept_request,
                ask,
                start_to_close_timeout=limits.ACCEPT_ATTEMPT,
                schedule_to_close_timeout=limits.REQUEST_TOTAL,
                retry_policy=limits.RETRY,
                summary=f"Accept the {kind_of(request).words}",
            )
        except ActivityError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError):
                # The reason is what whoever has started it looks for, not that an activity failed.
                raise ApplicationError(
                    cause.message, type=cause.type, non_retryable=cause.non_retryable
                ) from None
            raise


def _checked(given: Any) -> Wanted:
    try:
        return wanted(given)
    except InvalidRequestError as error:
        raise ApplicationError(
            error.message, type=type(error).__name__, non_retryable=True
        ) from None
