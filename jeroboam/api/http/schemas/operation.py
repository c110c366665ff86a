"""Operation records on the wire."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import Link, ResponseModel, Timestamp
from jeroboam.api.http.schemas.plan import PlanBody
from jeroboam.models import (
    Action,
    Operation,
    OperationKind,
    OperationState,
    PlanStep,
    StepNote,
    StepRecord,
)
from jeroboam.models.lifecycle import TRAITS, OnCancel, cancel_words, may_retry

_NODE_WORK = ("node_groups", "nodes", "batch_size")
_INPUT: Mapping[OperationKind, Sequence[str]] = {
    OperationKind.UPDATE: ("node_group", "node_count"),
    OperationKind.RESIZE: ("node_group", "node_count", "nodes_to_remove"),
    OperationKind.UPGRADE: ("node_group", "cluster_template_id", "batch_size"),
    OperationKind.REBUILD: _NODE_WORK,
    OperationKind.SOFT_REBOOT: _NODE_WORK,
    OperationKind.HARD_REBOOT: _NODE_WORK,
    OperationKind.CREATE_NODE_GROUP: ("group",),
    OperationKind.UPDATE_NODE_GROUP: ("group",),
    OperationKind.DELETE_NODE_GROUP: ("node_group",),
    OperationKind.ROTATE_CREDENTIAL: ("owner_id",),
}
_GROUP_INPUT = (
    *("uuid", "name", "role", "flavor_id", "image_id", "docker_volume_size", "labels"),
    *("node_labels", "node_taints", "node_count", "min_node_count", "max_node_count"),
)


class OperationSummary(ResponseModel):
    """An operation in a list."""

    uuid: str
    kind: str
    state: str
    cluster_id: str
    cluster_name: str
    project_id: str
    user_id: str
    request_id: str
    schedule_id: str | None
    reason: str | None
    current_step: str | None
    created_at: Timestamp
    started_at: Timestamp | None
    ended_at: Timestamp | None
    links: list[Link]


class StepBody(ResponseModel):
    """One step, as planned and as it went.

    ``attempts`` counts the tries of a step that told of itself, ``message`` is the latest that it
    told; ``undoes`` marks steps of a roll-back. ``seq`` is the change of the record that wrote it.
    """

    name: str
    action: str | None
    hook: str | None
    state: str
    attempts: int
    message: str | None
    error: str | None
    result: str | None
    undoes: bool
    seq: int
    started_at: Timestamp | None
    ended_at: Timestamp | None


class CancelBody(ResponseModel):
    """What a cancellation would do now: ``roll_back``, ``stop`` or ``refuse``, and in words.

    ``message_now`` is what one would do that does not wait for the nodes at work.
    """

    possible: bool
    effect: str
    message: str
    message_now: str


class OperationDetail(OperationSummary):
    """An operation with all that is known of it; ``plan`` is null until the run has made it.

    ``seq`` is the number of the last change of the record; it only grows.
    """

    seq: int
    rollback: bool
    parameters: Mapping[str, Any]
    changes: Mapping[str, str]
    plan: PlanBody | None
    steps: Sequence[StepBody]
    deadline_at: Timestamp | None
    cancel: CancelBody
    retry_possible: bool


class OperationList(ResponseModel):
    """A page of operations."""

    operations: Sequence[OperationSummary]
    next: str | None = None


def summary(operation: Operation, links: Links) -> OperationSummary:
    """Return an operation as it stands in a list."""
    return OperationSummary(**_summary_fields(operation, links))


def detail(
    operation: Operation, notes: Sequence[StepNote], links: Links, *, temporal_url: str | None
) -> OperationDetail:
    """Return an operation with all that is known of it.

    Args:
        temporal_url: Address of its run in Temporal's UI, for those who may know.
    """
    fields = _summary_fields(operation, links)
    if temporal_url:
        fields["links"] = [*fields["links"], Link(rel="temporal", href=temporal_url)]
    plan = operation.plan
    return OperationDetail(
        **fields,
        seq=operation.seq,
        rollback=operation.rollback,
        parameters=_input(operation),
        changes=plan.changes if plan else {},
        plan=PlanBody.of(plan) if plan else None,
        steps=list(_steps(operation, {note.step: note for note in notes})),
        deadline_at=_deadline(operation),
        cancel=_cancel(operation),
        retry_possible=may_retry(operation.state),
    )


def _input(operation: Operation) -> dict[str, Any]:
    """Return those of the parameters that count for the kind of operation."""
    given = operation.parameters.model_dump(
        mode="json", include=set(_INPUT.get(operation.kind, ()))
    )
    if given.get("group"):
        given["group"] = {name: given["group"][name] for name in _GROUP_INPUT}
    return given


def _summary_fields(operation: Operation, links: Links) -> dict[str, Any]:
    fields = set(OperationSummary.model_fields) - {"links", "current_step"}
    return {
        **operation.model_dump(include=fields),
        "current_step": operation.current_step,
        "links": [
            *links.resource("operations", operation.uuid),
            Link(rel="cluster", href=links.url("clusters", operation.cluster_id)),
        ],
    }


def _steps(operation: Operation, notes: Mapping[str, StepNote]) -> Iterator[StepBody]:
    """Yield the planned steps in order, then what was done to undo them and about the failure."""
    planned = {step.name: step for step in operation.plan.steps} if operation.plan else {}
    others = {step.name: step for step in _undoing(operation)}
    records = {record.name: record for record in operation.steps}
    for name in (*planned, *(one for one in records if one not in planned)):
        record = records.get(name) or StepRecord(name=name)
        yield _step(record, planned.get(name) or others.get(name), notes.get(name))


def _undoing(operation: Operation) -> Iterator[PlanStep]:
    if operation.plan:
        for step in operation.plan.steps:
            yield from step.undo
        yield from operation.plan.on_failure


def _step(record: StepRecord, planned: PlanStep | None, note: StepNote | None) -> StepBody:
    hook = planned.hook if planned and planned.action is Action.RUN_HOOK else None
    begun = record.started_at is not None
    return StepBody(
        **record.model_dump(),
        action=planned.action if planned else None,
        hook=(hook.name or hook.source) if hook else None,
        attempts=note.attempt if note else int(begun),
        message=note.message if note else None,
    )


def _deadline(operation: Operation) -> datetime | None:
    if operation.plan is None or operation.started_at is None:
        return None
    return operation.started_at + timedelta(seconds=operation.plan.deadline_seconds)


def _cancel(operation: Operation) -> CancelBody:
    effect = TRAITS[operation.kind].on_cancel
    if not operation.state.active:
        message = f"The operation has ended ({operation.state}); there is nothing to cancel."
        return CancelBody(
            possible=False, effect=OnCancel.REFUSE, message=message, message_now=message
        )
    undoing = "It is being rolled back already."
    undone = operation.state is OperationState.COMPENSATING
    return CancelBody(
        possible=effect is not OnCancel.REFUSE and not undone,
        effect=effect,
        message=undoing if undone else cancel_words(operation.kind),
        message_now=undoing if undone else cancel_words(operation.kind, now=True),
    )
