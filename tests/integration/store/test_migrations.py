"""The schema: made from nothing, equal to the tables, by any number of processes at once."""

import asyncio
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConfigurationError
from jeroboam.store import Scope, Store
from jeroboam.store.database import Database
from jeroboam.store.migrate import upgrade
from jeroboam.store.tables import Base

PROGRAM = """
import asyncio, sys
from jeroboam.store.migrate import upgrade
async def main():
    await asyncio.gather(*(upgrade(sys.argv[1]) for _ in range(3)))
asyncio.run(main())
"""


def _differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True})
    return list(compare_metadata(context, Base.metadata))


async def _all_differences(connection: AsyncConnection) -> list[object]:
    return await connection.run_sync(_differences)


async def test_schema_equals_the_tables(empty_url: str) -> None:
    """After all migrations Alembic finds nothing to change."""
    await upgrade(empty_url)
    database = Database(empty_url)
    assert await database.read(_all_differences) == []
    await database.close()


async def test_upgrade_repeats(empty_url: str) -> None:
    """An up-to-date database stays as it is, with its rows."""
    store = await Store.open(empty_url, migrate=True)
    await store.services.heartbeat("host", "worker")
    await store.close()
    store = await Store.open(empty_url, migrate=True)
    assert len(await store.services.list()) == 1
    await store.close()


async def test_upgrades_at_the_same_time(empty_url: str) -> None:
    """Two processes that start on an empty database, each several times, find it migrated."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, empty_url]
    processes = [
        await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE) for _ in range(2)
    ]
    async with asyncio.timeout(60):
        outcomes = await asyncio.gather(*(process.communicate() for process in processes))
    assert [process.returncode for process in processes] == [0, 0], outcomes
    store = await Store.open(empty_url)
    assert await store.services.list() == []
    await store.close()


async def test_missing_schema_is_told(empty_url: str) -> None:
    """A database without the schema is the operator's to migrate, and the message says how."""
    store = await Store.open(empty_url)
    await store.ping()
    with pytest.raises(ConfigurationError, match="Upgrade"):
        await store.clusters.get("name", Scope(None))
    with pytest.raises(ConfigurationError, match="Upgrade"):
        await store.services.heartbeat("host", "worker")
    await store.close()
