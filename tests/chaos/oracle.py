"""Compares the record of an operation with the way it was meant to end. Pure.

Each finding is a sentence with its kind at the front: ``stuck``, ``lost``, ``duplicated``,
``orphaned`` or ``wrong``. What is on the backend is judged by the world that it belongs to.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jeroboam.models import (
    ClusterSpec,
    Operation,
    OperationKind,
    OperationState,
    StepState,
)
from jeroboam.models.lifecycle import TRAITS
from tests.chaos.faults import Outcome

K = OperationKind
Known = TypeVar("Known")


@dataclass(frozen=True)
class Case(Generic[Known]):
    """An operation that has ended, with all that can be known about it.

    Args:
        before: The cluster's record when the operation was asked for; for a create as it is now.
        now: The cluster's record; ``None`` if it is gone.
        known: What the backend knows.
        attempts: How often the operation was begun: once, and once for each retry.
    """

    operation: Operation
    outcome: Outcome
    before: ClusterSpec
    now: ClusterSpec | None
    known: Known
    attempts: int = 1

    @property
    def went_well(self) -> bool:
        """Whether it ended as it was meant."""
        return self.operation.state is OperationState.SUCCEEDED


def judge_record(case: Case[Any]) -> Iterator[str]:
    """Yield what is not as it should be in the records alone."""
    yield from _ending(case)
    if case.now is not None:
        yield from _words(case, case.now)


def is_settled(spec: ClusterSpec, operation: Operation) -> bool:
    """Return whether the record must agree with the backend: nothing was left half done."""
    words = TRAITS[operation.kind].cluster
    if words is None or operation.state is OperationState.SUCCEEDED:
        return not spec.cluster.status.failed
    one_way = operation.kind is K.CREATE or operation.kind.deletes
    # Rolled back; or nothing was touched, and the status is the one before.
    return not spec.cluster.status.failed and not one_way


def _ending(case: Case[Any]) -> Iterator[str]:
    operation, state = case.operation, case.operation.state
    allowed = {
        Outcome.WELL: {OperationState.SUCCEEDED},
        Outcome.BADLY: {OperationState.FAILED},
        Outcome.STOPPED: {
            OperationState.CANCELLED,
            OperationState.FAILED,
            OperationState.SUCCEEDED,
        },
        Outcome.REMOVED: {
            OperationState.CANCELLED,
            OperationState.FAILED,
            OperationState.SUCCEEDED,
            OperationState.REJECTED,
        },
    }[case.outcome]
    if state not in allowed:
        yield f"wrong: {operation.kind} ended {state} ({operation.reason}), not {case.outcome}"
    if operation.ended_at is None:
        yield "wrong: an operation that has ended has no time of its end"
    if state is not OperationState.SUCCEEDED and not operation.reason:
        yield f"wrong: {operation.kind} is {state} without a reason"
    for step in operation.steps:
        if step.state is StepState.RUNNING:
            yield f"wrong: step '{step.name}' is RUNNING in an operation that is {state}"
        if case.went_well and not step.state.done and not step.undoes:
            yield f"wrong: step '{step.name}' is {step.state} in an operation that is {state}"


def _words(case: Case[Any], now: ClusterSpec) -> Iterator[str]:
    cluster, operation = now.cluster, case.operation
    words = TRAITS[operation.kind].cluster
    if cluster.status.in_progress:
        yield f"stuck: the cluster is {cluster.status} and nothing works on it"
    for group in now.node_groups:
        if group.status and group.status.in_progress:
            yield f"stuck: node group {group.name} is {group.status} and nothing works on it"
    if case.outcome is Outcome.REMOVED or words is None:
        return
    if cluster.operation_id != operation.uuid:
        yield f"wrong: the cluster names operation {cluster.operation_id}, not {operation.uuid}"
    bad = {words.failed, words.rolled_back, words.roll_back_failed, case.before.cluster.status}
    allowed = {words.complete} if case.went_well else bad
    if cluster.status not in allowed:
        yield f"wrong: {operation.kind} is {operation.state} and the cluster {cluster.status}"


def chosen(operation: Operation) -> int:
    """Return on how many nodes an operation works."""
    steps = operation.plan.steps if operation.plan else ()
    calls = (step.call for step in steps if step.call and step.call.submitted_by == step.name)
    return sum(len(call.nodes) for call in calls)
