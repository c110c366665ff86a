"""What became of the clusters in the runs of schedules."""

from datetime import datetime
from typing import TypeAlias

from sqlalchemy import ColumnElement, delete, select, update

from jeroboam.models.schedule import RunState, ScheduleRun
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import Page, execute, fetch_all, fetch_page, model_of, values_of
from jeroboam.store.tables import ScheduleRunRow

# The repository has a method called ``list``, which hides the type within its class.
Runs: TypeAlias = list[ScheduleRun]

_NOUN = "Run"
_NOT_ENDED = ScheduleRunRow.ended_at.is_(None)
_AT_ONCE = 500


class ScheduleRunRepository:
    """Stores one outcome per cluster and run.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, run: ScheduleRun) -> None:
        """Write an outcome, over an earlier one that was not final yet."""
        values = values_of(run)
        changing = ("operation_id", "state", "reason", "updated_at", "ended_at")
        await self._database.write(
            upsert,
            ScheduleRunRow,
            values,
            key=("uuid",),
            update={name: values[name] for name in changing},
            where=_NOT_ENDED,
        )

    async def list(
        self,
        schedule_id: str,
        page: Page,
        *,
        cluster_id: str | None = None,
        state: RunState | None = None,
    ) -> Runs:
        """Return one page of a schedule's outcomes."""
        wanted: ColumnElement[bool] = ScheduleRunRow.schedule_id == schedule_id
        if cluster_id is not None:
            wanted &= ScheduleRunRow.cluster_id == cluster_id
        if state is not None:
            wanted &= ScheduleRunRow.state == state
        rows = await self._database.read(fetch_page, ScheduleRunRow, wanted, page, _NOUN)
        return [model_of(ScheduleRun, ScheduleRunRow, row) for row in rows]

    async def forgotten(self, before: datetime) -> Runs:
        """Return outcomes that are not final and that nobody wrote lately, oldest first."""
        statement = (
            select(ScheduleRunRow)
            .where(_NOT_ENDED, ScheduleRunRow.updated_at < before)
            .order_by(ScheduleRunRow.updated_at)
            .limit(_AT_ONCE)
        )
        rows = await self._database.read(fetch_all, statement)
        return [model_of(ScheduleRun, ScheduleRunRow, row) for row in rows]

    async def touch(self, uuid: str, at: datetime) -> None:
        """Note that an outcome was looked after, so that others come first the next time."""
        statement = (
            update(ScheduleRunRow)
            .where(ScheduleRunRow.uuid == uuid, _NOT_ENDED)
            .values(updated_at=at)
        )
        await self._database.write(execute, statement)

    async def prune(self, before: datetime) -> int:
        """Remove outcomes that became final before a time; return how many."""
        statement = delete(ScheduleRunRow).where(ScheduleRunRow.ended_at < before)
        return await self._database.write(execute, statement)
