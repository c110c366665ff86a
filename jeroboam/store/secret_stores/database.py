"""Secrets in Jeroboam's own database, encrypted: the reference is the envelope."""

from typing import ClassVar, Self

from jeroboam.store.cipher import Cipher
from jeroboam.store.secret_stores.base import SecretStore, Surroundings


class DatabaseSecretStore(SecretStore):
    """Needs nothing but the key; whoever backs the database up has everything with it.

    Args:
        cipher: The key, and older ones.
    """

    name: ClassVar[str] = "database"
    blocking: ClassVar[bool] = False

    def __init__(self, cipher: Cipher) -> None:
        self._cipher = cipher

    @classmethod
    def make(cls, surroundings: Surroundings) -> Self:
        """Return the store."""
        return cls(surroundings.cipher)

    def put(self, cluster_id: str, secret: bytes) -> bytes:
        """Encrypt."""
        return self._cipher.encrypt(secret, cluster_id)

    def get(self, cluster_id: str, reference: bytes) -> bytes:
        """Decrypt."""
        return self._cipher.decrypt(reference, cluster_id)

    def discard(self, cluster_id: str, reference: bytes) -> None:
        """Do nothing: the envelope is in the row that is removed."""

    def forget(self, cluster_id: str) -> None:
        """Do nothing, likewise."""

    def is_up_to_date(self, reference: bytes) -> bool:
        """Whether it was encrypted with the newest key."""
        return self._cipher.has_sealed(reference)
