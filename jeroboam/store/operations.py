"""Operations: accepted by the API, written by their runs, repaired by the reconciler."""

from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import insert, select, true, update
from sqlalchemy.exc import IntegrityError

from jeroboam.errors import NotFoundError
from jeroboam.models import Operation, OperationState, StepNote, Transition, utc_now
from jeroboam.store import transitions
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

_NOUN = "Operation"
_ACTIVE = [state for state in OperationState if state.active]


class OperationRepository:
    """Stores what was asked of clusters and how it went.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, operation: Operation) -> None:
        """Store a new operation of an existing cluster."""
        await self._database.write(execute, insert(OperationRow).values(**values_of(operation)))

    async def get(self, uuid: str) -> Operation:
        """Return one operation.

        Raises:
            NotFoundError: There is none.
        """
        statement = select(OperationRow).where(OperationRow.uuid == uuid)
        row = await self._database.read(fetch_one, statement, _NOUN, uuid)
        return model_of(Operation, OperationRow, row)

    async def list(self, scope: Scope, page: Page, cluster_id: str | None = None) -> Operations:
        """Return one page of the operations that the caller may see, of one cluster if given."""
        visible = (
            true() if scope.project_id is None else OperationRow.project_id == scope.project_id
        )
        if cluster_id is not None:
            visible &= OperationRow.cluster_id == cluster_id
        rows = await self._database.read(fetch_page, OperationRow, visible, page, _NOUN)
        return [model_of(Operation, OperationRow, row) for row in rows]

    async def active(self, cluster_id: str) -> Operations:
        """Return the cluster's operations that have not ended, newest first."""
        return await self._select(
            OperationRow.cluster_id == cluster_id, OperationRow.state.in_(_ACTIVE)
        )

    async def unfinished(self, older_than: datetime) -> Operations:
        """Return all clusters' operations made before ``older_than`` that have not ended."""
        return await self._select(
            OperationRow.created_at < older_than, OperationRow.state.in_(_ACTIVE)
        )

    async def _select(self, *conditions: Any) -> Operations:
        statement = select(OperationRow).where(*conditions).order_by(OperationRow.id.desc())
        rows = await self._database.read(fetch_all, statement)
        return [model_of(Operation, OperationRow, row) for row in rows]

    async def reject(self, uuid: str, reason: str) -> None:
        """End an operation that never ran. One that has begun is left alone."""
        statement = (
            update(OperationRow)
            .where(OperationRow.uuid == uuid, OperationRow.state == OperationState.PENDING)
            .values(state=OperationState.REJECTED, reason=reason, ended_at=utc_now())
        )
        await self._database.write(execute, statement)

    async def abandon(self, uuid: str, reason: str) -> None:
        """End an operation whose run was ended from outside, and the cluster's wait for it.

        An operation that has ended is left alone.
        """
        await self._database.write(transitions.abandon, uuid, reason, utc_now())

    async def apply(self, transition: Transition) -> bool:
        """Write one transition of an operation and what it means for the cluster.

        Returns:
            Whether it was written; ``False`` means that it, or a later one, was written before.

        Raises:
            NotFoundError: There is no such operation.
        """
        return await self._database.write(transitions.apply, transition)

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
