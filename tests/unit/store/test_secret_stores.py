"""The secret stores that need no cloud, by the rules for all; and how stores are found."""

import os
from pathlib import Path
from typing import Any

import pytest

from jeroboam.errors import ConfigurationError, StoreUnavailableError
from jeroboam.models import new_uuid
from jeroboam.settings import Settings
from jeroboam.store.cipher import Cipher
from jeroboam.store.secret_stores import registry
from jeroboam.store.secret_stores.base import SecretStore, Surroundings
from jeroboam.store.secret_stores.database import DatabaseSecretStore
from jeroboam.store.secret_stores.files import FileSecretStore
from jeroboam.testing.secret_store_suite import SecretStoreSuite
from jeroboam.testing.without_cloud import NoCloud

CIPHER = Cipher(bytes(range(32)))
CLUSTER = new_uuid()


class TestDatabaseSecretStore(SecretStoreSuite):
    @pytest.fixture
    def store(self) -> SecretStore:
        return DatabaseSecretStore(CIPHER)


class TestFileSecretStore(SecretStoreSuite):
    @pytest.fixture
    def store(self, tmp_path: Path) -> SecretStore:
        return FileSecretStore(tmp_path / "secrets", CIPHER)


@pytest.fixture
def files(tmp_path: Path) -> FileSecretStore:
    return FileSecretStore(tmp_path / "secrets", CIPHER)


def test_files_are_private_and_encrypted(files: FileSecretStore, tmp_path: Path) -> None:
    """Nobody else on the host, and no backup of the folder, shows a secret."""
    files.put(CLUSTER, b"the secret itself")
    found = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(found) == 1
    assert b"secret itself" not in found[0].read_bytes()
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "secrets").rglob("*"))
    files.forget(CLUSTER)
    assert list((tmp_path / "secrets").iterdir()) == []


def test_a_folder_that_others_can_read(files: FileSecretStore, tmp_path: Path) -> None:
    """Is refused with the command that mends it."""
    (tmp_path / "secrets").mkdir(mode=0o755)
    (tmp_path / "secrets").chmod(0o755)
    with pytest.raises(ConfigurationError, match="chmod 700"):
        files.put(CLUSTER, b"secret")


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    """Is an error of the store, which is tried again: a volume may be away for a while."""
    (tmp_path / "secrets").write_text("a file")
    with pytest.raises(StoreUnavailableError, match="cannot be used"):
        FileSecretStore(tmp_path / "secrets", CIPHER).put(CLUSTER, b"secret")


def test_a_file_that_was_altered(files: FileSecretStore, tmp_path: Path) -> None:
    """Is not believed."""
    reference = files.put(CLUSTER, b"secret")
    path = next(path for path in tmp_path.rglob("*") if path.is_file())
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ConfigurationError, match="damaged"):
        files.get(CLUSTER, reference)


@pytest.mark.parametrize("kind", ["database", "files"])
def test_older_keys_are_noticed(kind: str, tmp_path: Path) -> None:
    """What was sealed with them can be read, and is not up to date."""
    newest, oldest = Cipher(os.urandom(32), [bytes(range(32))]), CIPHER

    def made(cipher: Cipher) -> SecretStore:
        if kind == "database":
            return DatabaseSecretStore(cipher)
        return FileSecretStore(tmp_path / "secrets", cipher)

    reference = made(oldest).put(CLUSTER, b"secret")
    assert made(newest).get(CLUSTER, reference) == b"secret"
    assert not made(newest).is_up_to_date(reference)
    assert made(newest).is_up_to_date(made(newest).put(CLUSTER, b"secret"))
    with pytest.raises(ConfigurationError, match="JEROBOAM_SECRETS_OLD_KEYS"):
        made(oldest).get(CLUSTER, made(newest).put(CLUSTER, b"secret"))


def surroundings(tmp_path: Path, **settings: Any) -> Surroundings:
    return Surroundings(Settings(state_directory=tmp_path, **settings), CIPHER, NoCloud)


@pytest.mark.parametrize("name", ["database", "files", "barbican"])
def test_ours_are_installed(name: str, tmp_path: Path) -> None:
    """By the names of their entry points; none waits for a cloud before it is used."""
    stores = registry.SecretStores.load(surroundings(tmp_path, secret_store=name))
    assert stores.current.name == name
    assert stores.named("database").name == "database"
    stores.close()


def test_a_store_that_is_not_there(tmp_path: Path) -> None:
    """The message names those that are."""
    with pytest.raises(ConfigurationError, match="barbican, database, files"):
        registry.SecretStores.load(surroundings(tmp_path, secret_store="vault"))


class _Entry:
    def __init__(self, value: str, loaded: Any) -> None:
        self.name, self.value, self._loaded = "mine", value, loaded

    def load(self) -> Any:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


@pytest.fixture(
    params=[
        ([_Entry("a:A", FileSecretStore), _Entry("b:B", FileSecretStore)], "2 secret stores"),
        ([_Entry("a:A", ImportError("no module a"))], "no module a"),
        ([_Entry("a:A", Settings)], "no SecretStore"),
    ],
    ids=["twice", "broken", "something-else"],
)
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    entries, words = request.param
    monkeypatch.setattr(registry, "entry_points", lambda *, group: entries)
    return str(words)


def test_stores_that_cannot_be_loaded(installed: str) -> None:
    """Say which package is to blame."""
    with pytest.raises(ConfigurationError, match=installed):
        registry.load("mine")
