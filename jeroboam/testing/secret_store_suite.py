"""The rules of the secret store contract, as tests that any store can run.

Subclass in a test module and give one fixture::

    class TestMine(SecretStoreSuite):
        @pytest.fixture
        def store(self) -> SecretStore:
            return MySecretStore(...)
"""

import secrets
from concurrent.futures import ThreadPoolExecutor

import pytest

from jeroboam.errors import ConfigurationError
from jeroboam.models import new_uuid
from jeroboam.store.secret_stores.base import MOST_BYTES, SecretStore

_WRITERS = 4


class SecretStoreSuite:
    """Tests of one store; each uses clusters of its own, so a store may be shared and full."""

    @pytest.fixture
    def store(self) -> SecretStore:
        """Return the store under test."""
        raise NotImplementedError

    @pytest.fixture
    def cluster(self) -> str:
        """Return the uuid of a cluster that has no secrets."""
        return new_uuid()

    @pytest.mark.parametrize("length", [0, 1, 5_000, MOST_BYTES], ids=str)
    def test_what_is_put_can_be_read(self, store: SecretStore, cluster: str, length: int) -> None:
        """Any bytes, of any length up to the limit."""
        secret = secrets.token_bytes(length)
        if length == MOST_BYTES:
            # The longest ones are text; some stores compress.
            secret = secret.hex().encode()[:length]
        assert store.get(cluster, store.put(cluster, secret)) == secret

    def test_secrets_stay_as_they_are(self, store: SecretStore, cluster: str) -> None:
        """A further secret of a cluster takes the place of none."""
        first, second = store.put(cluster, b"first"), store.put(cluster, b"second")
        assert first != second
        assert store.get(cluster, first) == b"first"
        assert store.get(cluster, second) == b"second"

    def test_equal_secrets_have_references_of_their_own(
        self, store: SecretStore, cluster: str
    ) -> None:
        """Or removing one of two would remove both."""
        first, second = store.put(cluster, b"same"), store.put(cluster, b"same")
        store.discard(cluster, first)
        assert store.get(cluster, second) == b"same"

    def test_references_tell_nothing(self, store: SecretStore, cluster: str) -> None:
        """They stand in the database, of which there are copies."""
        secret = secrets.token_hex(20).encode()
        reference = store.put(cluster, secret)
        assert secret not in reference
        assert len(reference) <= 2 * MOST_BYTES
        assert secret.decode() not in repr(store)

    def test_a_secret_belongs_to_its_cluster(self, store: SecretStore, cluster: str) -> None:
        """Whoever can write to the database cannot give one cluster the secrets of another."""
        reference = store.put(cluster, b"mine")
        with pytest.raises(ConfigurationError):
            store.get(new_uuid(), reference)

    def test_an_altered_reference_is_refused(self, store: SecretStore, cluster: str) -> None:
        """With the error that says what to do, not with what somebody else has stored."""
        reference = store.put(cluster, b"mine")
        for wrong in (reference[:-1], b"../../etc/passwd", b"", b"\xff\x00"):
            with pytest.raises(ConfigurationError):
                store.get(cluster, wrong)

    def test_discarding_removes_one(self, store: SecretStore, cluster: str) -> None:
        """And may be repeated."""
        first, second = store.put(cluster, b"first"), store.put(cluster, b"second")
        for _ in range(2):
            store.discard(cluster, first)
        assert store.get(cluster, second) == b"second"
        if store.blocking:
            with pytest.raises(ConfigurationError):
                store.get(cluster, first)

    def test_forgetting_removes_all_of_a_cluster(self, store: SecretStore, cluster: str) -> None:
        """Those whose references nobody has, too; other clusters keep theirs."""
        references = [store.put(cluster, b"one of several") for _ in range(3)]
        other = new_uuid()
        kept = store.put(other, b"another cluster's")
        for _ in range(2):
            store.forget(cluster)
        assert store.get(other, kept) == b"another cluster's"
        if store.blocking:
            for reference in references:
                with pytest.raises(ConfigurationError):
                    store.get(cluster, reference)
        store.forget(other)

    def test_several_threads_at_once(self, store: SecretStore, cluster: str) -> None:
        """A worker calls one store from several threads."""
        wanted = [f"secret {number}".encode() for number in range(_WRITERS)]
        with ThreadPoolExecutor(_WRITERS) as threads:
            references = list(threads.map(lambda one: store.put(cluster, one), wanted))
            found = list(threads.map(lambda one: store.get(cluster, one), references))
        assert found == wanted
        store.forget(cluster)

    def test_a_new_secret_is_up_to_date(self, store: SecretStore, cluster: str) -> None:
        """Or a rotation of the key would never end."""
        assert store.is_up_to_date(store.put(cluster, b"new"))
