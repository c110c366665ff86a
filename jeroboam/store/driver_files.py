"""The files that clusters are built from, each set of them once."""

from datetime import datetime

from sqlalchemy import Text, cast, delete, exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import NotFoundError
from jeroboam.models import DriverFiles, utc_now
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import execute, scalar
from jeroboam.store.tables import ClusterRow, DriverDescriptionRow, DriverFilesRow, OperationRow


class DriverFilesRepository:
    """Gives out what was kept; it is kept with the cluster or operation that needs it.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, digest: str) -> DriverFiles:
        """Return the files with a digest.

        Raises:
            NotFoundError: They are not kept.
            DriverContractError: They were changed in the database.
        """
        statement = select(DriverFilesRow.archive).where(DriverFilesRow.digest == digest)
        archive = await self._database.read(scalar, statement)
        if archive is None:
            raise NotFoundError(f"The driver's files {digest} are not in the database.")
        return DriverFiles.of_archive(archive, digest)

    async def prune(self, before: datetime) -> int:
        """Remove what no cluster needs and was not given to any since ``before``.

        Returns:
            How many sets of files were removed.
        """
        # A create that uses them at this moment has set ``kept_at``, under the row's lock.
        unused = (
            delete(DriverFilesRow)
            .where(DriverFilesRow.kept_at < before)
            .where(~exists().where(ClusterRow.driver_files == DriverFilesRow.digest))
            .where(~exists().where(DriverDescriptionRow.files == DriverFilesRow.digest))
            .where(
                ~exists()
                .where(OperationRow.cluster_id == ClusterRow.uuid)
                .where(cast(OperationRow.parameters, Text).contains(DriverFilesRow.digest))
            )
        )
        return await self._database.write(execute, unused)


async def keep(connection: AsyncConnection, files: DriverFiles | None) -> None:
    """Store files in the transaction of what needs them; those that are there stay."""
    if files is None:
        return
    now = utc_now()
    values = {"digest": files.digest, "archive": files.archive, "kept_at": now}
    await upsert(connection, DriverFilesRow, values, key=("digest",), update={"kept_at": now})
