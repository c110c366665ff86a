"""How a transition changes the rows: the guards that make late and repeated writes harmless.

Three guards work together. Within a run of an operation ``seq`` only grows. Between runs of an
operation Temporal decides which one is at work; the other ones stop. Between operations the
cluster's ``operation_id`` names the one that may write the row: an operation takes the row when it
is accepted or with its first transition, and loses it to the next operation that does so.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import NotFoundError
from jeroboam.models import (
    ClusterOutputs,
    Operation,
    OperationKind,
    OperationState,
    Recorded,
    Status,
    StepRecord,
    StepState,
    Transition,
)
from jeroboam.models.lifecycle import TRAITS
from jeroboam.store import acceptance, targets
from jeroboam.store.columns import clip
from jeroboam.store.query import fetch_one, model_of
from jeroboam.store.tables import ClusterRow, ClusterSecretRow, NodeGroupRow, OperationRow

_STARTED = frozenset({OperationState.RUNNING, OperationState.COMPENSATING})

_GUARDS = (
    OperationRow.id,
    OperationRow.uuid,
    OperationRow.kind,
    OperationRow.cluster_id,
    OperationRow.state,
    OperationRow.seq,
    OperationRow.steps,
    OperationRow.run_id,
    OperationRow.started_at,
)
"""What a transition is judged by; the plan, which is long, is not read for it."""


async def apply(
    connection: AsyncConnection, transition: Transition, *, takes_over: bool = False
) -> Recorded:
    """Write ``transition``, unless it was written before or its run has no say any more.

    Args:
        takes_over: Whether Temporal says that the run which writes is the one at work, although
            the record was written by another one: the run was reset.
    """
    row = await _locked(connection, transition.operation_id, *_GUARDS)
    if row is None:
        raise NotFoundError(f"Operation {transition.operation_id} could not be found.")
    same_run = None in {row["run_id"], transition.run_id} or row["run_id"] == transition.run_id
    if not same_run and not takes_over:
        return Recorded.OTHER_RUN
    if same_run and transition.seq <= row["seq"]:
        return Recorded.STALE
    if not OperationState(row["state"]).active:
        return Recorded.ENDED
    await _write_operation(connection, row, transition)
    if _says_nothing_of_the_cluster(row, transition):
        return Recorded.WRITTEN
    if await _may_write_cluster(connection, row):
        await _write_rows(connection, row, transition)
    return Recorded.WRITTEN


async def _write_rows(
    connection: AsyncConnection, row: Mapping[Any, Any], transition: Transition
) -> None:
    if transition.remove_cluster:
        await _remove_cluster(connection, row["cluster_id"])
        return
    if transition.commit or transition.put_back:
        operation = await _operation(connection, row["uuid"])
        if transition.commit:
            await targets.commit(connection, operation, transition.at)
        if transition.put_back:
            await acceptance.put_back(connection, operation, transition.reason)
    await _write_cluster(connection, row["cluster_id"], transition)
    if transition.remove_node_group:
        await connection.execute(
            delete(NodeGroupRow).where(NodeGroupRow.uuid == transition.remove_node_group)
        )


async def abandon(connection: AsyncConnection, uuid: str, reason: str, at: datetime) -> None:
    """Fail an operation that has not ended, and the cluster row that waits for it."""
    row = await _locked(connection, uuid)
    if row is None or not OperationState(row["state"]).active:
        return
    operation = model_of(Operation, OperationRow, row)
    await connection.execute(
        update(OperationRow)
        .where(OperationRow.uuid == uuid)
        .values(
            state=OperationState.FAILED,
            reason=reason,
            ended_at=at,
            steps=tuple(_broken_off(step, reason, at) for step in operation.steps),
        )
    )
    await _fail_cluster(connection, operation, reason, at)


async def _locked(
    connection: AsyncConnection, uuid: str, *columns: Any
) -> Mapping[Any, Any] | None:
    """Lock an operation's row and return it, or some columns of it."""
    wanted = columns or (OperationRow,)
    statement = select(*wanted).where(OperationRow.uuid == uuid).with_for_update()
    return (await connection.execute(statement)).mappings().one_or_none()


async def _operation(connection: AsyncConnection, uuid: str) -> Operation:
    row = await fetch_one(
        connection, select(OperationRow).where(OperationRow.uuid == uuid), "Operation", uuid
    )
    return model_of(Operation, OperationRow, row)


async def _write_operation(
    connection: AsyncConnection, row: Mapping[Any, Any], transition: Transition
) -> None:
    values: dict[str, Any] = {
        "seq": transition.seq,
        "state": transition.state,
        "steps": _merged(row["steps"], transition),
        "undone": transition.undone,
        "reason": transition.reason,
        "ended_at": None if transition.state.active else transition.at,
    }
    if transition.run_id is not None:
        values["run_id"] = transition.run_id
    if row["started_at"] is None and transition.state in _STARTED:
        values["started_at"] = transition.at
    await connection.execute(
        update(OperationRow).where(OperationRow.id == row["id"]).values(**values)
    )


def _merged(known: tuple[StepRecord, ...], transition: Transition) -> tuple[StepRecord, ...]:
    """Return all steps: a transition carries those that changed, and new ones at the end."""
    steps = {step.name: step for step in known}
    changed = (step.model_copy(update={"seq": transition.seq}) for step in transition.steps)
    return tuple((steps | {step.name: step for step in changed}).values())


def _says_nothing_of_the_cluster(row: Mapping[Any, Any], transition: Transition) -> bool:
    """Whether only the record goes on; a first transition always takes the cluster's row over."""
    return row["seq"] > 0 and not any(
        (
            transition.cluster_status,
            transition.node_group_status,
            transition.stack_id,
            transition.node_group_stacks,
            transition.outputs,
            transition.health,
            transition.labels,
            transition.commit,
            transition.put_back,
            transition.remove_node_group,
            transition.remove_cluster,
        )
    )


async def _may_write_cluster(connection: AsyncConnection, row: Mapping[Any, Any]) -> bool:
    """Whether the operation holds the cluster's row; its first transition may take it over.

    ``row`` is the operation as it was before the transition.
    """
    statement = (
        select(ClusterRow.operation_id)
        .where(ClusterRow.uuid == row["cluster_id"])
        .with_for_update()
    )
    found = (await connection.execute(statement)).one_or_none()
    if found is None:
        return False
    changes_nothing = TRAITS[OperationKind(row["kind"])].cluster is None
    if found.operation_id == row["uuid"] or changes_nothing:
        return True
    if row["seq"] > 0 or await _is_late(connection, row, found.operation_id):
        return False
    await acceptance.remember(connection, row["uuid"], row["cluster_id"])
    await connection.execute(
        update(ClusterRow)
        .where(ClusterRow.uuid == row["cluster_id"])
        .values(operation_id=row["uuid"])
    )
    return True


async def _is_late(
    connection: AsyncConnection, row: Mapping[Any, Any], holder_id: str | None
) -> bool:
    """Whether a first transition comes from a run that was over before it arrived.

    Either the operation was ended without it, or a younger operation is at work: of two runs of
    one cluster only one is alive.
    """
    if not OperationState(row["state"]).active:
        return True
    statement = select(OperationRow.id, OperationRow.state).where(OperationRow.uuid == holder_id)
    holder = (await connection.execute(statement)).one_or_none()
    return holder is not None and OperationState(holder.state).active and holder.id > row["id"]


async def _write_cluster(
    connection: AsyncConnection, cluster_id: str, transition: Transition
) -> None:
    of_cluster = ClusterRow.uuid == cluster_id
    values: dict[str, Any] = {"updated_at": transition.at}
    if transition.stack_id is not None:
        values["stack_id"] = transition.stack_id
    if transition.cluster_status is not None:
        faults = transition.faults if transition.cluster_status.failed else {}
        values["status"] = transition.cluster_status
        values["status_reason"] = transition.status_reason
        values["faults"] = {clip(name): clip(fault) for name, fault in faults.items()}
    if transition.health is not None:
        values["health_status"] = transition.health.status
        values["health_status_reason"] = dict(transition.health.reasons)
    if transition.labels:
        values["labels"] = await _with_labels(connection, cluster_id, transition.labels)
    if transition.outputs is not None:
        values |= _output_values(transition.outputs)
    await _write_groups(connection, cluster_id, transition)
    await _update(connection, ClusterRow, of_cluster, values)


async def _write_groups(
    connection: AsyncConnection, cluster_id: str, transition: Transition
) -> None:
    of_cluster = NodeGroupRow.cluster_id == cluster_id
    if transition.node_group_status is not None:
        values: dict[str, Any] = {
            "status": transition.node_group_status,
            "status_reason": transition.status_reason,
            "updated_at": transition.at,
        }
        if transition.undone and transition.node_group_status is Status.CREATE_FAILED:
            # What had been built is removed, and nobody shall work on its nodes.
            values |= {"nodes": [], "node_addresses": []}
        meant = of_cluster
        if transition.node_groups == ():
            # The operation ended before it had a plan: those that it announced at its acceptance.
            meant &= NodeGroupRow.status.in_([one for one in Status if one.in_progress])
        elif transition.node_groups is not None:
            meant &= NodeGroupRow.uuid.in_(transition.node_groups)
        else:
            # What was never built is not what the others are.
            meant &= NodeGroupRow.is_default | (NodeGroupRow.status != Status.CREATE_FAILED)
        await _update(connection, NodeGroupRow, meant, values)
    if transition.stack_id is not None:
        default = of_cluster & NodeGroupRow.is_default
        await _update(connection, NodeGroupRow, default, {"stack_id": transition.stack_id})
    for uuid, stack_id in transition.node_group_stacks.items():
        one = of_cluster & (NodeGroupRow.uuid == uuid)
        await _update(connection, NodeGroupRow, one, {"stack_id": stack_id})
    if transition.outputs is not None:
        await _write_nodes(connection, cluster_id, transition.outputs)


async def _with_labels(
    connection: AsyncConnection, cluster_id: str, added: Mapping[str, str]
) -> dict[str, str]:
    """Return the cluster's labels with those that a hook adds; what is set stays as it is."""
    statement = select(ClusterRow.labels).where(ClusterRow.uuid == cluster_id)
    return {**added, **(await connection.scalar(statement) or {})}


def _output_values(outputs: ClusterOutputs) -> dict[str, Any]:
    values: dict[str, Any] = {
        "api_address": outputs.api_address,
        "coe_version": outputs.coe_version,
        "container_version": outputs.container_version,
    }
    # Most drivers report none, and the one that the user gave must stay.
    if outputs.discovery_url is not None:
        values["discovery_url"] = outputs.discovery_url
    return values


async def _write_nodes(
    connection: AsyncConnection, cluster_id: str, outputs: ClusterOutputs
) -> None:
    for uuid in outputs.node_addresses.keys() | outputs.nodes.keys():
        condition = (NodeGroupRow.cluster_id == cluster_id) & (NodeGroupRow.uuid == uuid)
        values: dict[str, Any] = {"node_addresses": list(outputs.node_addresses.get(uuid, ()))}
        if uuid in outputs.nodes:
            values["nodes"] = [node.model_dump() for node in outputs.nodes[uuid]]
        await _update(connection, NodeGroupRow, condition, values)


async def _remove_cluster(connection: AsyncConnection, cluster_id: str) -> None:
    for statement in (
        delete(ClusterSecretRow).where(ClusterSecretRow.cluster_id == cluster_id),
        delete(NodeGroupRow).where(NodeGroupRow.cluster_id == cluster_id),
        delete(ClusterRow).where(ClusterRow.uuid == cluster_id),
    ):
        await connection.execute(statement)


async def _fail_cluster(
    connection: AsyncConnection, operation: Operation, reason: str, at: datetime
) -> None:
    statement = (
        select(ClusterRow.status)
        .where(ClusterRow.uuid == operation.cluster_id, ClusterRow.operation_id == operation.uuid)
        .with_for_update()
    )
    if await connection.scalar(statement) is None:
        return
    of_cluster = NodeGroupRow.cluster_id == operation.cluster_id
    for word in (status for status in Status if status.in_progress):
        failed = Status(word.replace("_IN_PROGRESS", "_FAILED"))
        values = {"status": failed, "status_reason": reason, "updated_at": at}
        await _update(connection, NodeGroupRow, of_cluster & (NodeGroupRow.status == word), values)
        one = (ClusterRow.uuid == operation.cluster_id) & (ClusterRow.status == word)
        await _update(connection, ClusterRow, one, values)


async def _update(
    connection: AsyncConnection, table: Any, condition: Any, values: Mapping[str, Any]
) -> None:
    await connection.execute(update(table).where(condition).values(**values))


def _broken_off(step: StepRecord, reason: str, at: datetime) -> StepRecord:
    if step.state is not StepState.RUNNING:
        return step
    return step.model_copy(update={"state": StepState.FAILED, "ended_at": at, "error": reason})
