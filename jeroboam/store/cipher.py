"""Encryption of stored secrets: AES-256-GCM, with the key's id in the envelope."""

import base64
import binascii
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pydantic import SecretStr

from jeroboam.errors import ConfigurationError
from jeroboam.settings import Settings

KEY_FILE = "secrets.key"
HOOKS_KEY_FILE = "hooks.key"

_KEY_BYTES = 32
_VERSION = b"\x01"
_ID_BYTES = 8
_NONCE_BYTES = 12
_HEADER_BYTES = len(_VERSION) + _ID_BYTES


class Cipher:
    """Encrypts with one key, and decrypts with that and older ones.

    Args:
        key: 32 random bytes.
        older: Keys that it took the place of.
    """

    def __init__(self, key: bytes, older: Sequence[bytes] = ()) -> None:
        self._keys = (key, *older)
        self._id = _id_of(key)
        self._aeads = {_id_of(one): AESGCM(one) for one in (*older, key)}

    def __repr__(self) -> str:
        return f"Cipher(key_id={self.key_id})"

    @classmethod
    def from_settings(cls, settings: Settings) -> "Cipher":
        """Take the keys from the settings, else one from a file made on first use."""
        path = settings.state_directory / KEY_FILE
        older = [
            _decode(one.get_secret_value().encode(), "JEROBOAM_SECRETS_OLD_KEYS")
            for one in settings.secrets_old_keys
        ]
        return cls(_key(settings.secrets_key, "JEROBOAM_SECRETS_KEY", path), older)

    @classmethod
    def for_hooks(cls, settings: Settings) -> "Cipher":
        """Take the key of the hooks likewise.

        It is another one, because the API has it too: the API must not read clusters' keys.
        """
        path = settings.state_directory / HOOKS_KEY_FILE
        return cls(_key(settings.hooks_key, "JEROBOAM_HOOKS_KEY", path))

    def derive(self, purpose: str) -> bytes:
        """Return a key for another purpose, from which this one cannot be told."""
        return self.derive_all(purpose)[0]

    def derive_all(self, purpose: str) -> Sequence[bytes]:
        """Return such keys of this one and of those that it took the place of, in this order."""
        context = f"jeroboam {purpose}".encode()
        return [hmac.digest(key, context, "sha256") for key in self._keys]

    @property
    def key_id(self) -> str:
        """Which key this is; it tells nothing about the key itself."""
        return self._id.hex()

    def encrypt(self, plaintext: bytes, context: str) -> bytes:
        """Return the envelope of ``plaintext``.

        Args:
            context: What the secret belongs to; decryption must name the same, so that envelopes
                cannot be exchanged between rows.
        """
        nonce = secrets.token_bytes(_NONCE_BYTES)
        header = _VERSION + self._id
        aead = self._aeads[self._id]
        return header + nonce + aead.encrypt(nonce, plaintext, header + context.encode())

    def has_sealed(self, envelope: bytes) -> bool:
        """Whether an envelope was made with the newest key."""
        return envelope.startswith(_VERSION + self._id)

    def decrypt(self, envelope: bytes, context: str) -> bytes:
        """Return what ``encrypt`` was given.

        Raises:
            ConfigurationError: The envelope was made with another key, or altered.
        """
        header, rest = envelope[:_HEADER_BYTES], envelope[_HEADER_BYTES:]
        nonce, ciphertext = rest[:_NONCE_BYTES], rest[_NONCE_BYTES:]
        aead = self._aeads.get(header.removeprefix(_VERSION))
        if aead is None:
            raise ConfigurationError(
                f"The secrets of {context} were encrypted with key {header[1:].hex()}, and this "
                f"process has key {self.key_id}. Give all processes the same JEROBOAM_SECRETS_KEY "
                "(for hooks JEROBOAM_HOOKS_KEY), and older keys in JEROBOAM_SECRETS_OLD_KEYS until "
                "`jeroboam secrets rotate-key` has ended."
            )
        try:
            return aead.decrypt(nonce, ciphertext, header + context.encode())
        except (InvalidTag, ValueError):
            raise ConfigurationError(
                f"The stored secrets of {context} are damaged. Restore them from a backup."
            ) from None


def _id_of(key: bytes) -> bytes:
    return hashlib.sha256(b"jeroboam key id" + key).digest()[:_ID_BYTES]


def _key(given: SecretStr | None, name: str, path: Path) -> bytes:
    if given is not None:
        return _decode(given.get_secret_value().encode(), name)
    return _load_or_create(path, name)


def _decode(text: bytes, source: str) -> bytes:
    try:
        key = base64.b64decode(text, validate=True)
    except binascii.Error:
        key = b""
    if len(key) != _KEY_BYTES:
        raise ConfigurationError(
            f"{source} does not hold {_KEY_BYTES} bytes as base64. Make such a key with "
            "`openssl rand -base64 32`; with another key than before, stored secrets are lost."
        )
    return key


def _load_or_create(path: Path, name: str) -> bytes:
    """Return the key in ``path``; of several processes that make it at once, one wins."""
    try:
        if not path.exists():
            _create(path)
        if path.stat().st_mode & 0o077:
            raise ConfigurationError(f"Others can read {path}. Run `chmod 600 {path}`.")
        return _decode(path.read_bytes().strip(), str(path))
    except OSError as error:
        raise ConfigurationError(
            f"The key file {path} cannot be used ({error.strerror}). Set JEROBOAM_STATE_DIRECTORY "
            f"to a directory that belongs to Jeroboam, or set {name}."
        ) from error


def _create(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64encode(secrets.token_bytes(_KEY_BYTES)))
            file.flush()
            os.fsync(file.fileno())
        # A link, unlike a rename, never replaces the key that another process has just made.
        path.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
