"""Secrets of a cluster that are the same in every process, for digests that are written down.

The keys come from numbers, and such signatures hold nothing random.
"""

from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from jeroboam.drivers.base import CertificateAuthority, ClusterSecrets

_YEAR = 2026


def fixed_secrets() -> ClusterSecrets:
    """Return the secrets."""
    return ClusterSecrets(
        kubernetes=_authority(1),
        etcd=_authority(2),
        front_proxy=_authority(3),
        service_account_key=_pem(_key(4)),
        bootstrap_token="abcdef.0123456789abcdef",
    )


def _key(number: int) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def _pem(key: Ed25519PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _authority(number: int) -> CertificateAuthority:
    key = _key(number)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority-{number}")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(number)
        .not_valid_before(datetime(_YEAR, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(_YEAR + 10, 1, 1, tzinfo=UTC))
        .sign(key, None)
    )
    return CertificateAuthority(certificate.public_bytes(Encoding.PEM).decode(), _pem(key))
