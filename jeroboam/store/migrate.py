"""Bringing the schema up to date."""

from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.store.database import Database, lock

MIGRATION_SECONDS = 300


@dataclass(frozen=True)
class Standing:
    """Which schema a database has.

    Args:
        current: The schema's revision; ``None`` if the database is empty.
        wanted: That of this version.
        older: Whether this version knows how to get from the first to the second.
    """

    current: str | None
    wanted: str
    older: bool


def exists(url: URL) -> bool:
    """Whether the file of a SQLite database is there."""
    return url.database is not None and Path(url.database).is_file()


async def standing(url: str) -> Standing:
    """Return which schema a database has; nothing is changed.

    Raises:
        ConfigurationError: The URL is wrong.
        StoreUnavailableError: The database does not answer.
    """
    database = Database(url)
    try:
        return await database.read(_standing)
    finally:
        await database.close()


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


async def _standing(connection: AsyncConnection) -> Standing:
    def look(plain: Connection) -> Standing:
        script = ScriptDirectory.from_config(configuration(plain))
        current = MigrationContext.configure(plain).get_current_revision()
        known = {one.revision for one in script.walk_revisions()}
        return Standing(current, str(script.get_current_head()), older=current in known)

    return await connection.run_sync(look)
