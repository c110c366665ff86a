"""Connections and transactions, on SQLite and on PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from jeroboam.errors import ConfigurationError
from jeroboam.store.failures import translate_errors
from jeroboam.store.tables import Base

CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30
POOL_SIZE = 10

P = ParamSpec("P")
T = TypeVar("T")

_SQLITE = "sqlite+aiosqlite"
_POSTGRES = "postgresql+asyncpg"


class Database:
    """Gives out transactions; every use of the database goes through ``read`` or ``write``.

    Args:
        url: ``sqlite+aiosqlite:///<file>`` or ``postgresql+asyncpg://...``.
        statement_seconds: The longest that one statement, or the wait for a lock, may take.
    """

    def __init__(self, url: str, *, statement_seconds: int = STATEMENT_SECONDS) -> None:
        parsed = _parse(url)
        is_sqlite = parsed.drivername == _SQLITE
        self._engine = (_sqlite_engine if is_sqlite else _postgres_engine)(
            parsed, statement_seconds
        )
        self._writer = self._engine.execution_options(jeroboam_write=True)
        self._reader = self._engine
        if not is_sqlite:
            # What is read with several statements must belong together.
            self._reader = self._engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        # SQLite's writers poll for their turn; a queue within the process is fair and quicker.
        self._turn: AbstractAsyncContextManager[Any] = (
            asyncio.Lock() if is_sqlite else nullcontext()
        )
        self._transactions: set[asyncio.Task[Any]] = set()

    async def close(self) -> None:
        """Wait for the transactions at work, then close all connections."""
        if self._transactions:
            await asyncio.wait(self._transactions)
        await self._engine.dispose()

    async def read(
        self,
        work: Callable[Concatenate[AsyncConnection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call ``work`` with a connection that sees one state of the database, read only."""

        async def transact() -> T:
            with translate_errors():
                async with self._reader.begin() as connection:
                    return await work(connection, *args, **kwargs)

        return await self._uninterrupted(transact())

    async def write(
        self,
        work: Callable[Concatenate[AsyncConnection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call ``work`` with a connection that reads and writes; commit when it returns."""

        async def transact() -> T:
            with translate_errors():
                async with self._turn, self._writer.begin() as connection:
                    return await work(connection, *args, **kwargs)

        return await self._uninterrupted(transact())

    async def _uninterrupted(self, transaction: Coroutine[Any, Any, T]) -> T:
        """Let ``transaction`` end although the caller is cancelled.

        A task that is cancelled between two statements can leave its connection behind with the
        transaction open; on SQLite that locks everybody out.
        """
        task = asyncio.create_task(transaction)
        self._transactions.add(task)
        task.add_done_callback(self._transactions.discard)
        return await asyncio.shield(task)


async def lock(connection: AsyncConnection, name: str) -> None:
    """Hold the lock ``name`` until the transaction ends; SQLite's one writer holds all locks."""
    if connection.dialect.name != "sqlite":
        key = func.hashtextextended(f"jeroboam:{name}", 0)
        await connection.execute(select(func.pg_advisory_xact_lock(key)))


async def upsert(
    connection: AsyncConnection,
    table: type[Base],
    values: Mapping[str, Any],
    *,
    key: Collection[str],
    update: Mapping[str, Any] | None = None,
    where: Any = None,
) -> None:
    """Insert a row, or apply ``update`` to the row which has the same ``key``.

    Args:
        update: New values by column; without it an existing row is left alone.
        where: A condition on the existing row; when it is false the row is left alone.
    """
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table).values(**values)
    if update is None:
        statement = statement.on_conflict_do_nothing(index_elements=list(key))
    else:
        statement = statement.on_conflict_do_update(
            index_elements=list(key), set_=dict(update), where=where
        )
    await connection.execute(statement)


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigurationError("JEROBOAM_DATABASE_URL is not a database URL.") from None
    if parsed.drivername not in {_SQLITE, _POSTGRES}:
        raise ConfigurationError(
            f"JEROBOAM_DATABASE_URL starts with '{parsed.drivername}'; "
            f"'{_SQLITE}' and '{_POSTGRES}' are possible."
        )
    if parsed.drivername == _SQLITE and parsed.database in {None, "", ":memory:"}:
        raise ConfigurationError(
            "JEROBOAM_DATABASE_URL names SQLite without a file; the API and the worker must share "
            f"one, for example {_SQLITE}:////var/lib/jeroboam/jeroboam.sqlite."
        )
    return parsed


def _make_directory(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The directory {path} for the database cannot be made ({error.strerror}). Correct "
            "JEROBOAM_DATABASE_URL or JEROBOAM_STATE_DIRECTORY."
        ) from error


def _sqlite_engine(url: URL, statement_seconds: int) -> AsyncEngine:
    _make_directory(Path(str(url.database)).parent)
    engine = create_async_engine(
        url,
        hide_parameters=True,
        pool_size=POOL_SIZE,
        pool_timeout=statement_seconds,
        connect_args={"timeout": statement_seconds},
    )

    @event.listens_for(engine.sync_engine, "connect")
    def configure(dbapi_connection: Any, _record: Any) -> None:
        # The driver would open transactions by itself, deferred, and too late for DDL.
        dbapi_connection.isolation_level = None
        cursor = dbapi_connection.cursor()
        # FULL: a request that was accepted is still there after a power failure.
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begin(connection: Connection) -> None:
        # A deferred transaction that reads first cannot wait for its turn to write: SQLite fails
        # it at once with "database is locked".
        writes = connection.get_execution_options().get("jeroboam_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgres_engine(url: URL, statement_seconds: int) -> AsyncEngine:
    milliseconds = str(statement_seconds * 1000)
    return create_async_engine(
        url,
        hide_parameters=True,
        pool_size=POOL_SIZE,
        max_overflow=POOL_SIZE,
        pool_timeout=statement_seconds,
        pool_pre_ping=True,
        connect_args={
            "timeout": CONNECT_SECONDS,
            # Above the server's own limit: this one is for a server that no longer answers.
            "command_timeout": statement_seconds + 5,
            "server_settings": {
                "application_name": "jeroboam",
                "statement_timeout": milliseconds,
                "idle_in_transaction_session_timeout": milliseconds,
            },
        },
    )
