"""The processes that serve: Magnum's ``mservices``."""

from datetime import datetime

from sqlalchemy import select

from jeroboam.models import Model, utc_now
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import fetch_all, model_of
from jeroboam.store.tables import ServiceRow


class ServiceRecord(Model):
    """One process, as its own heartbeats describe it."""

    id: int
    host: str
    binary: str
    report_count: int
    last_seen: datetime
    created_at: datetime
    updated_at: datetime | None = None


class ServiceRepository:
    """Stores heartbeats.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def heartbeat(self, host: str, binary: str) -> None:
        """Record that ``binary`` on ``host`` is alive."""
        now = utc_now()
        values = {
            "host": host,
            "binary": binary,
            "report_count": 1,
            "last_seen": now,
            "created_at": now,
        }
        changes = {
            "report_count": ServiceRow.report_count + 1,
            "last_seen": now,
            "updated_at": now,
        }
        await self._database.write(
            upsert, ServiceRow, values, key=("host", "binary"), update=changes
        )

    async def list(self) -> list[ServiceRecord]:
        """Return all processes that ever reported, oldest first."""
        rows = await self._database.read(fetch_all, select(ServiceRow).order_by(ServiceRow.id))
        return [model_of(ServiceRecord, ServiceRow, row) for row in rows]
