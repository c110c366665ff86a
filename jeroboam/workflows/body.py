"""One operation's way through its plan: steps in order, roll-back, record."""

import asyncio
from collections.abc import Awaitable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from temporalio import workflow
from temporalio.exceptions import ActivityError, ApplicationError, is_cancelled_exception

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import (
        Action,
        FailurePolicy,
        HookSource,
        OperationKind,
        OperationState,
        Plan,
        PlanStep,
        Recorded,
        StepState,
        Transition,
    )
    from jeroboam.models.lifecycle import TRAITS, Ending, OnCancel
    from jeroboam.models.wire import (
        OPERATION_ENDED,
        HookAnswer,
        OperationRequest,
        OperationResult,
        StepInput,
        StepResult,
    )
    from jeroboam.workflows.steps import ACTIVITY_OF_ACTION, LOAD_PLAN, RECORD

from jeroboam.workflows import limits
from jeroboam.workflows.failure import Failure, describe
from jeroboam.workflows.progress import Record

T = TypeVar("T")

Cleaned = tuple[Failure, Ending | None]
"""What to say of an operation that did not succeed, and what it means for the cluster."""

_CANCEL_CALL = workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED
"""A call in flight ends before the run goes on: a delete must not overtake a create."""

_CANCEL_WAIT = workflow.ActivityCancellationType.TRY_CANCEL
"""A wait learns of its end at its next heartbeat, up to 48 s later; nobody needs to wait for it."""

_AT_BACKEND = frozenset({Action.SUBMIT, Action.WAIT})

_OF_ENGINE = frozenset(
    {
        Action.ISSUE_CERTIFICATES,
        Action.TRY_CREDENTIALS,
        Action.REVOKE_CREDENTIALS,
        Action.TURN_CERTIFICATES,
        Action.MAKE_ACCOUNT,
        Action.RESTORE_ACCOUNT,
        Action.REMOVE_ACCOUNTS,
    }
)
"""Steps that call no driver."""


class OperationEnded(Exception):  # noqa: N818 - no error, but the end of a run that has no say
    """The operation ended without this run, or another run works on it."""


class _StepFailed(Exception):  # noqa: N818 - a verdict within the workflow
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


@dataclass(frozen=True)
class Interruption:
    """Why an operation shall end before its time.

    Args:
        superseded: Whether another operation goes on with the cluster in this run.
        now: Whether nodes at work are not waited for.
    """

    reason: str
    superseded: bool = False
    now: bool = False

    @property
    def waits(self) -> bool:
        """Whether work on nodes stops between batches only, where the kind does so."""
        return not (self.superseded or self.now)


class Body:
    """One operation's way through its plan.

    Args:
        request: The operation.

    Attributes:
        interruption: Set from outside to end it early.
        answers: Of hooks that said "later", by step; set from outside.
        awaited: The step whose answer is waited for.
        ending: Whether the roll-back or the last record has begun.
        at_backend: Whether the step at work changes the backend, or waits for that.
    """

    def __init__(self, request: OperationRequest) -> None:
        self.interruption: Interruption | None = None
        self.answers: dict[str, HookAnswer] = {}
        self.awaited: str | None = None
        self.ending = False
        self.at_backend = False
        self._request = request
        self._traits = TRAITS[request.kind]
        self._record = Record(request, workflow.info().run_id)
        self._plan: Plan | None = None
        self._deadline: datetime | None = None
        self._done: list[PlanStep] = []
        self._cleaning: asyncio.Task[Cleaned] | None = None

    async def execute(self) -> OperationResult:
        """Run the operation to its end and record it.

        Raises:
            OperationEnded: This run has no say; nothing was recorded.
        """
        try:
            await self._work()
        except asyncio.CancelledError:
            return await self._end(self._stopped())
        except _StepFailed as failed:
            return await self._end(self._failed(failed.failure))
        except ActivityError as error:
            if is_cancelled_exception(error):
                return await self._end(self._stopped())
            failure = self._describe(error)
            return await self._end(self._failed(failure))
        return await self._end(self._succeeded())

    async def _end(self, work: Awaitable[T]) -> T:
        self.ending = True
        return await _guarded(work)

    async def _work(self) -> None:
        loaded = await workflow.execute_activity_method(
            LOAD_PLAN,
            self._request,
            start_to_close_timeout=limits.PLAN_ATTEMPT,
            schedule_to_close_timeout=limits.PLAN_TOTAL,
            retry_policy=limits.RETRY,
            summary=f"Plan the {self._request.kind.words}",
        )
        self._plan = loaded.plan
        self._deadline = workflow.now() + timedelta(seconds=loaded.plan.deadline_seconds)
        self._record.begin(loaded)
        for step in loaded.plan.steps:
            if self._record.is_done(step):
                self._done.append(step)
                continue
            self._check_interruption(step)
            await self._take(step)
        self._check_interruption()

    def _check_interruption(self, step: PlanStep | None = None) -> None:
        """End the body before a step if that was asked; a step's result may have swallowed it.

        Work on nodes stops between batches: a batch that was submitted is waited for, unless that
        is what somebody no longer wants.
        """
        if self.interruption is None:
            return
        whole_nodes = self._traits.on_cancel is OnCancel.STOP and self.interruption.waits
        if whole_nodes and step is not None and step.action is Action.WAIT:
            return
        if step is None and not self.interruption.superseded:
            # Everything is done, so there is nothing left to cancel.
            return
        raise asyncio.CancelledError

    async def _take(self, step: PlanStep) -> None:
        await self._write(self._record.started(step.name, workflow.now()))
        # The write may have swallowed the interruption, and a wait would not end by itself.
        self._check_interruption(step)
        # Before it is tried: a step that fails halfway must be undone as well.
        self._done.append(step)
        self.at_backend = step.action in _AT_BACKEND
        await self._try(step, self._time_for(step))
        self.at_backend = False

    async def _try(self, step: PlanStep, budget: timedelta, failure: str | None = None) -> None:
        """Perform a step and note how it ended; a failure that is not fatal is only noted.

        Raises:
            ActivityError: It failed, or was cancelled.
            _StepFailed: It failed by a hook's late answer, or for want of one.
        """
        try:
            result = await self._perform(step, budget, failure)
            for left in reversed(range(limits.RESUBMISSIONS)):
                if not result.again:
                    break
                await self._perform(step.model_copy(update={"action": Action.SUBMIT}), budget)
                self._check_interruption(None if self.ending else step)
                result = await self._perform(step, budget, resubmissions=left)
            if result.later:
                result = await self._answer(step, budget)
        except ActivityError as error:
            if step.on_failure is FailurePolicy.FAIL or is_cancelled_exception(error):
                raise
            self._pass_over(step, self._describe(error, step.name))
        except _StepFailed as failed:
            if step.on_failure is FailurePolicy.FAIL:
                raise
            self._pass_over(step, failed.failure)
        else:
            self._record.keep(step, result)
            self._record.ended(
                StepState.WARNED if result.warning else StepState.SUCCEEDED,
                workflow.now(),
                error=result.warning,
                message=result.message,
            )

    def _pass_over(self, step: PlanStep, failure: Failure) -> None:
        ignored = step.on_failure is FailurePolicy.IGNORE
        state = StepState.SUCCEEDED if ignored else StepState.WARNED
        self._record.ended(state, workflow.now(), error=failure.reason)

    async def _perform(
        self,
        step: PlanStep,
        budget: timedelta,
        failure: str | None = None,
        *,
        resubmissions: int = limits.RESUBMISSIONS,
    ) -> StepResult:
        waiting = step.action is Action.WAIT
        return await workflow.execute_activity_method(
            ACTIVITY_OF_ACTION[step.action],
            StepInput(
                operation_id=self._request.operation_id,
                cluster_id=self._request.cluster_id,
                request_id=self._request.request_id,
                cluster_name=self._planned.cluster_name,
                step=step.name,
                kind=self._request.kind,
                driver=self._planned.driver,
                call=step.call,
                hook=step.hook,
                minutes_left=max(1, int(budget.total_seconds() // 60)),
                resubmissions=resubmissions,
                hook_seconds=step.timeout_seconds or limits.HOOK_SECONDS,
                failure=failure,
                trusts=step.trusts,
                turn=step.turn,
            ),
            task_queue=self._queue_for(step),
            start_to_close_timeout=min(budget, _attempt(step.action) or budget),
            schedule_to_close_timeout=budget,
            heartbeat_timeout=limits.WAIT_HEARTBEAT if waiting else limits.STEP_HEARTBEAT,
            retry_policy=limits.RETRY,
            cancellation_type=_CANCEL_WAIT if waiting else _CANCEL_CALL,
            summary=step.name,
        )

    def _queue_for(self, step: PlanStep) -> str:
        own = self._planned.driver_queue if _asks_driver(step) else None
        queue = own or workflow.info().task_queue
        return f"{queue}-poll" if step.action is Action.WAIT else queue

    async def _answer(self, step: PlanStep, budget: timedelta) -> StepResult:
        """Wait for a hook that said "later".

        An approval may take hours: the wait is bounded by the hook's own time-out, and does not
        count against the time that the operation has for its work.
        """
        began, self.awaited = workflow.now(), step.name
        patience = timedelta(seconds=step.timeout_seconds) if step.timeout_seconds else budget
        try:
            await workflow.wait_condition(lambda: step.name in self.answers, timeout=patience)
        except TimeoutError:
            reason = f"'{step.name}' did not answer in time."
            raise _StepFailed(Failure(reason)) from None
        finally:
            self.awaited = None
            if self._deadline:
                self._deadline += workflow.now() - began
        answer = self.answers.pop(step.name)
        if not answer.ok:
            raise _StepFailed(Failure(answer.message or f"'{step.name}' refused."))
        return StepResult(message=answer.message or None, labels=answer.labels)

    def _time_for(self, step: PlanStep) -> timedelta:
        if self._deadline is None:
            raise RuntimeError("A step before the plan.")
        left = max(self._deadline - workflow.now(), timedelta(seconds=1))
        if step.timeout_seconds is None or step.action is Action.RUN_HOOK:
            # A hook's own time-out runs in its attempts: while no worker is up it must not.
            return left
        return min(left, timedelta(seconds=step.timeout_seconds))

    async def _succeeded(self) -> OperationResult:
        await self._finish()
        await self._write(self._record.succeeded(workflow.now(), self._planned))
        return self._result(OperationState.SUCCEEDED, None)

    async def _finish(self) -> None:
        """Take the steps that cannot be undone, once the target is the record."""
        steps = [step for step in self._planned.final if not self._record.is_done(step)]
        if not steps:
            return
        await self._write(self._record.committed(workflow.now()))
        for step in steps:
            await self._write(self._record.started(step.name, workflow.now()))
            await self._try(step, _time_after(step))

    async def _stopped(self) -> OperationResult:
        interruption = self.interruption or Interruption("Cancelled.")
        self._record.ended(StepState.CANCELLED, workflow.now())
        failure = Failure(interruption.reason)
        if interruption.superseded:
            return await self._over(OperationState.CANCELLED, failure, None)
        rolls_back = self._traits.on_cancel is OnCancel.ROLL_BACK
        cleaned = await self._pre_emptible(failure, self._unwind(failure, rolls_back=rolls_back))
        return await self._over(OperationState.CANCELLED, *cleaned)

    async def _failed(self, failure: Failure) -> OperationResult:
        self._record.ended(StepState.FAILED, workflow.now(), error=failure.reason)
        cleaned = await self._pre_emptible(failure, self._clean_up(failure))
        return await self._over(OperationState.FAILED, *cleaned)

    async def _clean_up(self, failure: Failure) -> Cleaned:
        rolls_back = self._plan is not None and self._plan.rollback
        failure, ending = await self._unwind(failure, rolls_back=rolls_back)
        await self._run_failure_hooks(failure)
        return failure, ending

    async def _pre_emptible(self, failure: Failure, work: Coroutine[Any, Any, Cleaned]) -> Cleaned:
        """Finish work whatever cancels the run; a delete that takes over needs no roll-back."""
        self._cleaning = asyncio.create_task(work)
        try:
            return await self._cleaning
        except (asyncio.CancelledError, ActivityError) as error:
            if isinstance(error, ActivityError) and not is_cancelled_exception(error):
                raise
            successor = self.interruption.reason if self.interruption else ""
            self._record.ended(StepState.CANCELLED, workflow.now())
            return replace(failure, reason=f"{failure.reason} {successor}"), None
        finally:
            self._cleaning = None

    def works_on(self, operation_id: str) -> bool:
        """Return whether this is the way of an operation."""
        return self._request.operation_id == operation_id

    def pre_empt(self) -> None:
        """Break off the roll-back for an operation that takes over."""
        if self._cleaning:
            self._cleaning.cancel()

    async def _over(
        self, state: OperationState, failure: Failure, ending: Ending | None
    ) -> OperationResult:
        transition = self._record.over(
            workflow.now(),
            state,
            failure,
            ending,
            untouched=ending is not None and self._untouched,
        )
        await self._write(transition)
        return self._result(state, failure.reason)

    async def _unwind(self, failure: Failure, *, rolls_back: bool) -> Cleaned:
        """Roll back if that is asked; return what to say and what it means for the cluster."""
        steps = [undo for step in reversed(self._done) for undo in step.undo]
        if not rolls_back or not steps:
            left_alone = self.interruption is not None and self.interruption.now
            done = self._record.nodes_done(self._plan, left_alone=left_alone) if self._plan else ""
            return replace(failure, reason=f"{failure.reason}{done}"), Ending.FAILED
        await self._write(self._record.compensating(workflow.now(), failure))
        try:
            for step in steps:
                # A step that ended well in spite of it may have swallowed the cancellation.
                self._check_interruption()
                await self._write(self._record.started(step.name, workflow.now(), undoes=True))
                await self._try(step, _time_after(step))
        except (ActivityError, _StepFailed) as error:
            if is_cancelled_exception(error):
                raise
            problem = self._problem(error)
            self._record.ended(StepState.FAILED, workflow.now(), error=problem)
            reason = f"{failure.reason} The roll-back failed as well: {problem}"
            return replace(failure, reason=reason), Ending.ROLL_BACK_FAILED
        return replace(failure, reason=f"{failure.reason} {self._rolled_back}"), Ending.ROLLED_BACK

    @property
    def _untouched(self) -> bool:
        """Whether the backend was not asked for anything, as when a hook refuses."""
        if self._request.kind is OperationKind.CREATE or self._traits.cluster is None:
            return False
        return not any(step.action is Action.SUBMIT for step in self._done)

    @property
    def _rolled_back(self) -> str:
        creates = {OperationKind.CREATE, OperationKind.CREATE_NODE_GROUP}
        if self._request.kind in creates:
            return "It was rolled back: what had been built is removed."
        return "It was rolled back: the previous state is restored."

    async def _run_failure_hooks(self, failure: Failure) -> None:
        for step in self._plan.on_failure if self._plan else ():
            self._check_interruption()
            await self._write(self._record.started(step.name, workflow.now()))
            await self._try(step, limits.COMPENSATION_TOTAL, failure.reason)

    async def _write(self, transition: Transition) -> None:
        workflow.set_current_details(self._record.markdown())
        outcome = await workflow.execute_local_activity_method(
            RECORD,
            transition,
            start_to_close_timeout=limits.RECORD_ATTEMPT,
            retry_policy=limits.RETRY,
        )
        if outcome in {Recorded.ENDED, Recorded.OTHER_RUN}:
            raise OperationEnded(
                f"Operation {self._request.operation_id} has ended, or another run works on it. "
                "This run has touched nothing since."
            )

    def _describe(self, error: ActivityError, step: str | None = None) -> Failure:
        """Return what to tell of a failed activity.

        Raises:
            OperationEnded: The activity found that this run has no say.
        """
        cause = error.cause
        if isinstance(cause, ApplicationError) and cause.type == OPERATION_ENDED:
            raise OperationEnded(cause.message) from error
        return describe(error, self._plan, step or self._record.current)

    def _problem(self, error: ActivityError | _StepFailed) -> str:
        if isinstance(error, _StepFailed):
            return error.failure.reason
        return self._describe(error, "roll back").reason

    @property
    def _planned(self) -> Plan:
        if self._plan is None:
            raise RuntimeError("A step before the plan.")
        return self._plan

    def _result(self, state: OperationState, reason: str | None) -> OperationResult:
        return OperationResult(operation_id=self._request.operation_id, state=state, reason=reason)


def _time_after(step: PlanStep) -> timedelta:
    """Return what a step gets that comes after the work, whose deadline is then of no matter."""
    if step.timeout_seconds is None or step.action is Action.RUN_HOOK:
        return limits.COMPENSATION_TOTAL
    return timedelta(seconds=step.timeout_seconds)


def _attempt(action: Action) -> timedelta | None:
    """Return how long one attempt of an action may take; a wait has all that is left."""
    if action is Action.WAIT:
        return None
    return limits.HOOK_ATTEMPT if action is Action.RUN_HOOK else limits.STEP_ATTEMPT


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


def _asks_driver(step: PlanStep) -> bool:
    if step.hook:
        return step.hook.source is HookSource.DRIVER
    return step.action not in _OF_ENGINE
