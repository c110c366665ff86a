"""Operations: accepted by the API, written by their runs, repaired by the reconciler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Executable, and_, insert, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError, NotFoundError, OperationInProgressError
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    DriverFiles,
    Operation,
    OperationKind,
    OperationState,
    Plan,
    Recorded,
    StepNote,
    StepRecord,
    Transition,
    utc_now,
)
from jeroboam.models.lifecycle import refusal
from jeroboam.models.quota import Amounts
from jeroboam.store import acceptance, targets, transitions
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import (
    Page,
    Scope,
    execute,
    fetch_all,
    fetch_one,
    fetch_page,
    model_of,
    values_of,
)
from jeroboam.store.tables import OperationRow, StepNoteRow

# The repository has a method called ``list``, which hides the type within its class.
Operations: TypeAlias = list[Operation]
StepNotes: TypeAlias = list[StepNote]


@dataclass(frozen=True)
class OperationFilter:
    """Which operations a list shall hold; empty means any.

    Args:
        since: Only those that were made then or later.
    """

    cluster_id: str | None = None
    kinds: tuple[OperationKind, ...] = ()
    states: tuple[OperationState, ...] = ()
    schedule_id: str | None = None
    since: datetime | None = None


@dataclass(frozen=True)
class AtWork:
    """An operation and its cluster.

    Args:
        specs: The cluster as it is recorded and as the operation shall leave it; nothing once the
            operation has ended.
    """

    operation: Operation
    specs: tuple[ClusterSpec, ClusterSpec] | None


_NOUN = "Operation"


class OperationRepository:
    """Stores what was asked of clusters and how it went.

    Args:
        database: Where.
        limits: What a project may have that has no quotas of its own.
    """

    def __init__(self, database: Database, limits: Amounts) -> None:
        self._database = database
        self._limits = limits

    async def add(self, operation: Operation) -> None:
        """Store a new operation of an existing cluster."""
        await self._database.write(execute, insert(OperationRow).values(**values_of(operation)))

    async def get(self, uuid: str) -> Operation:
        """Return one operation.

        Raises:
            NotFoundError: There is none.
        """
        return await self._database.read(_get, uuid)

    async def at_work(self, uuid: str) -> AtWork:
        """Return an operation with the cluster that it works on, all in one state.

        Raises:
            NotFoundError: There is no such operation; or it has not ended, and the cluster, a
                template or a node group that it names does not exist.
        """
        return await self._database.read(_at_work, uuid)

    async def list(
        self, scope: Scope, page: Page, wanted: OperationFilter | None = None
    ) -> Operations:
        """Return one page of the operations that the caller may see and wants."""
        visible = and_(
            true() if scope.project_id is None else OperationRow.project_id == scope.project_id,
            *_conditions(wanted or OperationFilter()),
        )
        rows = await self._database.read(fetch_page, OperationRow, visible, page, _NOUN)
        return [model_of(Operation, OperationRow, row) for row in rows]

    async def active(self, cluster_id: str) -> Operations:
        """Return the cluster's operations that have not ended, newest first."""
        return await self._select(
            OperationRow.cluster_id == cluster_id, OperationRow.state.in_(acceptance.ACTIVE)
        )

    async def trusts(self, cluster: Cluster) -> frozenset[str]:
        """Return the ids of all trusts that were ever made for a cluster and may still be there."""
        kind = OperationRow.kind == OperationKind.ROTATE_CREDENTIAL
        found = {cluster.trust_id}
        for one in await self._select(OperationRow.cluster_id == cluster.uuid, kind):
            found.add(one.parameters.trust_id)
            for step in one.plan.final if one.plan else ():
                found.update(step.trusts)
        return frozenset(trust for trust in found if trust)

    async def check_ready(self, kind: OperationKind, cluster: Cluster) -> None:
        """Refuse a cluster that is at work or in no state for an operation; acceptance asks again.

        Raises:
            OperationInProgressError: Another operation has the cluster.
            ConflictError: The cluster's status forbids it.
        """
        for other in await self.active(cluster.uuid):
            raise OperationInProgressError(other.uuid, other.kind, other.current_step)
        reason = refusal(kind, cluster.status)
        if reason:
            raise ConflictError(reason)

    async def unfinished(self, older_than: datetime) -> Operations:
        """Return all clusters' operations made before ``older_than`` that have not ended."""
        return await self._select(
            OperationRow.created_at < older_than, OperationRow.state.in_(acceptance.ACTIVE)
        )

    async def _select(self, *conditions: Any) -> Operations:
        statement = select(OperationRow).where(*conditions).order_by(OperationRow.id.desc())
        rows = await self._database.read(fetch_all, statement)
        return [model_of(Operation, OperationRow, row) for row in rows]

    async def accept(self, operation: Operation, files: DriverFiles | None = None) -> None:
        """Store a new operation, give it the cluster, and show that the cluster is at work.

        All or nothing; one that is stored already is left alone.

        Args:
            files: What an upgrade moves the cluster to.

        Raises:
            OperationInProgressError: Another operation has the cluster.
            ConflictError: The cluster's status, or the name of a new node group, forbids it.
            QuotaExceededError: The project has no room for what it adds.
            NotFoundError: The cluster, or a node group that is named, does not exist.
        """
        try:
            await self._database.write(acceptance.accept, operation, self._limits, files)
        except IntegrityError as error:
            group = operation.parameters.group
            name = f" named {group.name}" if group else ""
            raise ConflictError(f"A node group{name} already exists in this cluster.") from error

    async def reopen(self, uuid: str) -> Operation:
        """Make an operation that failed or was cancelled pending again; return it.

        Raises:
            NotFoundError: There is no such operation, or its cluster is gone.
            ConflictError: It cannot be taken up again; the message says why.
            OperationInProgressError: Another operation has the cluster.
            QuotaExceededError: The project has no room any more for what it adds.
        """
        return await self._database.write(acceptance.reopen, uuid, self._limits)

    async def reject(self, uuid: str, reason: str) -> None:
        """End an operation that never ran, and put back what it had announced.

        One that has begun is left alone.
        """
        await self._database.write(acceptance.reject, uuid, reason, utc_now())

    async def keep_plan(self, uuid: str, plan: Plan) -> Operation:
        """Store the plan of an operation, unless it has one; return the operation.

        Raises:
            NotFoundError: There is no such operation.
        """
        steps = tuple(StepRecord(name=step.name) for step in plan.steps)
        statement = (
            update(OperationRow)
            .where(OperationRow.uuid == uuid, OperationRow.plan.is_(None))
            .values(plan=plan, steps=steps)
        )
        return await self._database.write(_changed, statement, uuid)

    async def choose_removals(self, uuid: str, names: Sequence[str]) -> None:
        """Write which nodes go; a later step, and a retry, take the same ones."""
        await self._database.write(_choose_removals, uuid, tuple(names))

    async def abandon(self, uuid: str, reason: str) -> None:
        """End an operation whose run was ended from outside, and the cluster's wait for it.

        An operation that has ended is left alone.
        """
        await self._database.write(transitions.abandon, uuid, reason, utc_now())

    async def apply(self, transition: Transition, *, takes_over: bool = False) -> Recorded:
        """Write one transition of an operation and what it means for the cluster.

        Args:
            takes_over: Whether Temporal says that the run which writes is the one at work,
                although another one has written the record so far.

        Raises:
            NotFoundError: There is no such operation.
        """
        return await self._database.write(transitions.apply, transition, takes_over=takes_over)

    async def note(self, note: StepNote) -> None:
        """Keep the latest remark of a step.

        Raises:
            NotFoundError: There is no such operation.
        """
        values = values_of(note)
        update_to = {name: values[name] for name in ("attempt", "message", "noted_at")}
        try:
            await self._database.write(
                upsert,
                StepNoteRow,
                values,
                key=("operation_id", "step"),
                update=update_to,
                where=StepNoteRow.noted_at <= note.noted_at,
            )
        except IntegrityError as error:
            message = f"{_NOUN} {note.operation_id} could not be found."
            raise NotFoundError(message) from error

    async def notes(self, operation_id: str) -> StepNotes:
        """Return the latest remark of each step that has one, oldest first."""
        statement = (
            select(StepNoteRow)
            .where(StepNoteRow.operation_id == operation_id)
            .order_by(StepNoteRow.noted_at, StepNoteRow.step)
        )
        rows = await self._database.read(fetch_all, statement)
        return [model_of(StepNote, StepNoteRow, row) for row in rows]


async def _get(connection: AsyncConnection, uuid: str) -> Operation:
    statement = select(OperationRow).where(OperationRow.uuid == uuid)
    row = await fetch_one(connection, statement, _NOUN, uuid)
    return model_of(Operation, OperationRow, row)


async def _at_work(connection: AsyncConnection, uuid: str) -> AtWork:
    operation = await _get(connection, uuid)
    if not operation.state.active:
        return AtWork(operation, None)
    return AtWork(operation, await targets.spec_and_target(connection, operation))


async def _choose_removals(connection: AsyncConnection, uuid: str, names: tuple[str, ...]) -> None:
    known = (await _get(connection, uuid)).parameters
    parameters = known.model_copy(update={"nodes_to_remove": names})
    statement = update(OperationRow).where(OperationRow.uuid == uuid)
    await connection.execute(statement.values(parameters=parameters))


async def _changed(connection: AsyncConnection, change: Executable, uuid: str) -> Operation:
    await connection.execute(change)
    return await _get(connection, uuid)


def _conditions(wanted: OperationFilter) -> Iterator[ColumnElement[bool]]:
    if wanted.cluster_id is not None:
        yield OperationRow.cluster_id == wanted.cluster_id
    if wanted.kinds:
        yield OperationRow.kind.in_(wanted.kinds)
    if wanted.states:
        yield OperationRow.state.in_(wanted.states)
    if wanted.schedule_id is not None:
        yield OperationRow.schedule_id == wanted.schedule_id
    if wanted.since is not None:
        yield OperationRow.created_at >= wanted.since
