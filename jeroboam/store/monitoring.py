"""What regular looks at clusters have found."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.models import Cluster, Health, Status
from jeroboam.models.monitoring import Monitored
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import fetch_all, model_of, values_of
from jeroboam.store.tables import ClusterRow, MonitoredRow

_NOT_THERE = (
    Status.CREATE_IN_PROGRESS,
    Status.CREATE_FAILED,
    Status.DELETE_IN_PROGRESS,
    Status.DELETE_COMPLETE,
)


class MonitoringRepository:
    """Stores one record for each cluster that was looked at.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, now: datetime, most: int) -> Sequence[tuple[str, str]]:
        """Return clusters whose time has come, uuid and driver; first those that waited longest."""
        statement = (
            select(ClusterRow.uuid, ClusterRow.driver)
            .outerjoin(MonitoredRow, MonitoredRow.cluster_id == ClusterRow.uuid)
            .where(
                ClusterRow.status.not_in(_NOT_THERE),
                or_(MonitoredRow.next_at.is_(None), MonitoredRow.next_at <= now),
            )
            .order_by(MonitoredRow.next_at.is_not(None), MonitoredRow.next_at, ClusterRow.id)
            .limit(most)
        )
        rows = await self._database.read(fetch_all, statement)
        return [(str(row["uuid"]), str(row["driver"])) for row in rows]

    async def get(self, cluster_id: str) -> Monitored | None:
        """Return the record of a cluster; ``None`` if nobody has looked yet."""
        statement = select(MonitoredRow).where(MonitoredRow.cluster_id == cluster_id)
        rows = await self._database.read(fetch_all, statement)
        return model_of(Monitored, MonitoredRow, rows[0]) if rows else None

    async def all(self) -> Sequence[tuple[Cluster, Monitored]]:
        """Return all clusters that were looked at, with their records."""
        return await self._database.read(_all)

    async def record(self, found: Monitored, health: Health) -> None:
        """Write what a look found; a cluster that is gone by now is passed over."""
        await self._database.write(_record, found, health)


async def _all(connection: AsyncConnection) -> Sequence[tuple[Cluster, Monitored]]:
    found = await fetch_all(connection, select(MonitoredRow))
    records = [model_of(Monitored, MonitoredRow, row) for row in found]
    rows = await fetch_all(connection, select(ClusterRow))
    clusters = {row["uuid"]: model_of(Cluster, ClusterRow, row) for row in rows}
    return [(clusters[one.cluster_id], one) for one in records if one.cluster_id in clusters]


async def _record(connection: AsyncConnection, found: Monitored, health: Health) -> None:
    statement = (
        update(ClusterRow)
        .where(ClusterRow.uuid == found.cluster_id)
        .values(health_status=health.status, health_status_reason=dict(health.reasons))
    )
    if not (await connection.execute(statement)).rowcount:
        return
    values = values_of(found)
    changes = {name: value for name, value in values.items() if name != "cluster_id"}
    await upsert(connection, MonitoredRow, values, key=("cluster_id",), update=changes)
