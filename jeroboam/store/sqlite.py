"""Transactions on SQLite: each runs as a whole in one thread.

Measured: SQLAlchemy's asynchronous driver crosses to its thread and back four times for a
statement and five times more for the transaction around it; that was a third of a worker's CPU.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConfigurationError

READERS = 10

T = TypeVar("T")


class SqliteTransactions:
    """Runs transactions in threads of its own, those that write one after another.

    Args:
        url: Names the file.
        statement_seconds: The longest that a transaction waits for another process that writes.
    """

    def __init__(self, url: URL, statement_seconds: int) -> None:
        self._engine = _engine(url, statement_seconds)
        self._readers = ThreadPoolExecutor(READERS, "sqlite-read")
        # SQLite's writers poll for their turn; a queue within the process is fair and quicker.
        self._writer = ThreadPoolExecutor(1, "sqlite-write")

    async def read(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Return what ``work`` returns, which sees one state of the database."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._transact, "BEGIN", work)

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Return what ``work`` returns, and commit.

        The transaction takes its turn to write at once: one that reads first cannot wait for it,
        SQLite fails it with "database is locked".
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writer, self._transact, "BEGIN IMMEDIATE", work)

    async def close(self) -> None:
        """Wait for the transactions at work, then close all connections."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()

    def _transact(self, begin: str, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        with self._engine.begin() as connection:
            connection.exec_driver_sql(begin)
            return _run(work(cast("AsyncConnection", _Blocking(connection))))


class _Blocking:
    """What a transaction uses of an ``AsyncConnection``; each call blocks its thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    async def execute(self, *statement: Any) -> Any:
        return self._connection.execute(*statement)

    async def scalar(self, *statement: Any) -> Any:
        return self._connection.scalar(*statement)

    async def run_sync(self, work: Callable[[Connection], T]) -> T:
        return work(self._connection)


def _run(work: Awaitable[T]) -> T:
    """Run what waits for nothing but a connection that blocks; it needs no event loop."""
    try:
        next(work.__await__())
    except StopIteration as done:
        return cast("T", done.value)
    raise RuntimeError("A transaction on SQLite can wait for nothing but its statements.")


def _engine(url: URL, statement_seconds: int) -> Engine:
    _make_directory(Path(str(url.database)).parent)
    engine = create_engine(
        url.set(drivername="sqlite+pysqlite"),
        hide_parameters=True,
        pool_size=READERS + 1,
        connect_args={"timeout": statement_seconds},
    )

    @event.listens_for(engine, "connect")
    def configure(dbapi_connection: Any, _record: Any) -> None:
        # The driver would open transactions by itself, deferred, and too late for DDL.
        dbapi_connection.isolation_level = None
        cursor = dbapi_connection.cursor()
        # FULL: a request that was accepted is still there after a power failure.
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The directory {path} for the database cannot be made ({error.strerror}). Correct "
            "JEROBOAM_DATABASE_URL or JEROBOAM_STATE_DIRECTORY."
        ) from error
