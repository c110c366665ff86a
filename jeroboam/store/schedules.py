"""Schedules: the truth about them, and which of them Temporal is yet to be told of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeAlias

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, or_, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError, NotFoundError, QuotaExceededError
from jeroboam.models import utc_now
from jeroboam.models.certificate import CertificateState
from jeroboam.models.schedule import Schedule, Selector
from jeroboam.models.scheduled_wire import Candidate
from jeroboam.store.database import Database, lock
from jeroboam.store.query import (
    Page,
    Scope,
    execute,
    fetch_all,
    fetch_one,
    fetch_page,
    identified,
    model_of,
    values_of,
)
from jeroboam.store.tables import ClusterCertificateRow, ClusterRow, ScheduleRow

# The repository has a method called ``list``, which hides the type within its class.
Schedules: TypeAlias = list[Schedule]

_NOUN = "Schedule"
_ALIVE = ScheduleRow.deleted_at.is_(None)
_READ_AT_ONCE = 500


@dataclass(frozen=True)
class Chosen:
    """Some of the clusters that a selector fits.

    Args:
        after: Number of the last cluster that was looked at.
        exhausted: Whether there are no more.
    """

    clusters: Sequence[Candidate]
    after: int
    exhausted: bool


class ScheduleRepository:
    """Stores schedules. A change raises the revision until ``synced`` says that Temporal has it.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, schedule: Schedule, *, project_limit: int) -> None:
        """Store a new schedule; one of the same name that is being deleted gives way.

        Args:
            project_limit: The most schedules that the project may have.

        Raises:
            ConflictError: The project has one of that name.
            QuotaExceededError: The project has as many as it may.
        """
        try:
            await self._database.write(_add, schedule, project_limit)
        except IntegrityError as error:
            raise ConflictError(
                f"There is a schedule {schedule.name} in this project already. Choose another "
                "name, or change that one."
            ) from error

    async def get(self, ident: str, scope: Scope) -> Schedule:
        """Return the schedule with this uuid or name.

        Raises:
            NotFoundError: There is none, or it is another project's.
            AmbiguousNameError: Several projects have one of this name.
        """
        wanted = select(ScheduleRow).where(identified(ScheduleRow, ident), _visible(scope))
        row = await self._database.read(fetch_one, wanted, _NOUN, ident)
        return model_of(Schedule, ScheduleRow, row)

    async def list(self, scope: Scope, page: Page, cluster_id: str | None = None) -> Schedules:
        """Return one page of the schedules that the caller may see, of one cluster if given."""
        visible = _visible(scope)
        if cluster_id is not None:
            visible &= ScheduleRow.cluster_id == cluster_id
        rows = await self._database.read(fetch_page, ScheduleRow, visible, page, _NOUN)
        return [model_of(Schedule, ScheduleRow, row) for row in rows]

    async def change(self, schedule: Schedule) -> Schedule:
        """Replace the schedule of the same uuid and return it with its new revision.

        Raises:
            NotFoundError: It is gone.
            ConflictError: Somebody else has changed it since it was read.
        """
        changed = schedule.model_copy(
            update={"revision": schedule.revision + 1, "updated_at": utc_now()}
        )
        values = values_of(changed)
        del values["synced_revision"]
        unchanged = and_(ScheduleRow.uuid == schedule.uuid, _ALIVE)
        statement = (
            update(ScheduleRow)
            .where(unchanged, ScheduleRow.revision == schedule.revision)
            .values(**values)
        )
        if await self._database.write(execute, statement) == 0:
            await self.get(schedule.uuid, Scope(None))
            raise ConflictError("Somebody else has just changed the schedule. Look at it again.")
        return changed

    async def mark_deleted(self, uuid: str) -> None:
        """Hide a schedule from all but the one who tells Temporal."""
        statement = (
            update(ScheduleRow)
            .where(ScheduleRow.uuid == uuid, _ALIVE)
            .values(deleted_at=utc_now(), revision=ScheduleRow.revision + 1)
        )
        if await self._database.write(execute, statement) == 0:
            raise NotFoundError(f"{_NOUN} {uuid} could not be found.")

    async def stored(self, uuid: str) -> Schedule | None:
        """Return a schedule also if it is being deleted; ``None`` if there is none at all."""
        found = await self._select(ScheduleRow.uuid == uuid)
        return found[0] if found else None

    async def named(self, project_id: str, name: str) -> Schedule | None:
        """Return the schedule that has a name now; ``None`` if none has, or it is being deleted."""
        found = await self._select(
            ScheduleRow.project_id == project_id, ScheduleRow.name == name, _ALIVE
        )
        return found[0] if found else None

    async def synced(self, uuid: str, revision: int) -> None:
        """Record that Temporal has a revision."""
        statement = (
            update(ScheduleRow)
            .where(ScheduleRow.uuid == uuid, ScheduleRow.revision == revision)
            .values(synced_revision=revision)
        )
        await self._database.write(execute, statement)

    async def remove(self, uuid: str) -> None:
        """Remove the row of a deleted schedule of which Temporal knows nothing any more."""
        statement = delete(ScheduleRow).where(
            ScheduleRow.uuid == uuid, ScheduleRow.deleted_at.is_not(None)
        )
        await self._database.write(execute, statement)

    async def all_due(self, now: datetime) -> Schedules:
        """Return all schedules that Temporal should have, or be told of: not those that ended."""
        lasting = or_(ScheduleRow.end_at.is_(None), ScheduleRow.end_at > now)
        untold = ScheduleRow.synced_revision < ScheduleRow.revision
        return await self._select(or_(lasting, untold))

    async def choose(self, selector: Selector, after: int, count: int) -> Chosen:
        """Return clusters that a selector fits, in the order of their making.

        Args:
            after: Number of the last cluster that was looked at before.
            count: The most to return.
        """
        return await self._database.read(_choose, selector, after, count)

    async def _select(self, *conditions: ColumnElement[bool]) -> Schedules:
        statement = select(ScheduleRow).where(*conditions).order_by(ScheduleRow.id)
        rows = await self._database.read(fetch_all, statement)
        return [model_of(Schedule, ScheduleRow, row) for row in rows]


async def _add(connection: AsyncConnection, schedule: Schedule, limit: int) -> None:
    # The count stays true until the commit: all others who add to the project wait here.
    await lock(connection, f"schedules:{schedule.project_id}")
    mine = ScheduleRow.project_id == schedule.project_id
    count = select(func.count()).where(mine, _ALIVE)
    if int(await connection.scalar(count) or 0) >= limit:
        raise QuotaExceededError(
            f"The project has {limit} schedules, and may not have more. Delete one that is not "
            "needed, or let one schedule select several clusters."
        )
    gone = ScheduleRow.deleted_at.is_not(None)
    await connection.execute(
        delete(ScheduleRow).where(mine, ScheduleRow.name == schedule.name, gone)
    )
    await connection.execute(insert(ScheduleRow).values(**values_of(schedule)))


async def _choose(
    connection: AsyncConnection, selector: Selector, after: int, count: int
) -> Chosen:
    # Whole rows would take ten times as long, and a run may have to look at all clusters.
    columns = (ClusterRow.id, ClusterRow.uuid, ClusterRow.name, ClusterRow.labels)
    at_once = _READ_AT_ONCE if selector.labels else count
    chosen: list[Candidate] = []
    while True:
        statement = select(*columns).where(ClusterRow.id > after).order_by(ClusterRow.id)
        if selector.project_id is not None:
            statement = statement.where(ClusterRow.project_id == selector.project_id)
        if selector.driver is not None:
            statement = statement.where(ClusterRow.driver == selector.driver)
        if selector.certificates_end_within_days is not None:
            statement = statement.where(_ends_within(selector.certificates_end_within_days))
        rows = (await connection.execute(statement.limit(at_once))).all()
        for row in rows:
            after = row.id
            if selector.fits(row.labels):
                chosen.append(Candidate(uuid=row.uuid, name=row.name))
            if len(chosen) == count:
                return Chosen(chosen, after, exhausted=False)
        if len(rows) < at_once:
            return Chosen(chosen, after, exhausted=True)


def _ends_within(days: int) -> ColumnElement[bool]:
    authority = ClusterCertificateRow
    return exists().where(
        authority.cluster_id == ClusterRow.uuid,
        authority.state == CertificateState.CURRENT,
        authority.not_after < utc_now() + timedelta(days=days),
    )


def _visible(scope: Scope) -> ColumnElement[bool]:
    of_caller = true() if scope.project_id is None else ScheduleRow.project_id == scope.project_id
    return and_(of_caller, _ALIVE)
