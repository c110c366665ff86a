"""Secrets as encrypted files, on a volume that all workers share."""

import os
import secrets
import shutil
from pathlib import Path
from typing import ClassVar, Self
from uuid import UUID

from jeroboam.errors import ConfigurationError, StoreUnavailableError
from jeroboam.store.cipher import Cipher
from jeroboam.store.secret_stores.base import SecretStore, Surroundings

_PRIVATE = 0o700
_OTHERS = 0o077


class FileSecretStore(SecretStore):
    """One folder for each cluster, one file for each secret.

    The reference is the file's name, which begins with the id of the key.

    Args:
        directory: Where; it is made when it is needed.
        cipher: The key: a backup of the folder alone opens nothing.
    """

    name: ClassVar[str] = "files"

    def __init__(self, directory: Path, cipher: Cipher) -> None:
        self._directory = directory
        self._cipher = cipher

    @classmethod
    def make(cls, surroundings: Surroundings) -> Self:
        """Return the store in the folder of the settings."""
        settings = surroundings.settings
        directory = settings.secrets_directory or settings.state_directory / "secrets"
        return cls(directory, surroundings.cipher)

    def put(self, cluster_id: str, secret: bytes) -> bytes:
        """Write a file."""
        name = f"{self._cipher.key_id}-{secrets.token_hex(16)}"
        try:
            folder = self._folder(cluster_id)
            self._make(folder)
            _write(folder / name, self._cipher.encrypt(secret, cluster_id))
        except OSError as error:
            raise self._trouble(error) from error
        return name.encode()

    def get(self, cluster_id: str, reference: bytes) -> bytes:
        """Read a file."""
        try:
            envelope = self._file(cluster_id, reference).read_bytes()
        except FileNotFoundError:
            raise ConfigurationError(
                f"The secrets of {cluster_id} are not below {self._directory}. Have all workers "
                "use one folder (JEROBOAM_SECRETS_DIRECTORY), or restore it from a backup."
            ) from None
        except OSError as error:
            raise self._trouble(error) from error
        return self._cipher.decrypt(envelope, cluster_id)

    def discard(self, cluster_id: str, reference: bytes) -> None:
        """Remove a file."""
        try:
            self._file(cluster_id, reference).unlink(missing_ok=True)
        except OSError as error:
            raise self._trouble(error) from error

    def forget(self, cluster_id: str) -> None:
        """Remove a folder."""
        try:
            shutil.rmtree(self._folder(cluster_id))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._trouble(error) from error

    def is_up_to_date(self, reference: bytes) -> bool:
        """Whether it was encrypted with the newest key."""
        return reference.startswith(f"{self._cipher.key_id}-".encode())

    def _folder(self, cluster_id: str) -> Path:
        return self._directory / str(UUID(cluster_id))

    def _file(self, cluster_id: str, reference: bytes) -> Path:
        """Return the path of a reference, which must not lead elsewhere."""
        name = reference.decode("ascii", "replace")
        if not name.replace("-", "").isalnum():
            raise ConfigurationError(f"The secrets of {cluster_id} have no name of a file.")
        return self._folder(cluster_id) / name

    def _make(self, folder: Path) -> None:
        self._directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
        if self._directory.stat().st_mode & _OTHERS:
            raise ConfigurationError(
                f"Others can read {self._directory}. Run `chmod 700 {self._directory}`."
            )
        folder.mkdir(mode=_PRIVATE, exist_ok=True)

    def _trouble(self, error: OSError) -> StoreUnavailableError:
        return StoreUnavailableError(
            f"The folder of the secrets, {self._directory}, cannot be used: {error.strerror}."
        )


def _write(path: Path, content: bytes) -> None:
    """Write a file that is either there with all of its content, or not at all."""
    draft = path.with_name(f".{path.name}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)
