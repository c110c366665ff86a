"""What the API seals and only workers read."""

import pytest
from sqlalchemy import update

from jeroboam.errors import ConfigurationError, InvalidRequestError, StoreUnavailableError
from jeroboam.sealing import Envelope
from jeroboam.store import Cipher, Store
from jeroboam.store.query import execute
from jeroboam.store.tables import WorkerAddressRow

SHARED = Cipher(b"s" * 32)
SECRETS = Cipher(b"k" * 32)


async def _open(url: str, *, cipher: Cipher | None = None, shared: Cipher | None = SHARED) -> Store:
    return await Store.open(url, cipher=cipher, hooks_cipher=shared)


async def test_only_workers_read_what_the_api_seals(store: Store, database_url: str) -> None:
    """The API seals without the key; a worker opens it, and nobody without the key does."""
    api, worker = await _open(database_url), await _open(database_url, cipher=SECRETS)
    await worker.inbox.announce()
    await worker.inbox.announce()
    sealed = await api.inbox.seal(b"the secret", "cluster 1")
    assert "secret" not in sealed
    assert worker.inbox.open(sealed, "cluster 1") == b"the secret"
    with pytest.raises(ConfigurationError, match="key of the secrets"):
        api.inbox.open(sealed, "cluster 1")
    stranger = await _open(database_url, cipher=Cipher(b"x" * 32))
    with pytest.raises(InvalidRequestError):
        stranger.inbox.open(sealed, "cluster 1")
    for one in (api, worker, stranger):
        await one.close()


async def test_it_belongs_to_what_it_was_sealed_for(store: Store, database_url: str) -> None:
    """Copied to another cluster's row it is worth nothing."""
    worker = await _open(database_url, cipher=SECRETS)
    await worker.inbox.announce()
    sealed = await worker.inbox.seal(b"the secret", "cluster 1")
    with pytest.raises(InvalidRequestError):
        worker.inbox.open(sealed, "cluster 2")
    await worker.close()


async def test_without_a_worker_it_is_said(store: Store, database_url: str) -> None:
    """A request that brings a secret before the first worker was up may be sent again."""
    api = await _open(database_url)
    with pytest.raises(StoreUnavailableError, match="No worker"):
        await api.inbox.seal(b"the secret", "cluster 1")
    await api.close()


async def test_an_address_of_a_stranger_is_not_used(store: Store, database_url: str) -> None:
    """Who can write to the database, and has no key, cannot have secrets sealed to them."""
    api, worker = await _open(database_url), await _open(database_url, cipher=SECRETS)
    await worker.inbox.announce()
    forged = update(WorkerAddressRow).values(address=Envelope().address)
    await store._database.write(execute, forged)
    with pytest.raises(StoreUnavailableError, match="No worker"):
        await api.inbox.seal(b"the secret", "cluster 1")
    for one in (api, worker):
        await one.close()


async def test_the_newest_key_is_used(store: Store, database_url: str) -> None:
    """After a change of the key the API seals to the workers that have the new one."""
    before = await _open(database_url, cipher=Cipher(b"b" * 32))
    worker = await _open(database_url, cipher=SECRETS)
    await before.inbox.announce()
    await worker.inbox.announce()
    sealed = await worker.inbox.seal(b"the secret", "cluster 1")
    assert worker.inbox.open(sealed, "cluster 1") == b"the secret"
    for one in (before, worker):
        await one.close()


async def test_a_change_of_the_key(store: Store, database_url: str) -> None:
    """What was sealed before is read while workers still have the old key."""
    before = await _open(database_url, cipher=SECRETS)
    await before.inbox.announce()
    sealed = await before.inbox.seal(b"the secret", "cluster 1")
    both = await _open(database_url, cipher=Cipher(b"n" * 32, [b"k" * 32]))
    assert both.inbox.open(sealed, "cluster 1") == b"the secret"
    await both.inbox.announce()
    again = await both.inbox.seal(b"another", "cluster 1")
    with pytest.raises(InvalidRequestError):
        before.inbox.open(again, "cluster 1")
    assert both.inbox.open(again, "cluster 1") == b"another"
    for one in (before, both):
        await one.close()
