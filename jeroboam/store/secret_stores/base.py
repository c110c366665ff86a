"""The contract of secret stores; docs/secret-store-contract.md tells it to their authors."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

from jeroboam.drivers.base import CloudAccess
from jeroboam.settings import Settings
from jeroboam.store.cipher import Cipher

MOST_BYTES = 16 * 1024
"""The longest secret that a store has to take; a cluster's are about 4 KB."""


@dataclass(frozen=True)
class Surroundings:
    """What a store is made of.

    Args:
        cipher: The key of the secrets, for stores whose place is not protected itself.
        cloud: Returns the access to Jeroboam's cloud, whose ``service_session`` is the service
            user's; call it when it is needed first, since not every store needs a cloud.
    """

    settings: Settings
    cipher: Cipher
    cloud: Callable[[], CloudAccess]


class SecretStore(ABC):
    """Keeps secrets, each of which is written once and never changed.

    Jeroboam's database keeps the references. It decides which secret is a cluster's, so a store
    needs neither locks nor transactions.

    Attributes:
        name: Of its entry point.
        blocking: Whether calls wait for something, so that they run in threads.
    """

    name: ClassVar[str]
    blocking: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def make(cls, surroundings: Surroundings) -> Self:
        """Return the store; wait for nothing.

        Raises:
            ConfigurationError: A setting is missing or wrong.
        """

    @abstractmethod
    def put(self, cluster_id: str, secret: bytes) -> bytes:
        """Keep a secret of a cluster beside those that it has; return a reference.

        The reference goes into the database. It tells nothing of the secret to who lacks the key.

        Raises:
            StoreUnavailableError: The store does not answer.
        """

    @abstractmethod
    def get(self, cluster_id: str, reference: bytes) -> bytes:
        """Return what ``put`` was given.

        Raises:
            ConfigurationError: It is gone, was altered, or belongs to another cluster.
            StoreUnavailableError: The store does not answer.
        """

    @abstractmethod
    def discard(self, cluster_id: str, reference: bytes) -> None:
        """Remove one secret; one that is gone is success.

        Raises:
            StoreUnavailableError: The store does not answer.
        """

    @abstractmethod
    def forget(self, cluster_id: str) -> None:
        """Remove all secrets of a cluster, those included whose references were lost in a crash.

        Raises:
            StoreUnavailableError: The store does not answer.
        """

    def is_up_to_date(self, reference: bytes) -> bool:
        """Whether a secret is kept as ``put`` would keep it now: false asks for a new one."""
        del reference
        return True
