"""The one seam between Jeroboam's errors and Temporal's, and the logs' context."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    ActivityInboundInterceptor,
    ExecuteActivityInput,
    Interceptor,
)

from jeroboam.activities.defects import Defects
from jeroboam.errors import JeroboamError, RateLimitedError, WorkerStoppingError
from jeroboam.models import StepNote, Transition
from jeroboam.models.wire import OperationRequest, StepInput
from jeroboam.store import Store

NOTE_TIMEOUT_SECONDS = 5.0

log = structlog.get_logger(__name__)


class ErrorTranslation(Interceptor):
    """Turns errors into ``ApplicationError``s and binds the ids of the operation to each line."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._defects = Defects()

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the name is the SDK's
        """Wrap the activity."""
        return _Translating(next, self._store, self._defects)


class _Translating(ActivityInboundInterceptor):
    def __init__(self, next_: ActivityInboundInterceptor, store: Store, defects: Defects) -> None:
        super().__init__(next_)
        self._store = store
        self._defects = defects

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002 - the name is the SDK's
        argument = input.args[0] if input.args else None
        with structlog.contextvars.bound_contextvars(**_log_context(argument)):
            try:
                return await self.next.execute_activity(input)
            except JeroboamError as error:
                await self._report(argument, error)
                raise _application_error(error) from None
            except (ApplicationError, asyncio.CancelledError):
                raise
            except Exception as error:
                log.exception("activity_defect")
                # Its text may hold anything, a secret too: it stays out of the run's history.
                raise self._defect(error) from None

    def _defect(self, error: Exception) -> ApplicationError:
        """Say what kind of defect it was; its text stays in the log."""
        info = activity.info()
        kind = type(error).__name__
        return ApplicationError(
            f"A defect in Jeroboam or in a plug-in: {kind}. The worker's log has more.",
            type="Defect",
            non_retryable=self._defects.is_hopeless(info.workflow_run_id or "", info.activity_id),
        )

    async def _report(self, argument: object, error: JeroboamError) -> None:
        """Tell those who watch the operation that a step is being retried, and why."""
        log.warning("activity_failed", error=error.message, kind=type(error).__name__)
        shown = error.retryable and not isinstance(error, WorkerStoppingError)
        if not shown or not isinstance(argument, StepInput):
            return
        note = StepNote(
            operation_id=argument.operation_id,
            step=argument.step,
            attempt=activity.info().attempt,
            message=error.message,
        )
        # Advisory only: a database that is down is reported by its own error.
        with suppress(Exception):
            await asyncio.wait_for(self._store.operations.note(note), NOTE_TIMEOUT_SECONDS)


def _log_context(argument: object) -> dict[str, object]:
    info = activity.info()
    context: dict[str, object] = {"activity": info.activity_type, "attempt": info.attempt}
    if isinstance(argument, OperationRequest | StepInput):
        context["request_id"] = argument.request_id
    if isinstance(argument, OperationRequest | StepInput | Transition):
        context["operation_id"] = argument.operation_id
        context["cluster_id"] = argument.cluster_id
    return context


def _application_error(error: JeroboamError) -> ApplicationError:
    delay = (
        timedelta(seconds=error.retry_after_seconds)
        if isinstance(error, RateLimitedError)
        else None
    )
    return ApplicationError(
        error.message,
        error.faults,
        type=type(error).__name__,
        non_retryable=not error.retryable,
        next_retry_delay=delay,
    )
