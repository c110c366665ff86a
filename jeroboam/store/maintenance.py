"""Maintenance windows of clusters."""

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from jeroboam.errors import NotFoundError
from jeroboam.models import utc_now
from jeroboam.models.maintenance import MaintenanceWindow
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import execute, fetch_all, model_of, values_of
from jeroboam.store.tables import MaintenanceWindowRow


class MaintenanceRepository:
    """Stores at most one window per cluster.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, cluster_id: str) -> MaintenanceWindow | None:
        """Return a cluster's window; ``None`` if it has none."""
        statement = select(MaintenanceWindowRow).where(
            MaintenanceWindowRow.cluster_id == cluster_id
        )
        rows = await self._database.read(fetch_all, statement)
        return model_of(MaintenanceWindow, MaintenanceWindowRow, rows[0]) if rows else None

    async def put(self, cluster_id: str, window: MaintenanceWindow) -> None:
        """Give a cluster a window, in place of the one that it may have.

        Raises:
            NotFoundError: There is no such cluster.
        """
        values = values_of(window)
        changes = {name: values[name] for name in values if name != "created_at"}
        changes["updated_at"] = utc_now()
        try:
            await self._database.write(
                upsert,
                MaintenanceWindowRow,
                values | {"cluster_id": cluster_id},
                key=("cluster_id",),
                update=changes,
            )
        except IntegrityError as error:
            raise NotFoundError(f"Cluster {cluster_id} could not be found.") from error

    async def delete(self, cluster_id: str) -> bool:
        """Take a cluster's window away; return whether it had one."""
        statement = delete(MaintenanceWindowRow).where(
            MaintenanceWindowRow.cluster_id == cluster_id
        )
        return await self._database.write(execute, statement) > 0
