"""Bringing the schema up to date."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.store.database import Database, lock

MIGRATION_SECONDS = 300


async def upgrade(url: str) -> None:
    """Bring the schema of the database at ``url`` to this version's.

    Processes that do so at once wait for each other, and all but the first find nothing to do.

    Raises:
        ConfigurationError: The URL is wrong.
        StoreUnavailableError: The database does not answer.
    """
    database = Database(url, statement_seconds=MIGRATION_SECONDS)
    try:
        await database.write(_upgrade)
    finally:
        await database.close()


def configuration(connection: Connection) -> Config:
    """Return Alembic's configuration; it needs no file."""
    config = Config()
    config.set_main_option("script_location", "jeroboam.store:migrations")
    config.attributes["connection"] = connection
    return config


async def _upgrade(connection: AsyncConnection) -> None:
    await lock(connection, "migrations")
    await connection.run_sync(lambda plain: command.upgrade(configuration(plain), "head"))
