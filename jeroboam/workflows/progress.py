"""The record of a run: how it stands, as transitions for the store and as text for operators."""

from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import (
        OperationKind,
        OperationState,
        Plan,
        Status,
        StepRecord,
        StepState,
        Transition,
    )
    from jeroboam.models.wire import OperationRequest, StepResult

from jeroboam.workflows.failure import Failure

_STATUS = {
    OperationKind.CREATE: (
        Status.CREATE_IN_PROGRESS,
        Status.CREATE_COMPLETE,
        Status.CREATE_FAILED,
    ),
    OperationKind.DELETE: (
        Status.DELETE_IN_PROGRESS,
        Status.DELETE_COMPLETE,
        Status.DELETE_FAILED,
    ),
}

_MARK = {
    StepState.PENDING: "&nbsp;",
    StepState.RUNNING: "▶",
    StepState.SUCCEEDED: "✔",
    StepState.FAILED: "✘",
    StepState.WARNED: "⚠",
    StepState.CANCELLED: "■",
}


class Record:
    """Collects what happens in one operation; pure, so it is safe in workflow code."""

    def __init__(self, request: OperationRequest, run_id: str) -> None:
        self._request = request
        self._run_id = run_id
        self._kind = request.kind
        self._title = f"{request.kind} cluster {request.cluster_id}"
        self._steps: list[StepRecord] = []
        self._state = OperationState.RUNNING
        self._reason: str | None = None
        self._seq = 0
        self._status: Status | None = None
        self._pending = StepResult()

    @property
    def current(self) -> str | None:
        """Name of the step at work."""
        return next((step.name for step in self._steps if step.state is StepState.RUNNING), None)

    def plan(self, plan: Plan) -> None:
        """Take the steps over from the plan."""
        self._title = f"{plan.kind} {plan.cluster_name} ({plan.driver} {plan.driver_version})"
        self._steps = [StepRecord(name=step.name) for step in plan.steps]

    def started(self, name: str, now: datetime) -> Transition:
        """Note that a step begins; its predecessor's end goes into the same write."""
        self._steps = [
            step.model_copy(update={"state": StepState.RUNNING, "started_at": now})
            if step.name == name
            else step
            for step in self._steps
        ]
        in_progress, _, _ = _STATUS[self._kind]
        return self._transition(now, in_progress)

    def ended(
        self,
        state: StepState,
        now: datetime,
        *,
        error: str | None = None,
        result: StepResult | None = None,
    ) -> None:
        """Note that the step at work ended; written with the next transition."""
        self._steps = [
            step.model_copy(update={"state": state, "ended_at": now, "error": error})
            if step.state is StepState.RUNNING
            else step
            for step in self._steps
        ]
        if result:
            self._pending = StepResult(
                stack_id=result.stack_id or self._pending.stack_id,
                outputs=result.outputs or self._pending.outputs,
            )

    def succeeded(self, now: datetime) -> Transition:
        """Note the good end."""
        self._state = OperationState.SUCCEEDED
        _, complete, _ = _STATUS[self._kind]
        deleted = self._kind is OperationKind.DELETE
        return self._transition(now, complete, remove_cluster=deleted)

    def stopped(self, now: datetime, reason: str, *, superseded: bool) -> Transition:
        """Note that the run was superseded or cancelled.

        A superseded operation leaves the cluster's status to its successor.
        """
        self.ended(StepState.CANCELLED, now)
        self._state, self._reason = OperationState.CANCELLED, reason
        _, _, failed = _STATUS[self._kind]
        return self._transition(now, None if superseded else failed)

    def compensating(self, now: datetime, failure: Failure) -> Transition:
        """Note that the operation failed and what it built is being removed."""
        self._state, self._reason = OperationState.COMPENSATING, failure.reason
        in_progress, _, _ = _STATUS[self._kind]
        return self._transition(now, in_progress)

    def failed(self, now: datetime, failure: Failure) -> Transition:
        """Note the bad end."""
        self._state, self._reason = OperationState.FAILED, failure.reason
        _, _, failed = _STATUS[self._kind]
        transition = self._transition(now, failed)
        return transition.model_copy(update={"faults": failure.faults})

    def markdown(self) -> str:
        """Return the state as the Temporal UI shows it."""
        lines = [f"**{self._title}**: {self._state.lower()}", ""]
        for number, step in enumerate(self._steps, start=1):
            took = (
                f" {(step.ended_at - step.started_at).total_seconds():.1f} s"
                if step.started_at and step.ended_at
                else ""
            )
            error = f": {step.error}" if step.error else ""
            lines.append(f"{number}. {_MARK[step.state]} {step.name}{took}{error}")
        if self._reason:
            lines += ["", self._reason]
        return "\n".join(lines)

    def _transition(
        self, now: datetime, status: Status | None, *, remove_cluster: bool = False
    ) -> Transition:
        self._seq += 1
        changed = status if status is not self._status or self._reason else None
        self._status = status or self._status
        pending, self._pending = self._pending, StepResult()
        return Transition(
            operation_id=self._request.operation_id,
            cluster_id=self._request.cluster_id,
            seq=self._seq,
            at=now,
            state=self._state,
            run_id=self._run_id,
            steps=tuple(self._steps),
            reason=self._reason,
            cluster_status=changed,
            status_reason=self._reason,
            stack_id=pending.stack_id,
            outputs=pending.outputs,
            remove_cluster=remove_cluster,
        )
