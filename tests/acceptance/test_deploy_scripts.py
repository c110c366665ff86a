"""The scripts of the compose file, against the real servers that they are made for."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from tests.conftest import TemporalServer
from tests.integration.store.conftest import Postgres, running_postgres

DEPLOY = Path(__file__).parents[2] / "deploy"
BINARIES = Path(sys.executable).parent


def run(script: str, *path: Path, **environment: str) -> None:
    subprocess.run(
        [DEPLOY / script],
        check=True,
        timeout=90,
        env={"PATH": ":".join([*map(str, path), os.environ["PATH"]]), **environment},
    )


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        run(
            "postgres/10-accounts.sh",
            server._binaries,
            PGHOST=str(server.directory),
            JEROBOAM_DATABASE_PASSWORD='it\'s "quoted"',
            TEMPORAL_DATABASE_PASSWORD="other",
        )
        yield server


async def connect(server: Postgres, account: str, database: str) -> asyncpg.Connection:
    return await asyncpg.connect(
        host=str(server.directory), user=account, database=database, timeout=10
    )


@pytest.mark.parametrize(
    ("account", "database"),
    [("jeroboam", "jeroboam"), ("temporal", "temporal"), ("temporal", "temporal_visibility")],
)
async def test_account_owns_its_database(postgres: Postgres, account: str, database: str) -> None:
    """Each program can make tables in its own databases."""
    connection = await connect(postgres, account, database)
    await connection.execute("CREATE TABLE probe (id int)")
    await connection.close()


@pytest.mark.parametrize(
    ("account", "database"), [("temporal", "jeroboam"), ("jeroboam", "temporal")]
)
async def test_account_is_kept_out_elsewhere(
    postgres: Postgres, account: str, database: str
) -> None:
    """No program reaches the databases of the other."""
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await connect(postgres, account, database)


async def test_namespace_is_made_once(
    temporal_server: TemporalServer, temporal_client: Client
) -> None:
    """The namespace is created; a second run brings its retention up to date."""
    for retention in ("10d", "20d"):
        run(
            "temporal/namespace.sh",
            BINARIES,
            TEMPORAL_ADDRESS=temporal_server.address,
            TEMPORAL_NAMESPACE="jeroboam-deploy",
            RETENTION=retention,
        )
    described = await temporal_client.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace="jeroboam-deploy"), timeout=timedelta(seconds=10)
    )
    kept = described.config.workflow_execution_retention_ttl.ToTimedelta()
    assert kept == timedelta(days=20)
