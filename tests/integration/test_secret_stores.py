"""Secrets outside of the database, through a cluster's life; and the command that renews them."""

import asyncio
import base64
import os
import sys
from pathlib import Path

import pytest
from temporalio.client import Client

from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.models import OperationState
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from tests.integration.engine import running_engine
from tests.integration.store.builders import stored

OLD, NEW = bytes(range(32)), bytes(32)


async def test_secrets_in_files_go_with_their_cluster(
    temporal_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database has none of them, drivers read them, and a delete leaves no file."""
    monkeypatch.setenv("JEROBOAM_SECRET_STORE", "files")
    async with running_engine(temporal_client, tmp_path) as engine:
        spec = await engine.ready()
        folder = tmp_path / "secrets" / spec.cluster.uuid
        assert len(list(folder.iterdir())) == 1
        assert "kubernetes_private_key" in await engine.store.secrets.get(spec.cluster.uuid)
        # What lost its reference in a crash goes as well.
        (folder / "left-behind").write_text("x")
        operation = await engine.delete(spec.cluster)
        await engine.gone(spec)
        assert (await engine.ended(operation)).state is OperationState.SUCCEEDED
        assert not folder.exists()


def encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()


async def jeroboam(*arguments: str, **settings: str) -> tuple[int, str]:
    """Run the program; return its exit code and what it said."""
    given = {f"JEROBOAM_{name.upper()}": value for name, value in settings.items()}
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("jeroboam"),
        *arguments,
        env=os.environ | given,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    return process.returncode or 0, output.decode()


async def test_the_command_that_rotates_the_key(tmp_path: Path) -> None:
    """Moves all secrets to the newest key and the store of the settings, and says so."""
    url = Settings(state_directory=tmp_path).resolved_database_url
    store = await Store.open(url, cipher=Cipher(OLD), migrate=True)
    uuids = [(await stored(store))[0].cluster.uuid for _ in range(2)]
    for uuid in uuids:
        await store.secrets.put_if_absent(uuid, to_mapping(issue_cluster_secrets("a")))
    await store.close()
    settings = {"state_directory": str(tmp_path), "secrets_key": encoded(NEW)}

    code, output = await jeroboam("secrets", "rotate-key", **settings)
    assert code == 1
    assert "2 clusters: 0 changed, 2 failed." in output
    assert uuids[0] in output

    code, output = await jeroboam(
        "secrets", "rotate-key", **settings, secrets_old_keys=encoded(OLD), secret_store="files"
    )
    assert code == 0, output
    assert "2 changed, 0 failed. New secrets are kept in the store 'files' with key" in output
    assert Cipher(NEW).key_id in output
    assert sorted(path.name for path in (tmp_path / "secrets").iterdir()) == sorted(uuids)

    code, output = await jeroboam("secrets", "rotate-key", **settings)
    assert code == 0, output
    assert "2 changed, 0 failed. New secrets are kept in the store 'database'" in output
    store = await Store.open(url, cipher=Cipher(NEW))
    assert "etcd_private_key" in await store.secrets.get(uuids[0])
    await store.close()
    assert not [path for path in (tmp_path / "secrets").rglob("*") if path.is_file()]
