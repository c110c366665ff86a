"""Databases that are busy, away or wrongly named."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import literal, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConfigurationError, StoreUnavailableError
from jeroboam.models import Operation
from jeroboam.store import Page, Scope, Store
from jeroboam.store.database import Database, lock
from jeroboam.store.migrate import upgrade
from jeroboam.store.query import scalar
from tests.integration.store.builders import (
    PROJECT,
    a_spec,
    a_template,
    a_transition,
    an_operation,
    stored,
)
from tests.integration.store.conftest import Postgres


async def test_postgres_goes_away_and_returns(own_postgres: Postgres) -> None:
    """Calls fail as retryable while the server is away, and work again without a restart."""
    url = own_postgres.url("postgres")
    store = await Store.open(url, migrate=True)
    await store.ping()
    own_postgres.stop()
    for call in (store.ping(), store.services.heartbeat("host", "worker")):
        with pytest.raises(StoreUnavailableError) as caught:
            await call
        assert caught.value.retryable
    own_postgres.start()
    await store.services.heartbeat("host", "worker")
    await store.close()


async def test_connection_cut_in_a_transaction(postgres: Postgres, migrated_postgres: str) -> None:
    """A server that ends the connection in the middle of a transaction is a retryable failure."""
    database = Database(postgres.url(migrated_postgres))

    async def cut(connection: AsyncConnection) -> None:
        pid = await connection.scalar(text("SELECT pg_backend_pid()"))
        await postgres.execute(f"SELECT pg_terminate_backend({pid})")
        await asyncio.sleep(0.2)
        await connection.scalar(text("SELECT 1"))

    with pytest.raises(StoreUnavailableError):
        await database.write(cut)
    assert await database.read(scalar, select(literal(1))) == 1
    await database.close()


async def test_wait_for_a_lock_is_bounded(postgres: Postgres, migrated_postgres: str) -> None:
    """A statement that waits for a lock longer than the limit gives up, as retryable."""
    url = postgres.url(migrated_postgres)
    first, second = Database(url), Database(url, statement_seconds=1)

    async def hold(connection: AsyncConnection) -> None:
        await lock(connection, "name")
        with pytest.raises(StoreUnavailableError):
            await second.write(lock, "name")

    await first.write(hold)
    await second.write(lock, "name")
    await first.close()
    await second.close()


async def test_sqlite_file_locked_by_another(migrated_sqlite: Path, tmp_path: Path) -> None:
    """A file that another process keeps locked beyond the limit is a retryable failure."""
    path = shutil.copy(migrated_sqlite, tmp_path)
    database = Database(f"sqlite+aiosqlite:///{path}", statement_seconds=1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError):
        await database.write(lock, "name")
    other.execute("ROLLBACK")
    other.close()
    await database.write(lock, "name")
    await database.close()


async def test_many_readers_and_writers(store: Store) -> None:
    """Reads and writes at the same time, more than there are connections, all succeed."""
    spec, operation = await stored(store)

    async def work(number: int) -> None:
        transition = a_transition(operation, number + 1)
        await store.operations.apply(transition)
        await store.clusters.spec(spec.cluster.uuid)
        await store.clusters.list(Scope(PROJECT), Page(10))

    async with asyncio.timeout(60):
        await asyncio.gather(*(work(number) for number in range(60)))
    found: Operation = await store.operations.get(operation.uuid)
    assert found.seq == 60


async def test_cancelled_write_is_whole(store: Store) -> None:
    """A create whose caller is cancelled is stored whole or not at all, and locks nobody out."""
    template = await store.templates.add(a_template())
    specs = [a_spec(template) for _ in range(12)]
    for number, spec in enumerate(specs):
        creation = store.clusters.create(spec, an_operation(spec.cluster))
        task = asyncio.create_task(creation)
        await asyncio.sleep(number / 2000)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    async with asyncio.timeout(10):
        await stored(store, name="after")
    for spec in specs:
        groups = await store.clusters.node_groups([spec.cluster.uuid])
        active = await store.operations.active(spec.cluster.uuid)
        assert (len(groups[spec.cluster.uuid]), len(active)) in {(0, 0), (2, 1)}


async def test_close_waits_for_transactions(store: Store, database_url: str) -> None:
    """What a cancelled caller left behind is finished before the connections are closed."""
    template = await store.templates.add(a_template())
    spec = a_spec(template)
    closing = await Store.open(database_url)
    creation = closing.clusters.create(spec, an_operation(spec.cluster))
    task = asyncio.create_task(creation)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await closing.close()
    assert (await store.clusters.count(Scope(PROJECT))).clusters in {0, 1}


async def test_server_that_is_not_there() -> None:
    """A refused connection is retryable, also while migrating, and does not show the password."""
    url = "postgresql+asyncpg://user:hunter2@127.0.0.1:1/db"
    store = await Store.open(url)
    for call in (store.ping(), upgrade(url)):
        with pytest.raises(StoreUnavailableError) as caught:
            await call
        assert "hunter2" not in str(caught.value)
        assert "JEROBOAM_DATABASE_URL" in str(caught.value)
    await store.close()


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "postgresql://user:hunter2@host/db",
        "mysql+aiomysql://host/db",
        "sqlite+aiosqlite://",
        "sqlite+aiosqlite:///:memory:",
    ],
)
async def test_refuses_other_databases(url: str) -> None:
    """A URL that Jeroboam cannot use names the setting, and not the password."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_DATABASE_URL") as caught:
        await Store.open(url)
    assert "hunter2" not in str(caught.value)


async def test_directory_that_cannot_be_made(tmp_path: Path) -> None:
    """A SQLite path below a file is told as the setting's fault."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="JEROBOAM_DATABASE_URL"):
        await Store.open(f"sqlite+aiosqlite:///{tmp_path}/file/store.sqlite")
