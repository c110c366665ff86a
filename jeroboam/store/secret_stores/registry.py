"""Finds secret stores, and has them work beside the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from typing import TypeVar

from jeroboam.errors import ConfigurationError
from jeroboam.store.cipher import Cipher
from jeroboam.store.secret_stores.base import SecretStore, Surroundings
from jeroboam.store.secret_stores.database import DatabaseSecretStore

NAMESPACE = "jeroboam.secret_stores"
THREADS = 8

T = TypeVar("T")


class SecretStores:
    """The store for new secrets, and those in which older ones still are.

    Args:
        current: For new secrets.
        find: Returns another store by its name.
    """

    def __init__(self, current: SecretStore, find: Callable[[str], SecretStore]) -> None:
        self.current = current
        self._find = find
        self._known = {current.name: current}
        # Threads of their own: drivers wait for secrets in all of the loop's others.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="secrets")

    @classmethod
    def load(cls, surroundings: Surroundings) -> "SecretStores":
        """Return the store that the settings name.

        Raises:
            ConfigurationError: There is none of that name, or it cannot be made.
        """

        def find(name: str) -> SecretStore:
            return load(name).make(surroundings)

        return cls(find(surroundings.settings.secret_store), find)

    @classmethod
    def in_database(cls, cipher: Cipher) -> "SecretStores":
        """Return the store that needs no settings."""
        return cls(DatabaseSecretStore(cipher), _unknown)

    def named(self, name: str) -> SecretStore:
        """Return the store that a row names.

        Raises:
            ConfigurationError: It is not installed, or cannot be made.
        """
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    async def call(self, store: SecretStore, work: Callable[[], T]) -> T:
        """Do something with a store without holding up the event loop."""
        if not store.blocking:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False)


def load(name: str) -> type[SecretStore]:
    """Return the class that is installed under a name.

    Raises:
        ConfigurationError: There is none, two packages claim the name, or it is no secret store.
    """
    installed = entry_points(group=NAMESPACE)
    found = {one.value: one for one in installed if one.name == name}
    if len(found) != 1:
        raise ConfigurationError(
            f"JEROBOAM_SECRET_STORE: {len(found)} secret stores are named '{name}'. There are: "
            f"{', '.join(sorted({one.name for one in installed}))}."
        )
    (entry,) = found.values()
    try:
        loaded = entry.load()
    except Exception as error:
        raise ConfigurationError(
            f"The secret store '{name}' ({entry.value}) cannot be loaded: {error!r}"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, SecretStore)):
        raise ConfigurationError(f"The secret store '{name}' ({entry.value}) is no SecretStore.")
    return loaded


def _unknown(name: str) -> SecretStore:
    raise ConfigurationError(
        f"Secrets are in the store '{name}', which this process was started without."
    )
