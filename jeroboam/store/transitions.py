"""How a transition changes the rows: the guards that make late and repeated writes harmless.

Two guards work together. Within an operation ``seq`` only grows. Between operations the cluster's
``operation_id`` names the one that may write the row: an operation takes the row with its first
transition and loses it to the next operation that does so.
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
    OperationState,
    Status,
    StepRecord,
    StepState,
    Transition,
)
from jeroboam.store.columns import clip
from jeroboam.store.query import model_of
from jeroboam.store.tables import ClusterRow, ClusterSecretRow, NodeGroupRow, OperationRow

_STARTED = frozenset({OperationState.RUNNING, OperationState.COMPENSATING})


async def apply(connection: AsyncConnection, transition: Transition) -> bool:
    """Write ``transition`` unless it, or a later one of the operation, was written before."""
    row = await _locked(connection, transition.operation_id)
    if row is None:
        raise NotFoundError(f"Operation {transition.operation_id} could not be found.")
    if transition.seq <= row["seq"]:
        return False
    await _write_operation(connection, row, transition)
    if _says_nothing_of_the_cluster(row, transition):
        return True
    if await _may_write_cluster(connection, row):
        if transition.remove_cluster:
            await _remove_cluster(connection, row["cluster_id"])
        else:
            await _write_cluster(connection, row["cluster_id"], transition)
    return True


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


async def _locked(connection: AsyncConnection, uuid: str) -> Mapping[Any, Any] | None:
    statement = select(OperationRow).where(OperationRow.uuid == uuid).with_for_update()
    return (await connection.execute(statement)).mappings().one_or_none()


async def _write_operation(
    connection: AsyncConnection, row: Mapping[Any, Any], transition: Transition
) -> None:
    values: dict[str, Any] = {
        "seq": transition.seq,
        "state": transition.state,
        "steps": transition.steps,
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


def _says_nothing_of_the_cluster(row: Mapping[Any, Any], transition: Transition) -> bool:
    """Whether only the record goes on; a first transition always takes the cluster's row over."""
    return row["seq"] > 0 and not (
        transition.cluster_status
        or transition.stack_id
        or transition.outputs
        or transition.remove_cluster
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
    if found.operation_id == row["uuid"]:
        return True
    if row["seq"] > 0 or await _is_late(connection, row, found.operation_id):
        return False
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
    values: dict[str, Any] = {"updated_at": transition.at}
    if transition.stack_id is not None:
        values["stack_id"] = transition.stack_id
    if transition.cluster_status is not None:
        values["status"] = transition.cluster_status
        values["status_reason"] = transition.status_reason
    await _update(connection, NodeGroupRow, NodeGroupRow.cluster_id == cluster_id, values)
    if transition.cluster_status is not None:
        faults = transition.faults if transition.cluster_status.failed else {}
        values["faults"] = {clip(name): clip(fault) for name, fault in faults.items()}
    if transition.outputs is not None:
        values |= _output_values(transition.outputs)
        await _write_addresses(connection, cluster_id, transition.outputs)
    await _update(connection, ClusterRow, ClusterRow.uuid == cluster_id, values)


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


async def _write_addresses(
    connection: AsyncConnection, cluster_id: str, outputs: ClusterOutputs
) -> None:
    for uuid, addresses in outputs.node_addresses.items():
        condition = (NodeGroupRow.cluster_id == cluster_id) & (NodeGroupRow.uuid == uuid)
        await _update(connection, NodeGroupRow, condition, {"node_addresses": list(addresses)})


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
    found = await connection.scalar(statement)
    if found is None or not Status(found).in_progress:
        return
    failed = Status(found.replace("_IN_PROGRESS", "_FAILED"))
    values = {"status": failed, "status_reason": reason, "updated_at": at}
    of_cluster = NodeGroupRow.cluster_id == operation.cluster_id
    in_progress = NodeGroupRow.status == found
    await _update(connection, NodeGroupRow, of_cluster & in_progress, values)
    await _update(connection, ClusterRow, ClusterRow.uuid == operation.cluster_id, values)


async def _update(
    connection: AsyncConnection, table: Any, condition: Any, values: Mapping[str, Any]
) -> None:
    await connection.execute(update(table).where(condition).values(**values))


def _broken_off(step: StepRecord, reason: str, at: datetime) -> StepRecord:
    if step.state is not StepState.RUNNING:
        return step
    return step.model_copy(update={"state": StepState.FAILED, "ended_at": at, "error": reason})
