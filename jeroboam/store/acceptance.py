"""How an operation gets hold of a cluster, gives it back, and is taken up again.

All of it happens under the lock of the cluster's row: of two requests one wins, and the other one
is told who.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError, NotFoundError, OperationInProgressError
from jeroboam.models import (
    DriverFiles,
    Operation,
    OperationKind,
    OperationState,
    Status,
    StepRecord,
)
from jeroboam.models.lifecycle import TRAITS, may_retry, refusal
from jeroboam.models.plans import touched_groups
from jeroboam.models.quota import Amounts
from jeroboam.store import driver_files, quotas, targets
from jeroboam.store.query import fetch_all, model_of, values_of
from jeroboam.store.tables import ClusterRow, NodeGroupRow, OperationRow

ACTIVE = [state for state in OperationState if state.active]


async def accept(
    connection: AsyncConnection,
    operation: Operation,
    limits: Amounts,
    files: DriverFiles | None = None,
) -> None:
    """Store a new operation and give it the cluster; one that is stored already is left alone.

    Args:
        limits: What a project may have that has no quotas of its own.
        files: What an upgrade moves the cluster to.

    Raises:
        QuotaExceededError: The project has no room for what it adds.
        OperationInProgressError: Another operation has the cluster.
        ConflictError: The cluster's status forbids it.
        NotFoundError: The cluster, or a node group that is named, does not exist.
    """
    row = await _locked_cluster(connection, operation.cluster_id)
    if await _is_stored(connection, operation.uuid):
        return
    await _require_free(connection, operation)
    reason = refusal(operation.kind, Status(row["status"]))
    if reason:
        raise ConflictError(reason)
    await quotas.require_room(connection, operation, limits)
    if operation.kind is OperationKind.CREATE_NODE_GROUP and operation.parameters.group:
        await connection.execute(
            insert(NodeGroupRow).values(**values_of(operation.parameters.group))
        )
    await driver_files.keep(connection, files)
    before = await _statuses(connection, operation.cluster_id)
    stored = values_of(operation) | {"previous_statuses": before}
    await connection.execute(insert(OperationRow).values(**stored))
    await _announce(connection, operation)


async def reject(connection: AsyncConnection, uuid: str, reason: str, at: datetime) -> None:
    """End an operation that never ran, and put back what it had announced.

    One that has begun is left alone.
    """
    operation = await _locked_operation(connection, uuid)
    if operation is None or operation.state is not OperationState.PENDING:
        return
    await connection.execute(
        update(OperationRow)
        .where(OperationRow.uuid == uuid)
        .values(state=OperationState.REJECTED, reason=reason, ended_at=at)
    )
    holder = select(ClusterRow.operation_id).where(ClusterRow.uuid == operation.cluster_id)
    if await connection.scalar(holder) != uuid:
        return
    await put_back(connection, operation)
    if operation.kind is OperationKind.CREATE_NODE_GROUP and operation.parameters.group:
        group = NodeGroupRow.uuid == operation.parameters.group.uuid
        await connection.execute(delete(NodeGroupRow).where(group))


async def put_back(
    connection: AsyncConnection, operation: Operation, reason: str | None = None
) -> None:
    """Give cluster and node groups the statuses that they had before the operation.

    Args:
        reason: The cluster's new ``status_reason``.
    """
    for ident, status in operation.previous_statuses.items():
        for table in (ClusterRow, NodeGroupRow):
            statement = update(table).where(table.uuid == ident)
            await connection.execute(statement.values(status=status or None))
    cluster = update(ClusterRow).where(ClusterRow.uuid == operation.cluster_id)
    await connection.execute(cluster.values(status_reason=reason))


async def remember(connection: AsyncConnection, operation_id: str, cluster_id: str) -> None:
    """Note the statuses that an operation finds which takes the cluster from another one."""
    before = await _statuses(connection, cluster_id)
    await connection.execute(
        update(OperationRow)
        .where(OperationRow.uuid == operation_id)
        .values(previous_statuses=before)
    )


async def reopen(connection: AsyncConnection, uuid: str, limits: Amounts) -> Operation:
    """Make an operation that failed or was cancelled pending again; return it.

    What is done stays done, unless it was undone.

    Args:
        limits: What a project may have that has no quotas of its own.

    Raises:
        QuotaExceededError: The project has no room any more for what it adds.
        NotFoundError: There is no such operation, or its cluster is gone.
        ConflictError: It cannot be taken up again; the message says why.
        OperationInProgressError: Another operation has the cluster.
    """
    operation = await _locked_operation(connection, uuid)
    if operation is None:
        raise NotFoundError(f"Operation {uuid} could not be found.")
    row = await _locked_cluster(connection, operation.cluster_id)
    await _require_free(connection, operation)
    if not may_retry(operation.state):
        raise ConflictError(
            f"The operation is {operation.state}; only one that failed or was cancelled can be "
            "taken up again."
        )
    changes_nothing = TRAITS[operation.kind].cluster is None
    if row["operation_id"] != uuid and not changes_nothing:
        raise ConflictError(
            "A later operation has changed the cluster since. Ask for the change anew."
        )
    await quotas.require_room(connection, operation, limits)
    # Refused this time, it leaves what it left the last time, and not what was before that.
    await remember(connection, uuid, operation.cluster_id)
    await connection.execute(
        update(OperationRow)
        .where(OperationRow.uuid == uuid)
        .values(
            state=OperationState.PENDING,
            steps=remaining(operation),
            undone=False,
            reason=None,
            run_id=None,
            ended_at=None,
        )
    )
    await _announce(connection, operation)
    return operation.model_copy(update={"state": OperationState.PENDING})


def remaining(operation: Operation) -> tuple[StepRecord, ...]:
    """Return the steps as a new run shall find them.

    Done ones stay, unless any were undone. What was submitted and did not come to its end is
    submitted again.
    """
    plan = operation.plan
    if plan is None:
        return ()
    known = {step.name: step for step in operation.steps}
    if operation.undone or any(step.undoes for step in operation.steps):
        known = {}
    unfinished = {
        step.call.submitted_by
        for step in plan.steps
        if step.call and not (step.name in known and known[step.name].state.done)
    }
    return tuple(
        known[step.name]
        if step.name in known and known[step.name].state.done and step.name not in unfinished
        else StepRecord(name=step.name)
        for step in plan.steps
    )


async def _announce(connection: AsyncConnection, operation: Operation) -> None:
    """Show at once that the cluster is at work: a client that polls must not see the old end."""
    words = TRAITS[operation.kind].cluster
    if words is None:
        # It changes nothing, so what was done before can still be retried.
        return
    await connection.execute(
        update(ClusterRow)
        .where(ClusterRow.uuid == operation.cluster_id)
        .values(status=words.in_progress, status_reason=None, operation_id=operation.uuid)
    )
    group_words = TRAITS[operation.kind].group or words
    spec = await targets.spec(connection, operation.cluster_id)
    touched = touched_groups(operation.kind, spec, operation.parameters)
    uuids = (
        touched
        if touched is not None
        else [group.uuid for group in spec.node_groups if group.built or group.is_default]
    )
    await connection.execute(
        update(NodeGroupRow)
        .where(NodeGroupRow.uuid.in_(uuids))
        .values(status=group_words.in_progress, status_reason=None)
    )


async def _require_free(connection: AsyncConnection, operation: Operation) -> None:
    statement = select(OperationRow).where(
        OperationRow.cluster_id == operation.cluster_id,
        OperationRow.state.in_(ACTIVE),
        OperationRow.uuid != operation.uuid,
    )
    for row in await fetch_all(connection, statement):
        other = model_of(Operation, OperationRow, row)
        raise OperationInProgressError(other.uuid, other.kind, other.current_step)


async def _is_stored(connection: AsyncConnection, uuid: str) -> bool:
    statement = select(OperationRow.id).where(OperationRow.uuid == uuid)
    return await connection.scalar(statement) is not None


async def _locked_cluster(connection: AsyncConnection, uuid: str) -> Mapping[Any, Any]:
    statement = (
        select(ClusterRow.status, ClusterRow.operation_id)
        .where(ClusterRow.uuid == uuid)
        .with_for_update()
    )
    row = (await connection.execute(statement)).mappings().one_or_none()
    if row is None:
        raise NotFoundError(f"Cluster {uuid} could not be found.")
    return row


async def _locked_operation(connection: AsyncConnection, uuid: str) -> Operation | None:
    statement = select(OperationRow).where(OperationRow.uuid == uuid).with_for_update()
    row = (await connection.execute(statement)).mappings().one_or_none()
    return None if row is None else model_of(Operation, OperationRow, row)


async def _statuses(connection: AsyncConnection, cluster_id: str) -> dict[str, str]:
    """Return the statuses by uuid; what another operation leaves half done counts as failed."""
    spec = await targets.spec(connection, cluster_id)
    statuses = {cluster_id: spec.cluster.status} | {
        group.uuid: group.status for group in spec.node_groups
    }
    return {
        uuid: str(status or "").replace("_IN_PROGRESS", "_FAILED")
        for uuid, status in statuses.items()
    }
