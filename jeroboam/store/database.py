"""Transactions, on SQLite and on PostgreSQL."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConfigurationError
from jeroboam.store.failures import translate_errors
from jeroboam.store.postgres import PostgresTransactions
from jeroboam.store.sqlite import SqliteTransactions
from jeroboam.store.tables import Base

STATEMENT_SECONDS = 30

P = ParamSpec("P")
T = TypeVar("T")

_SQLITE = "sqlite+aiosqlite"
_POSTGRES = "postgresql+asyncpg"


class Database:
    """Gives out transactions; every use of the database goes through ``read`` or ``write``.

    A transaction ends, or never begins, although its caller is cancelled.

    Args:
        url: ``sqlite+aiosqlite:///<file>`` or ``postgresql+asyncpg://...``.
        statement_seconds: The longest that one statement, or the wait for a lock, may take.
    """

    def __init__(self, url: str, *, statement_seconds: int = STATEMENT_SECONDS) -> None:
        parsed = _parse(url)
        self._transactions: SqliteTransactions | PostgresTransactions
        if parsed.drivername == _SQLITE:
            self._transactions = SqliteTransactions(parsed, statement_seconds)
        else:
            self._transactions = PostgresTransactions(parsed, statement_seconds)

    async def close(self) -> None:
        """Wait for the transactions at work, then close all connections."""
        await self._transactions.close()

    async def read(
        self,
        work: Callable[Concatenate[AsyncConnection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call ``work`` with a connection that sees one state of the database, read only."""
        with translate_errors():
            return await self._transactions.read(lambda one: work(one, *args, **kwargs))

    async def write(
        self,
        work: Callable[Concatenate[AsyncConnection, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Call ``work`` with a connection that reads and writes; commit when it returns.

        It waits for nothing but its statements.
        """
        with translate_errors():
            return await self._transactions.write(lambda one: work(one, *args, **kwargs))


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
