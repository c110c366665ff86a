"""Transactions on PostgreSQL."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from sqlalchemy.engine import URL
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

CONNECT_SECONDS = 10
POOL_SIZE = 10

T = TypeVar("T")


class PostgresTransactions:
    """Runs transactions on a pool of connections.

    Args:
        url: Names the server and the database.
        statement_seconds: The longest that one statement, or the wait for a lock, may take.
    """

    def __init__(self, url: URL, statement_seconds: int) -> None:
        self._writer = _engine(url, statement_seconds)
        # What is read with several statements must belong together.
        self._reader = self._writer.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        self._transactions: set[asyncio.Task[Any]] = set()

    async def read(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Return what ``work`` returns, which sees one state of the database."""
        return await self._uninterrupted(_transact(self._reader, work))

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Return what ``work`` returns, and commit."""
        return await self._uninterrupted(_transact(self._writer, work))

    async def close(self) -> None:
        """Wait for the transactions at work, then close all connections."""
        if self._transactions:
            await asyncio.wait(self._transactions)
        await self._writer.dispose()

    async def _uninterrupted(self, transaction: Coroutine[Any, Any, T]) -> T:
        """Let ``transaction`` end although the caller is cancelled.

        A task that is cancelled between two statements can leave its connection behind with the
        transaction open.
        """
        task = asyncio.create_task(transaction)
        self._transactions.add(task)
        task.add_done_callback(self._transactions.discard)
        return await asyncio.shield(task)


async def _transact(engine: AsyncEngine, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
    async with engine.begin() as connection:
        return await work(connection)


def _engine(url: URL, statement_seconds: int) -> AsyncEngine:
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
