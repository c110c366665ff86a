"""What drivers in workers of their own tell of themselves."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.models import DriverFiles
from jeroboam.models.driver_wire import DriverDescription
from jeroboam.store import driver_files
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import fetch_all
from jeroboam.store.tables import DriverDescriptionRow


class DriverDescriptionRepository:
    """Stores the newest description of each.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, description: DriverDescription, files: DriverFiles | None) -> None:
        """Store what a driver's worker tells, with the files of its version."""
        await self._database.write(_put, description, files)

    async def list(self) -> Sequence[DriverDescription]:
        """Return all descriptions, by name."""
        statement = select(DriverDescriptionRow).order_by(DriverDescriptionRow.name)
        rows = await self._database.read(fetch_all, statement)
        column = DriverDescriptionRow.__table__.c.description
        return [DriverDescription.model_validate(row[column]) for row in rows]


async def _put(
    connection: AsyncConnection, description: DriverDescription, files: DriverFiles | None
) -> None:
    await driver_files.keep(connection, files)
    values = {"description": description, "files": description.files}
    await upsert(
        connection,
        DriverDescriptionRow,
        {"name": description.name, **values},
        key=("name",),
        update=values,
    )
