"""The one skeleton of all operations: plan, steps in order, compensation, record."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import ClassVar, TypeVar

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import (
        Action,
        FailurePolicy,
        OperationKind,
        OperationState,
        Plan,
        PlanStep,
        StepState,
        Transition,
    )
    from jeroboam.models.wire import (
        ALREADY_DELETING,
        SUPERSEDE_UPDATE,
        OperationRequest,
        OperationResult,
        StepInput,
        StepResult,
    )
    from jeroboam.workflows.steps import ACTIVITY_OF_ACTION, INTENT_OF_ACTION, LOAD_PLAN, RECORD

from jeroboam.workflows import limits
from jeroboam.workflows.failure import Failure, describe
from jeroboam.workflows.progress import Record

T = TypeVar("T")

OPERATION_ATTRIBUTE = SearchAttributeKey.for_keyword("Operation")


_CANCEL_CALL = workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
"""A call in flight ends before the run goes on: a delete must not overtake a create."""

_CANCEL_WAIT = workflow.ActivityCancellationType.TRY_CANCEL
"""A wait learns of its end at its next heartbeat, up to 48 s later; nobody needs to wait for it."""


class OperationWorkflow:
    """What all operation workflows have in common; a sub-class adds its name and ``run``.

    One run serves an operation and, when a delete supersedes it, that delete: the workflow id is
    the cluster's lock, and it is never let go in between.
    """

    kind: ClassVar[OperationKind]

    def __init__(self) -> None:
        self._current = self.kind
        self._successor: OperationRequest | None = None
        self._stopping = False
        self._body: asyncio.Task[OperationResult] | None = None

    @workflow.update(name=SUPERSEDE_UPDATE)
    async def supersede(self, successor: OperationRequest) -> None:
        """End the operation at work and go on with its successor."""
        self._successor = successor
        self._interrupt()

    @supersede.validator
    def check_supersede(self, successor: OperationRequest) -> None:
        """Refuse what may not take over: only a delete may, and only one.

        Raises:
            ApplicationError: With the type that tells the caller which it was.
        """
        if successor.kind is not OperationKind.DELETE:
            raise ApplicationError("Only a delete supersedes.", type="OperationInProgressError")
        if self._current is OperationKind.DELETE or self._successor:
            raise ApplicationError("The cluster is being deleted.", type=ALREADY_DELETING)

    async def execute(self, request: OperationRequest) -> OperationResult:
        """Run the operation, and what supersedes it, to the end.

        Raises:
            ApplicationError: It failed; the record holds the reason too.
        """
        result = await self._run_one(request)
        while self._successor:
            successor, self._successor, self._stopping = self._successor, None, False
            self._current = successor.kind
            workflow.upsert_search_attributes([OPERATION_ATTRIBUTE.value_set(successor.kind)])
            result = await self._run_one(successor)
        if result.state is OperationState.FAILED:
            raise ApplicationError(
                result.reason or "Failed.", type="OperationFailed", non_retryable=True
            )
        return result

    async def _run_one(self, request: OperationRequest) -> OperationResult:
        self._body = asyncio.create_task(_Body(self, request).execute())
        while not self._body.done():
            try:
                await asyncio.shield(self._body)
            except asyncio.CancelledError:
                # From the Temporal UI or client; the body ends at a safe point and records it.
                self._interrupt()
        return self._body.result()

    def _interrupt(self) -> None:
        self._stopping = True
        if self._body:
            self._body.cancel()

    def check_stop(self) -> None:
        """End the body at this point if it was asked to; a step's result may have swallowed it."""
        if self._stopping:
            raise asyncio.CancelledError

    @property
    def successor(self) -> OperationRequest | None:
        """The operation that goes on when this one has stopped."""
        return self._successor


class _Body:
    """One operation's way through its plan."""

    def __init__(self, run: OperationWorkflow, request: OperationRequest) -> None:
        self._run = run
        self._request = request
        self._record = Record(request, workflow.info().run_id)
        self._plan: Plan | None = None
        self._deadline: datetime | None = None
        self._done: list[PlanStep] = []

    async def execute(self) -> OperationResult:
        try:
            await self._work()
        except asyncio.CancelledError:
            return await _guarded(self._stopped())
        except ActivityError as error:
            if is_cancelled_exception(error):
                return await _guarded(self._stopped())
            return await _guarded(self._failed(describe(error, self._plan, self._record.current)))
        return await _guarded(self._succeeded())

    async def _work(self) -> None:
        self._plan = await workflow.execute_activity_method(
            LOAD_PLAN,
            self._request,
            start_to_close_timeout=limits.PLAN_ATTEMPT,
            schedule_to_close_timeout=limits.PLAN_TOTAL,
            retry_policy=limits.RETRY,
            summary=f"Plan the {self._request.kind}",
        )
        self._deadline = workflow.now() + timedelta(seconds=self._plan.deadline_seconds)
        self._record.plan(self._plan)
        for step in self._plan.steps:
            self._run.check_stop()
            await self._take(step)
        self._run.check_stop()

    async def _take(self, step: PlanStep) -> None:
        await self._write(self._record.started(step.name, workflow.now()))
        # Before it is tried: a step that fails halfway must be undone as well.
        self._done.append(step)
        try:
            result = await self._perform(step.action, step, self._time_for(step))
        except ActivityError as error:
            if step.on_failure is FailurePolicy.FAIL or is_cancelled_exception(error):
                raise
            failure = describe(error, self._plan, step.name)
            self._record.ended(StepState.WARNED, workflow.now(), error=failure.reason)
            return
        self._record.ended(StepState.SUCCEEDED, workflow.now(), result=result)

    async def _perform(self, action: Action, step: PlanStep, budget: timedelta) -> StepResult:
        waiting = action in limits.WAITING
        minutes_left = max(1, int(budget.total_seconds() // 60))
        return await workflow.execute_activity_method(
            ACTIVITY_OF_ACTION[action],
            StepInput(
                operation_id=self._request.operation_id,
                cluster_id=self._request.cluster_id,
                request_id=self._request.request_id,
                cluster_name=self._planned.cluster_name,
                step=step.name,
                intent=INTENT_OF_ACTION.get(action, self._request.kind),
                driver=self._planned.driver,
                hook=step.hook,
                minutes_left=minutes_left,
            ),
            task_queue=f"{workflow.info().task_queue}-poll" if waiting else None,
            start_to_close_timeout=budget if waiting else min(budget, limits.STEP_ATTEMPT),
            schedule_to_close_timeout=budget,
            heartbeat_timeout=limits.WAIT_HEARTBEAT if waiting else limits.STEP_HEARTBEAT,
            retry_policy=limits.RETRY,
            cancellation_type=_CANCEL_WAIT if waiting else _CANCEL_CALL,
            summary=step.name,
        )

    def _time_for(self, step: PlanStep) -> timedelta:
        if self._deadline is None:
            raise RuntimeError("A step before the plan.")
        left = max(self._deadline - workflow.now(), timedelta(seconds=1))
        if step.timeout_seconds is None:
            return left
        return min(left, timedelta(seconds=step.timeout_seconds))

    async def _succeeded(self) -> OperationResult:
        await self._write(self._record.succeeded(workflow.now()))
        return self._result(OperationState.SUCCEEDED, None)

    async def _stopped(self) -> OperationResult:
        successor = self._run.successor
        reason = (
            f"Superseded by {successor.kind} {successor.operation_id}."
            if successor
            else "Cancelled by an operator."
        )
        superseded = successor is not None
        await self._write(self._record.stopped(workflow.now(), reason, superseded=superseded))
        return self._result(OperationState.CANCELLED, reason)

    async def _failed(self, failure: Failure) -> OperationResult:
        self._record.ended(StepState.FAILED, workflow.now(), error=failure.reason)
        undone = ""
        if self._plan and self._plan.rollback:
            undone = await self._compensate(failure)
        reason = f"{failure.reason}{undone}"
        await self._write(self._record.failed(workflow.now(), replace(failure, reason=reason)))
        return self._result(OperationState.FAILED, reason)

    async def _compensate(self, failure: Failure) -> str:
        steps = [(action, step) for step in reversed(self._done) for action in step.compensation]
        if not steps:
            return ""
        await self._write(self._record.compensating(workflow.now(), failure))
        try:
            for action, step in steps:
                await self._perform(action, step, limits.COMPENSATION_TOTAL)
        except ActivityError as error:
            problem = describe(error, self._plan, "roll back").reason
            return f" The roll-back failed as well: {problem}"
        return " It was rolled back: what had been built is removed."

    async def _write(self, transition: Transition) -> None:
        workflow.set_current_details(self._record.markdown())
        await workflow.execute_local_activity_method(
            RECORD,
            transition,
            start_to_close_timeout=limits.RECORD_ATTEMPT,
            retry_policy=limits.RETRY,
        )

    @property
    def _planned(self) -> Plan:
        if self._plan is None:
            raise RuntimeError("A step before the plan.")
        return self._plan

    def _result(self, state: OperationState, reason: str | None) -> OperationResult:
        return OperationResult(operation_id=self._request.operation_id, state=state, reason=reason)


async def _guarded(work: Awaitable[T]) -> T:
    """Finish work although the run is cancelled; cancellation is delivered once, then ignored.

    ``asyncio.shield`` alone is not enough: the outer await raises, the run returns, and the inner
    task is dropped.
    """
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                break
    return task.result()
