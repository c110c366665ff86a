"""The run of an operation: who may interrupt it, and what takes over when it has ended."""

import asyncio
from typing import ClassVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import OperationKind, OperationState
    from jeroboam.models.lifecycle import TRAITS, OnCancel, cancel_words
    from jeroboam.models.wire import (
        ALREADY_DELETING,
        ANSWER_HOOK_UPDATE,
        CANCEL_UPDATE,
        OPERATION_ENDED,
        SUPERSEDE_UPDATE,
        CancelRequest,
        HookAnswer,
        OperationRequest,
        OperationResult,
    )

from jeroboam.workflows.body import Body, Interruption, OperationEnded

OPERATION_ATTRIBUTE = SearchAttributeKey.for_keyword("Operation")

CANCELLED_IN_TEMPORAL = "Cancelled in Temporal by an operator."


class OperationWorkflow:
    """What all operation workflows have in common; a sub-class adds its name and ``run``.

    One run serves an operation and, when a delete supersedes it, that delete: the workflow id is
    the cluster's lock, and it is never let go in between.
    """

    kind: ClassVar[OperationKind]

    def __init__(self) -> None:
        self._current = self.kind
        self._successor: OperationRequest | None = None
        self._body: Body | None = None
        self._task: asyncio.Task[OperationResult] | None = None

    @workflow.update(name=SUPERSEDE_UPDATE)
    async def supersede(self, successor: OperationRequest) -> None:
        """End the operation at work and go on with its successor."""
        self._successor = successor
        if self._body:
            self._body.interruption = Interruption(
                f"Superseded by {successor.kind.words} {successor.operation_id}.", superseded=True
            )
            self._body.pre_empt()
        self._interrupt()

    @supersede.validator
    def check_supersede(self, successor: OperationRequest) -> None:
        """Refuse what may not take over: only a delete may, and only one.

        Raises:
            ApplicationError: With the type that tells the caller which it was.
        """
        if not successor.kind.deletes:
            raise ApplicationError("Only a delete supersedes.", type="OperationInProgressError")
        if self._current.deletes or self._successor:
            raise ApplicationError("The cluster is being deleted.", type=ALREADY_DELETING)

    @workflow.update(name=CANCEL_UPDATE)
    async def cancel(self, request: CancelRequest) -> str:
        """Cancel the operation at work in the way of its kind; return what happens now."""
        self._stop(request.reason, now=request.now)
        return cancel_words(self._current, now=request.now)

    @cancel.validator
    def check_cancel(self, request: CancelRequest) -> None:
        """Refuse where there is nothing to cancel, or no way back.

        Raises:
            ApplicationError: With the reason for the user.
        """
        if self._body is None or not self._body.works_on(request.operation_id):
            refused = "The operation is not at work."
        elif TRAITS[self._current].on_cancel is OnCancel.REFUSE:
            refused = cancel_words(self._current)
        elif self._body.ending:
            refused = "The operation is ending already; there is nothing left to cancel."
        elif not self._may_interrupt(now=request.now):
            refused = "The operation is being cancelled already."
        else:
            return
        raise ApplicationError(refused, type="ConflictError")

    @workflow.update(name=ANSWER_HOOK_UPDATE)
    async def answer_hook(self, answer: HookAnswer) -> None:
        """Take the answer of a hook that said "later"."""
        if self._body:
            self._body.answers[answer.step] = answer

    @answer_hook.validator
    def check_answer(self, answer: HookAnswer) -> None:
        """Refuse an answer that nobody waits for.

        Raises:
            ApplicationError: Nobody does.
        """
        meant = self._body is not None and self._body.works_on(answer.operation_id)
        if self._body is None or not meant or self._body.awaited != answer.step:
            raise ApplicationError("Nobody waits for this answer.", type="ConflictError")

    async def execute(self, request: OperationRequest) -> OperationResult:
        """Run the operation, and what supersedes it, to the end.

        Raises:
            ApplicationError: It failed; the record holds the reason too.
        """
        try:
            result = await self._run_one(request)
            while successor := await self._next():
                result = await self._run_one(successor)
        except OperationEnded as ended:
            raise ApplicationError(str(ended), type=OPERATION_ENDED, non_retryable=True) from None
        if result.state is OperationState.FAILED:
            raise ApplicationError(
                result.reason or "Failed.", type="OperationFailed", non_retryable=True
            )
        return result

    async def _next(self) -> OperationRequest | None:
        """Return what takes over, when everybody who asked has an answer."""
        await workflow.wait_condition(workflow.all_handlers_finished)
        successor, self._successor = self._successor, None
        if successor:
            self._current = successor.kind
            workflow.upsert_search_attributes([OPERATION_ATTRIBUTE.value_set(successor.kind)])
        return successor

    async def _run_one(self, request: OperationRequest) -> OperationResult:
        self._body = Body(request)
        self._task = asyncio.create_task(self._body.execute())
        while not self._task.done():
            try:
                await asyncio.shield(self._task)
            except asyncio.CancelledError:
                if self._task.cancelled():
                    raise
                # From the Temporal UI or client; the body ends at a safe point and records it.
                self._stop(CANCELLED_IN_TEMPORAL)
        return self._task.result()

    def _stop(self, reason: str, *, now: bool = False) -> None:
        if self._body is None or not self._may_interrupt(now=now):
            return
        earlier = self._body.interruption
        reason = f"{earlier.reason} {reason}" if earlier else reason
        self._body.interruption = Interruption(reason, now=now)
        if now or not (self._stops_between_nodes and self._body.at_backend):
            self._interrupt()

    def _may_interrupt(self, *, now: bool) -> bool:
        """Return whether a cancellation changes anything; one that waits may be hurried, once."""
        earlier = self._body.interruption if self._body else None
        if earlier is None:
            return True
        return now and self._stops_between_nodes and not (earlier.now or earlier.superseded)

    @property
    def _stops_between_nodes(self) -> bool:
        return TRAITS[self._current].on_cancel is OnCancel.STOP

    def _interrupt(self) -> None:
        if self._task:
            self._task.cancel()
