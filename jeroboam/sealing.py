"""Texts that only their addressee can read, whoever carries and keeps them.

Temporal keeps what workers answer, and an answer may hold a key. So whoever asks makes a key pair
for this one answer, sends the public half along, and forgets the private half afterwards. Workers
also have a lasting address, to which the API seals what a request brings: see ``store.inbox``.
"""

import base64
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from jeroboam.errors import InvalidRequestError

_KEY_BYTES = 32
_NONCE_BYTES = 12


class Envelope:
    """Receives what is sealed for its address.

    Args:
        key: 32 random bytes, for an address that lasts; without it the address is a new one.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._private = (
            X25519PrivateKey.generate() if key is None else X25519PrivateKey.from_private_bytes(key)
        )

    def __repr__(self) -> str:
        return "Envelope(...)"

    @property
    def address(self) -> str:
        """The public key, for whoever answers; no secret."""
        return base64.b64encode(self._private.public_key().public_bytes_raw()).decode()

    def open(self, sealed: str, context: str = "") -> bytes:
        """Return what was sealed for this address.

        Args:
            context: What it belongs to, as ``seal`` was told.

        Raises:
            InvalidRequestError: It was sealed for another one or for something else, or altered.
        """
        try:
            raw = base64.b64decode(sealed, validate=True)
            sender, rest = raw[:_KEY_BYTES], raw[_KEY_BYTES:]
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(sender))
            key = _key(shared, sender, self.address)
            cipher, nonce = ChaCha20Poly1305(key), rest[:_NONCE_BYTES]
            return cipher.decrypt(nonce, rest[_NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError):
            raise InvalidRequestError("The answer was sealed for somebody else.") from None


def seal(address: str, plaintext: bytes, context: str = "") -> str:
    """Return ``plaintext`` so that only the ``Envelope`` with this address can read it.

    Args:
        context: What it belongs to; whoever opens it must name the same, so that it cannot be
            passed off as something else's.

    Raises:
        InvalidRequestError: It is no address.
    """
    private = X25519PrivateKey.generate()
    sender = private.public_key().public_bytes_raw()
    try:
        receiver = X25519PublicKey.from_public_bytes(base64.b64decode(address, validate=True))
        key = _key(private.exchange(receiver), sender, address)
    except ValueError:
        raise InvalidRequestError("The request names no address for its answer.") from None
    nonce = secrets.token_bytes(_NONCE_BYTES)
    sealed = ChaCha20Poly1305(key).encrypt(nonce, plaintext, context.encode())
    return base64.b64encode(sender + nonce + sealed).decode()


def _key(shared: bytes, sender: bytes, address: str) -> bytes:
    purpose = b"jeroboam sealed answer" + sender + base64.b64decode(address)
    return HKDF(hashes.SHA256(), _KEY_BYTES, salt=None, info=purpose).derive(shared)
