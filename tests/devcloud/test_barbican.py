"""Barbican in a cloud of two services, as a secret store of Jeroboam's."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from devcloud import Devcloud
from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.cloud import Cloud
from jeroboam.errors import ConfigurationError, CredentialRejectedError, StoreUnavailableError
from jeroboam.models import new_uuid
from jeroboam.store import Cipher, Store
from jeroboam.store.secret_stores.barbican import BarbicanSecretStore
from jeroboam.store.secret_stores.base import SecretStore
from jeroboam.store.secret_stores.registry import SecretStores
from jeroboam.testing.secret_store_suite import SecretStoreSuite
from tests.conftest import free_port_base
from tests.integration.store.builders import stored

from .conftest import VENV

SECONDS = 20.0


@pytest.fixture(scope="module")
def key_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Devcloud]:
    """Keystone and Barbican."""
    small = Devcloud(
        tmp_path_factory.mktemp("barbican"),
        port_base=free_port_base(),
        services="barbican",
        venv=VENV,
    )
    small.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(small.clouds_yaml))
        yield small
    small.stop()


@pytest.fixture(scope="module")
def barbican(key_cloud: Devcloud) -> BarbicanSecretStore:
    del key_cloud
    cloud = Cloud("jeroboam", timeout_seconds=SECONDS)
    return BarbicanSecretStore(lambda: cloud)


class TestBarbicanSecretStore(SecretStoreSuite):
    @pytest.fixture
    def store(self, barbican: BarbicanSecretStore) -> SecretStore:
        return barbican


def kept(key_cloud: Devcloud, cluster_id: str) -> int:
    """Return how many secrets Barbican itself has of a cluster."""
    session = Cloud("jeroboam", timeout_seconds=SECONDS).service_session()
    found = session.get(f"{key_cloud.url('barbican')}/v1/secrets?name=jeroboam/{cluster_id}")
    return int(found.json()["total"])


async def test_a_cluster_leaves_nothing_in_barbican(
    key_cloud: Devcloud, barbican: BarbicanSecretStore, tmp_path: Path
) -> None:
    """One secret at a time while it lives, none afterwards; Magnum leaves some behind."""
    url = f"sqlite+aiosqlite:///{tmp_path / 'store.sqlite'}"
    store = await Store.open(
        url,
        cipher=Cipher(bytes(32)),
        secret_stores=SecretStores(barbican, {"barbican": barbican}.__getitem__),
        migrate=True,
    )
    uuid = (await stored(store))[0].cluster.uuid
    values = to_mapping(issue_cluster_secrets("mine"))
    await store.secrets.put_if_absent(uuid, values)
    assert await store.secrets.get(uuid) == values
    await store.secrets.change(uuid, lambda known: {**known, "more": "x"})
    assert kept(key_cloud, uuid) == 1
    barbican.put(uuid, b"left behind by a crash")
    await store.secrets.delete(uuid)
    assert kept(key_cloud, uuid) == 0
    await store.close()
    assert b"PRIVATE KEY" not in (tmp_path / "store.sqlite").read_bytes()


def test_a_user_who_may_not(key_cloud: Devcloud) -> None:
    """Is told which role is missing."""
    del key_cloud
    reader = Cloud("demo-reader", timeout_seconds=SECONDS)
    with pytest.raises(CredentialRejectedError, match="role 'member'"):
        BarbicanSecretStore(lambda: reader).put(new_uuid(), b"secret")


def test_a_secret_that_is_too_long(barbican: BarbicanSecretStore) -> None:
    """Says which option of Barbican's is too small; trying again would not help."""
    with pytest.raises(ConfigurationError, match="max_allowed_secret_in_bytes"):
        barbican.put(new_uuid(), secrets.token_bytes(30_000))


def test_a_cloud_without_barbican(quick_cloud: Devcloud) -> None:
    """Is named as the setting to change."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(quick_cloud.clouds_yaml))
        cloud = Cloud("jeroboam", timeout_seconds=SECONDS)
        with pytest.raises(ConfigurationError, match="no key-manager"):
            BarbicanSecretStore(lambda: cloud).put(new_uuid(), b"secret")


def test_barbican_is_away(key_cloud: Devcloud, barbican: BarbicanSecretStore) -> None:
    """The error is one of those that are tried again, and holds nothing of the secret."""
    key_cloud.stop()
    try:
        with pytest.raises(StoreUnavailableError) as caught:
            barbican.put(new_uuid(), b"the secret")
        assert "dGhl" not in caught.value.message
    finally:
        key_cloud.start()
