"""Secrets and services."""

import asyncio
import contextlib
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from jeroboam import certificate_sets
from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.errors import ConfigurationError, NotFoundError
from jeroboam.models import new_uuid
from jeroboam.models.certificate import CertificateKind
from jeroboam.store import Cipher, Store, certificates
from jeroboam.store.secret_stores.base import SecretStore
from jeroboam.store.secret_stores.database import DatabaseSecretStore
from jeroboam.store.secret_stores.files import FileSecretStore
from jeroboam.store.secret_stores.registry import SecretStores
from tests.integration.store.builders import stored
from tests.integration.store.conftest import KEY


async def test_first_writer_wins(store: Store) -> None:
    """A second put changes nothing and returns the first one's values."""
    spec, _ = await stored(store)
    uuid = spec.cluster.uuid
    first = {"ca": "one", "token": "ü"}
    assert await store.secrets.put_if_absent(uuid, first) == first
    assert await store.secrets.put_if_absent(uuid, {"ca": "two"}) == first
    assert await store.secrets.get(uuid) == first


async def test_writers_at_the_same_time_agree(store: Store) -> None:
    """All of several writers at once get the same values back."""
    spec, _ = await stored(store)
    puts = (store.secrets.put_if_absent(spec.cluster.uuid, {"n": str(n)}) for n in range(8))
    results = await asyncio.gather(*puts)
    assert all(result == results[0] for result in results)


async def test_secrets_need_their_cluster(store: Store) -> None:
    """Secrets are stored for existing clusters only, so that none are orphaned."""
    unknown = new_uuid()
    with pytest.raises(NotFoundError, match=unknown):
        await store.secrets.put_if_absent(unknown, {"a": "b"})
    with pytest.raises(NotFoundError, match=unknown):
        await store.secrets.get(unknown)


async def test_delete_forgets(store: Store) -> None:
    """Deleted secrets are gone; deleting again is no error."""
    spec, _ = await stored(store)
    await store.secrets.put_if_absent(spec.cluster.uuid, {"a": "b"})
    await store.secrets.delete(spec.cluster.uuid)
    await store.secrets.delete(spec.cluster.uuid)
    with pytest.raises(NotFoundError):
        await store.secrets.get(spec.cluster.uuid)


async def test_the_public_halves_are_readable_without_the_key(
    store: Store, database_url: str
) -> None:
    """They are written with the keys, follow each change, and go with them."""
    spec, _ = await stored(store)
    uuid = spec.cluster.uuid
    first, second = issue_cluster_secrets("a"), issue_cluster_secrets("a")
    await store.secrets.put_if_absent(uuid, to_mapping(first))
    await store.secrets.put_if_absent(uuid, to_mapping(second))
    keyless = await Store.open(database_url)
    found = await keyless.certificates.list(uuid)
    pems = [first.kubernetes.certificate, first.etcd.certificate, first.front_proxy.certificate]
    assert [one.pem for one in found] == pems
    stage = partial(certificate_sets.stage, rotation="one", fresh=second)
    await store.secrets.change(uuid, stage)
    assert len(await keyless.certificates.list(uuid)) == 6
    await store.secrets.change(uuid, certificate_sets.drop)
    assert [one.pem for one in await keyless.certificates.list(uuid)] == pems
    end = found[0].not_after
    ends = await keyless.certificates.ends(end - timedelta(days=2), (1, 3))
    assert ends.first == {one.kind: one.not_after for one in found}
    assert ends.within == {
        1: dict.fromkeys(CertificateKind, 0),
        3: dict.fromkeys(CertificateKind, 1),
    }
    await store.secrets.delete(uuid)
    assert await keyless.certificates.list(uuid) == []
    await keyless.close()


async def test_changes_at_the_same_time_undo_nothing(store: Store) -> None:
    """Each sees what the other ones have stored."""
    spec, _ = await stored(store)
    uuid = spec.cluster.uuid
    await store.secrets.put_if_absent(uuid, {"kept": "yes"})
    additions = [{str(number): "here"} for number in range(5)]
    await asyncio.gather(
        *(store.secrets.change(uuid, partial(_with, added=added)) for added in additions)
    )
    assert sorted(await store.secrets.get(uuid)) == ["0", "1", "2", "3", "4", "kept"]
    with pytest.raises(NotFoundError):
        await store.secrets.change(new_uuid(), certificate_sets.drop)


def _with(values: Mapping[str, str], added: Mapping[str, str]) -> Mapping[str, str]:
    return {**values, **added}


async def test_a_rotation_of_the_key(store: Store, database_url: str) -> None:
    """All is encrypted anew; it may be broken off, and then the old key is not needed."""
    uuids = [(await stored(store))[0].cluster.uuid for _ in range(3)]
    for uuid in uuids:
        await store.secrets.put_if_absent(uuid, {"of": uuid})
    both = await Store.open(database_url, cipher=Cipher(bytes(32), [KEY]))
    async for one in both.secrets.renew():
        assert (one.changed, one.problem) == (True, None)
        break
    changed = {one.cluster_id: one.changed async for one in both.secrets.renew()}
    assert sorted(changed) == sorted(uuids)
    assert sum(changed.values()) == 2
    assert not any([one.changed async for one in both.secrets.renew()])
    await both.close()
    newest = await Store.open(database_url, cipher=Cipher(bytes(32)))
    assert [(await newest.secrets.get(uuid))["of"] for uuid in uuids] == uuids
    await newest.close()


async def test_a_rotation_tells_what_it_cannot_read(store: Store, database_url: str) -> None:
    """With the cluster, and goes on with the others."""
    lost, good = [(await stored(store))[0].cluster.uuid for _ in range(2)]
    await store.secrets.put_if_absent(lost, {"a": "b"})
    newest = await Store.open(database_url, cipher=Cipher(bytes(32)))
    await newest.secrets.put_if_absent(good, {"a": "b"})
    found = {one.cluster_id: one async for one in newest.secrets.renew()}
    assert "JEROBOAM_SECRETS_OLD_KEYS" in (found[lost].problem or "")
    assert (found[good].changed, found[good].problem) == (False, None)
    await newest.close()
    assert await store.secrets.get(lost) == {"a": "b"}


async def test_a_move_to_another_store(store: Store, database_url: str, tmp_path: Path) -> None:
    """What was stored before is found where it is, until it is moved."""
    uuid = (await stored(store))[0].cluster.uuid
    await store.secrets.put_if_absent(uuid, {"a": "b"})
    cipher = Cipher(KEY)
    files, database = FileSecretStore(tmp_path / "files", cipher), DatabaseSecretStore(cipher)
    stores = SecretStores(files, {"database": database}.__getitem__)
    moved = await Store.open(database_url, cipher=cipher, secret_stores=stores)
    assert await moved.secrets.get(uuid) == {"a": "b"}
    assert [one.changed async for one in moved.secrets.renew()] == [True]
    assert await moved.secrets.get(uuid) == {"a": "b"}
    await moved.secrets.change(uuid, partial(_with, added={"c": "d"}))
    assert len(list((tmp_path / "files" / uuid).iterdir())) == 1, "the one before is discarded"
    with pytest.raises(ConfigurationError, match="'files'"):
        await store.secrets.get(uuid)
    await moved.secrets.delete(uuid)
    assert list((tmp_path / "files").iterdir()) == []
    await moved.close()


async def test_a_loser_leaves_nothing_behind(
    store: Store, database_url: str, tmp_path: Path
) -> None:
    """Of several first writers one wins; what the others have put is gone."""
    uuid = (await stored(store))[0].cluster.uuid
    stores = SecretStores(FileSecretStore(tmp_path / "files", Cipher(KEY)), _none)
    shared = await Store.open(database_url, cipher=Cipher(KEY), secret_stores=stores)
    puts = (shared.secrets.put_if_absent(uuid, {"n": str(number)}) for number in range(6))
    results = await asyncio.gather(*puts)
    assert all(result == results[0] for result in results)
    assert len(list((tmp_path / "files" / uuid).iterdir())) == 1
    unknown = new_uuid()
    with pytest.raises(NotFoundError):
        await shared.secrets.put_if_absent(unknown, {"a": "b"})
    assert list((tmp_path / "files" / unknown).iterdir()) == []
    await shared.close()


async def test_certificates_from_before_they_were_published(
    store: Store, database_url: str
) -> None:
    """A worker that starts publishes them; what it cannot read it leaves out."""
    uuid, lost = [(await stored(store))[0].cluster.uuid for _ in range(2)]
    await store.secrets.put_if_absent(uuid, to_mapping(issue_cluster_secrets("a")))
    async with contextlib.aclosing(store.secrets.renew()) as rows:
        assert not (await anext(rows)).changed
    await store._database.write(certificates.publish, uuid, ())
    stranger = await Store.open(database_url, cipher=Cipher(bytes(32)))
    await stranger.secrets.put_if_absent(lost, {"a": "b"})
    await stranger.close()
    assert await store.certificates.list(uuid) == []
    await store.secrets.publish_missing()
    assert len(await store.certificates.list(uuid)) == 3


def _none(name: str) -> SecretStore:
    raise KeyError(name)


async def test_another_key_is_told(store: Store, database_url: str) -> None:
    """A process with the wrong key, or none, is told which setting is wrong."""
    spec, _ = await stored(store)
    await store.secrets.put_if_absent(spec.cluster.uuid, {"a": "plain text"})
    wrong = await Store.open(database_url, cipher=Cipher(bytes(32)))
    with pytest.raises(ConfigurationError, match="JEROBOAM_SECRETS_KEY"):
        await wrong.secrets.get(spec.cluster.uuid)
    await wrong.close()
    keyless = await Store.open(database_url)
    with pytest.raises(ConfigurationError, match="key"):
        await keyless.secrets.get(spec.cluster.uuid)
    await keyless.close()


@pytest.mark.parametrize("dialect", ["sqlite"], indirect=True)
async def test_nothing_readable_reaches_the_disk(store: Store, tmp_path: Path) -> None:
    """Neither names nor values of secrets can be found in the database's files."""
    spec, _ = await stored(store)
    await store.secrets.put_if_absent(spec.cluster.uuid, {"name-of": "value-of"})
    await store.close()
    content = _bytes_below(tmp_path)
    assert spec.cluster.uuid.encode() in content
    assert b"name-of" not in content
    assert b"value-of" not in content


async def test_heartbeats_count(store: Store) -> None:
    """Each heartbeat counts and moves the time; processes are told apart by host and binary."""
    for _ in range(3):
        await store.services.heartbeat("host-1", "jeroboam-worker")
    await store.services.heartbeat("host-2", "jeroboam-worker")
    first, second = await store.services.list()
    assert (first.host, first.report_count, second.report_count) == ("host-1", 3, 1)
    assert first.last_seen > first.created_at
    assert first.updated_at == first.last_seen
    assert second.updated_at is None


def _bytes_below(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.glob("store.sqlite*"))
