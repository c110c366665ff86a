"""Secrets and services."""

import asyncio
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
from jeroboam.store import Cipher, Store
from tests.integration.store.builders import stored


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
