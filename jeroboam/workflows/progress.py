"""The record of a run: how it stands, as transitions for the store and as text for operators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import (
        ClusterOutputs,
        Health,
        Method,
        OperationState,
        Plan,
        PlanStep,
        Status,
        StepRecord,
        StepState,
        Transition,
    )
    from jeroboam.models.lifecycle import TRAITS, Ending, Words, status_after
    from jeroboam.models.wire import LoadedPlan, OperationRequest, StepResult

from jeroboam.workflows.failure import Failure

_MARK = {
    StepState.PENDING: "·",
    StepState.RUNNING: "▶",
    StepState.SUCCEEDED: "✔",
    StepState.FAILED: "✘",
    StepState.WARNED: "⚠",
    StepState.CANCELLED: "■",
}


@dataclass
class _Found:
    """What steps found out and the next transition takes to the store."""

    stack_id: str | None = None
    stacks: dict[str, str] = field(default_factory=dict)
    outputs: ClusterOutputs | None = None
    health: Health | None = None
    labels: dict[str, str] = field(default_factory=dict)


class Record:
    """Collects what happens in one operation; pure, so it is safe in workflow code."""

    def __init__(self, request: OperationRequest, run_id: str) -> None:
        self._request = request
        self._run_id = run_id
        self._traits = TRAITS[request.kind]
        self._title = f"{request.kind.words} cluster {request.cluster_id}"
        self._groups: tuple[str, ...] | None = ()
        self._steps: dict[str, StepRecord] = {}
        self._changed: set[str] = set()
        self._state = OperationState.RUNNING
        self._reason: str | None = None
        self._undone = False
        self._seq = request.seq
        self._shown: str | None = None
        self._found = _Found()

    @property
    def current(self) -> str | None:
        """Name of the step at work."""
        running = (one.name for one in self._steps.values() if one.state is StepState.RUNNING)
        return next(running, None)

    def begin(self, loaded: LoadedPlan) -> None:
        """Take the steps over from the plan and from an earlier run."""
        plan = loaded.plan
        self._title = f"{plan.kind.words} {plan.cluster_name} ({plan.driver} {plan.driver_version})"
        self._groups = plan.node_groups
        planned = (*plan.steps, *plan.final)
        self._steps = {step.name: StepRecord(name=step.name) for step in planned}
        self._steps |= {step.name: step for step in loaded.steps}

    def is_done(self, step: PlanStep) -> bool:
        """Whether an earlier run has done the step."""
        return self._steps[step.name].state.done

    def started(self, name: str, now: datetime, *, undoes: bool = False) -> Transition:
        """Note that a step begins; its predecessor's end goes into the same write."""
        step = StepRecord(name=name, state=StepState.RUNNING, started_at=now, undoes=undoes)
        self._put(step)
        word = "rolling_back" if self._state is OperationState.COMPENSATING else "in_progress"
        return self._transition(now, word)

    def ended(
        self,
        state: StepState,
        now: datetime,
        *,
        error: str | None = None,
        message: str | None = None,
    ) -> None:
        """Note that the step at work ended; written with the next transition."""
        if name := self.current:
            update = {"state": state, "ended_at": now, "error": error, "result": message}
            self._put(self._steps[name].model_copy(update=update))

    def keep(self, step: PlanStep, result: StepResult) -> None:
        """Keep what a step found out for the next transition."""
        found, call = self._found, step.call
        found.outputs = result.outputs or found.outputs
        found.health = result.health or found.health
        found.labels |= result.labels
        if result.backend_id and call and call.method is Method.CREATE_CLUSTER:
            found.stack_id = result.backend_id
        elif result.backend_id and call and call.node_group:
            found.stacks[call.node_group] = result.backend_id

    def succeeded(self, now: datetime, plan: Plan) -> Transition:
        """Note the good end; what went wrong without being fatal is the reason."""
        self._state = OperationState.SUCCEEDED
        warned = [one for one in self._steps.values() if one.state is StepState.WARNED]
        self._reason = " ".join(f"{one.name}: {one.error}" for one in warned) or None
        transition = self._transition(now, Ending.COMPLETE)
        calls = (step.call for step in plan.steps if step.call)
        removed = (one.node_group for one in calls if one.method is Method.DELETE_NODE_GROUP)
        return transition.model_copy(
            update={
                "commit": not plan.kind.deletes,
                "remove_cluster": plan.kind.deletes,
                "remove_node_group": next(removed, None),
            }
        )

    def committed(self, now: datetime) -> Transition:
        """Note that the target is the record from now on, before the end of the operation."""
        return self._transition(now, None).model_copy(update={"commit": True})

    def compensating(self, now: datetime, failure: Failure) -> Transition:
        """Note that the operation failed or was cancelled and is being undone."""
        self._state, self._reason = OperationState.COMPENSATING, failure.reason
        return self._transition(now, "rolling_back")

    def over(
        self,
        now: datetime,
        state: OperationState,
        failure: Failure,
        ending: Ending | None,
        *,
        untouched: bool = False,
    ) -> Transition:
        """Note the bad end, or the cancellation.

        Args:
            ending: What it means for the cluster's status; ``None`` leaves it to a successor.
            untouched: Whether nothing was done, so that the previous status holds.
        """
        self._state, self._reason = state, failure.reason
        self._undone = untouched or ending is Ending.ROLLED_BACK
        transition = self._transition(now, None if untouched else ending)
        update = {"faults": {} if untouched else failure.faults, "put_back": untouched}
        return transition.model_copy(update=update)

    def nodes_done(self, plan: Plan, *, left_alone: bool = False) -> str:
        """Return which nodes are done and which are not, of an operation that stopped.

        Args:
            left_alone: Whether nodes that were at work were not waited for.
        """
        done: list[str] = []
        at_work: list[str] = []
        left: list[str] = []
        for step in plan.steps:
            if step.call and step.call.nodes and step.name != step.call.submitted_by:
                begun = self._steps[step.call.submitted_by].started_at is not None
                if self._steps[step.name].state.done:
                    done += step.call.nodes
                else:
                    (at_work if begun and left_alone else left).extend(step.call.nodes)
        if not (done or at_work or left):
            return ""
        busy = f" May still be at work: {', '.join(at_work)}." if at_work else ""
        return f" Done: {', '.join(done) or 'none'}.{busy} Not done: {', '.join(left) or 'none'}."

    def markdown(self) -> str:
        """Return the state as the Temporal UI shows it."""
        lines = [f"**{self._title}**: {self._state.lower()}", ""]
        lines += [
            f"{number}. {_line(step)}" for number, step in enumerate(self._steps.values(), start=1)
        ]
        if self._reason:
            lines += ["", self._reason]
        return "\n".join(lines)

    def _put(self, step: StepRecord) -> None:
        self._steps[step.name] = step
        self._changed.add(step.name)

    def _transition(self, now: datetime, word: Ending | str | None) -> Transition:
        self._seq += 1
        changed = [self._steps[name] for name in self._steps if name in self._changed]
        self._changed.clear()
        shown = f"{word} {self._reason}" if word else None
        fresh = shown is not None and shown != self._shown
        self._shown = shown or self._shown
        found, self._found = self._found, _Found()
        group_words = self._traits.group or self._traits.cluster
        return Transition(
            operation_id=self._request.operation_id,
            cluster_id=self._request.cluster_id,
            seq=self._seq,
            at=now,
            state=self._state,
            run_id=self._run_id,
            steps=tuple(changed),
            undone=self._undone,
            reason=self._reason,
            cluster_status=_status(self._traits.cluster, word) if fresh else None,
            node_groups=self._groups,
            node_group_status=_status(group_words, word) if fresh else None,
            status_reason=self._reason,
            stack_id=found.stack_id,
            node_group_stacks=found.stacks,
            outputs=found.outputs,
            health=found.health,
            labels=found.labels,
        )


def _status(words: Words | None, word: Ending | str | None) -> Status | None:
    if words is None or word is None:
        return None
    if isinstance(word, Ending):
        return status_after(words, word)
    status: Mapping[str, Status] = {
        "in_progress": words.in_progress,
        "rolling_back": words.rolling_back,
    }
    return status[word]


def _line(step: StepRecord) -> str:
    took = (
        f" ({(step.ended_at - step.started_at).total_seconds():.1f} s)"
        if step.started_at and step.ended_at
        else ""
    )
    detail = step.error or step.result
    return f"{_MARK[step.state]} {step.name}{took}{f': {detail}' if detail else ''}"
