"""Makes SQLite good enough for services that were written for MySQL."""

import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade, engines
from sqlalchemy import event, pool, types
from sqlalchemy.dialects.sqlite import base as dialect
from sqlalchemy.engine import Engine

WRITER = "devcloud_writer"
KEPT_CONNECTIONS = 8


def install() -> None:
    """Patch before the first engine is created."""
    _keep_connections()
    _tune_connections()
    _begin_writers_immediately()
    _never_reuse_ids()


def _keep_connections() -> None:
    """Use connections again, of which oslo.db opens a new one for each transaction.

    Opening and closing them was a quarter of the processor time of all services. There is no upper
    limit, for whoever waits for a connection may hold the lock that another one waits for.
    """
    create = engines.create_engine

    def _create_pooled(url: Any, **arguments: Any) -> tuple[Engine, Engine]:
        if arguments.get("poolclass") is pool.NullPool:
            arguments |= {
                "poolclass": pool.QueuePool,
                "pool_size": KEPT_CONNECTIONS,
                "max_overflow": -1,
            }
        engine = sa.create_engine(url, **arguments)
        return engine, engine

    def _create_engine(*arguments: Any, **options: Any) -> Engine:
        engine: Engine = create(*arguments, _engine_target=_create_pooled, **options)
        return engine

    engines.create_engine = _create_engine


def _tune_connections() -> None:
    @event.listens_for(Engine, "connect")
    def _connect(connection: Any, _record: Any) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.execute("PRAGMA busy_timeout = 60000")
            connection.execute("PRAGMA journal_mode = WAL")
            # A crash of the machine may lose data; nobody keeps any here.
            connection.execute("PRAGMA synchronous = OFF")


def _begin_writers_immediately() -> None:
    """Let transactions that will write take the lock when they begin.

    oslo.db begins every transaction deferred. Two of them that first read and then write end
    in "database is locked" at once, whatever the busy timeout says, since neither can be
    given the newer snapshot. Readers stay deferred: with WAL they never wait.
    """

    # First in line, and then marked as begun, so that oslo.db's own listener holds back.
    @event.listens_for(Engine, "begin", insert=True)
    def _begin(connection: Any) -> None:
        if connection.dialect.name != "sqlite" or "in_transaction" in connection.info:
            return
        writer = connection.get_execution_options().get(WRITER)
        connection.execute(sa.text("BEGIN IMMEDIATE" if writer else "BEGIN"))
        connection.info["in_transaction"] = True

    create = enginefacade._TransactionFactory._create_session  # noqa: SLF001

    # The session still begins with its first statement, not here: Heat opens an independent
    # writer inside one that is not used yet, and would wait for itself.
    def _create_session(self: Any, mode: Any, bind: Any = None) -> Any:
        session = create(self, mode, bind=bind)
        if mode is enginefacade._WRITER and bind is None:  # noqa: SLF001
            engine = session.bind
            writing = engine.__dict__.get(WRITER)
            if writing is None:
                writing = engine.execution_options(**{WRITER: True})
                engine.__dict__[WRITER] = writing
            session.bind = writing
        return session

    enginefacade._TransactionFactory._create_session = _create_session  # noqa: SLF001


def _never_reuse_ids() -> None:
    """Create integer primary keys with AUTOINCREMENT.

    Heat remembers the ids of rows and deletes them later. Plain SQLite gives the id of a
    deleted last row to the next one, so that a late delete may hit another resource's
    properties, and its stack then stays in progress for ever. MySQL never does that.
    """
    compiler: Any = dialect.SQLiteDDLCompiler
    specification = compiler.get_column_specification

    def get_column_specification(self: Any, column: Any, **kwargs: Any) -> Any:
        alone = len(column.table.primary_key.columns) == 1
        integer = type(column.type) is types.Integer
        if column.primary_key and alone and integer and not column.foreign_keys:
            column.table.dialect_options["sqlite"]["autoincrement"] = True
        return specification(self, column, **kwargs)

    compiler.get_column_specification = get_column_specification


def remove(path: Path) -> None:
    """Delete a database and the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
