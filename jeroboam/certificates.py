"""The secrets of a cluster: its certificate authorities, keys, and who they sign for.

The authorities look as Magnum's do, but for their keys: P-256 in place of RSA. Every Kubernetes
takes both, and four RSA keys cost more CPU than all the rest of a cluster's creation (measured:
137 ms, against 0.4 ms).
"""

import secrets
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPublicKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from jeroboam import stored_accounts
from jeroboam.drivers.base import CertificateAuthority, ClusterSecrets
from jeroboam.errors import ConfigurationError

LIFETIME = timedelta(days=5 * 365)
# Nodes whose clocks are behind must accept a certificate that was made a moment ago.
BACKDATED = timedelta(hours=24)
MAX_COMMON_NAME_BYTES = 64

_TOKEN_ALPHABET = string.ascii_lowercase + string.digits
AUTHORITIES = ("kubernetes", "etcd", "front_proxy")


def issue_cluster_secrets(cluster_name: str) -> ClusterSecrets:
    """Make all secrets of one cluster.

    Args:
        cluster_name: Becomes the common name of each authority, cut to the 64 bytes that X.509
            permits.
    """
    return ClusterSecrets(
        kubernetes=_issue_authority(cluster_name),
        etcd=_issue_authority(cluster_name, unit="etcd"),
        front_proxy=_issue_authority(cluster_name, unit="front-proxy"),
        service_account_key=_private_pem(_new_key()),
        bootstrap_token=f"{_random_text(6)}.{_random_text(16)}",
    )


@dataclass(frozen=True)
class ClientCertificate:
    """A certificate with its key, PEM-encoded. The key is secret; the repr does not show it."""

    certificate: str
    private_key: str
    expires_at: datetime

    def __repr__(self) -> str:
        return "ClientCertificate(...)"


def issue_client_certificate(
    authority: CertificateAuthority,
    common_name: str,
    lifetime: timedelta,
    organisations: Sequence[str] = (),
) -> ClientCertificate:
    """Make a key, and have a cluster's authority sign who holds it.

    Args:
        common_name: The user, cut to the 64 bytes that X.509 permits.
        lifetime: It never outlives its authority.
        organisations: The groups of the user, as Kubernetes reads them.
    """
    issuer = x509.load_pem_x509_certificate(authority.certificate.encode())
    key, now = _new_key(), datetime.now(UTC)
    expires_at = min(now + lifetime, issuer.not_valid_after_utc)
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organisations]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([*groups, *_subject(common_name, None)]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(max(now - BACKDATED, issuer.not_valid_before_utc))
        .not_valid_after(expires_at)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(digital_signature=True), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(authority_key_identifier(issuer), critical=False)
        .sign(signer_of(authority), hashes.SHA256())
    )
    return ClientCertificate(
        certificate=certificate.public_bytes(serialization.Encoding.PEM).decode(),
        private_key=_private_pem(key),
        expires_at=expires_at,
    )


def signer_of(
    authority: CertificateAuthority,
) -> ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey:
    """Return the key with which an authority signs."""
    signer = serialization.load_pem_private_key(authority.private_key.encode(), password=None)
    if not isinstance(signer, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise ConfigurationError("The cluster's authority has a key of an unknown kind.")
    return signer


def authority_key_identifier(issuer: x509.Certificate) -> x509.AuthorityKeyIdentifier:
    """Return what tells an issuer apart from others of its name.

    All authorities that a cluster has had are named alike. OpenSSL looks at name and identifier
    alone when it chooses among those that it trusts, and fails if it has chosen wrongly.
    """
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(
        cast("CertificateIssuerPublicKeyTypes", issuer.public_key())
    )


def to_mapping(cluster_secrets: ClusterSecrets) -> Mapping[str, str]:
    """Return the secrets as text by name, for the store."""
    mapping = {
        "service_account_key": cluster_secrets.service_account_key,
        "bootstrap_token": cluster_secrets.bootstrap_token,
    }
    for name in AUTHORITIES:
        authority: CertificateAuthority = getattr(cluster_secrets, name)
        mapping[f"{name}_certificate"] = authority.certificate
        mapping[f"{name}_private_key"] = authority.private_key
    return mapping


IMPORTED = "imported"
"""Marks the secrets of a cluster that was taken over: of some authorities nothing may be known."""

_UNKNOWN = CertificateAuthority("", "")


def from_mapping(mapping: Mapping[str, str]) -> ClusterSecrets:
    """Return what ``to_mapping`` was given, and what a rotation has added to it.

    Authorities of which an import knew nothing are empty texts.

    Raises:
        ConfigurationError: Something is missing.
    """
    try:
        return ClusterSecrets(
            kubernetes=_authority(mapping, "kubernetes"),
            etcd=_authority(mapping, "etcd"),
            front_proxy=_authority(mapping, "front_proxy"),
            service_account_key=mapping["service_account_key"],
            bootstrap_token=mapping["bootstrap_token"],
            also_accepted_keys=_beside(mapping, "service_account_key"),
            account=stored_accounts.current(mapping),
        )
    except KeyError as error:
        raise ConfigurationError(
            f"The stored secrets of the cluster lack {error}: another version of Jeroboam wrote "
            "them. Run the same version everywhere."
        ) from None


def _authority(mapping: Mapping[str, str], name: str) -> CertificateAuthority:
    certificate = f"{name}_certificate"
    if certificate not in mapping and IMPORTED in mapping:
        return _UNKNOWN
    return CertificateAuthority(
        certificate=mapping[certificate],
        private_key=mapping[f"{name}_private_key"],
        also_trusted=_beside(mapping, certificate),
    )


def _beside(mapping: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return what the sets of a rotation have under a name, where it differs."""
    found = (mapping.get(f"{state}_{name}") for state in ("next", "previous"))
    return tuple(text for text in found if text and text != mapping[name])


def _issue_authority(cluster_name: str, unit: str | None = None) -> CertificateAuthority:
    """Make a self-signed authority; ``unit`` tells those of one cluster apart."""
    key = _new_key()
    subject = _subject(cluster_name, unit)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(digital_signature=True, signs=True), critical=True)
        .add_extension(identifier, critical=False)
        .sign(key, hashes.SHA256())
    )
    return CertificateAuthority(
        certificate=certificate.public_bytes(serialization.Encoding.PEM).decode(),
        private_key=_private_pem(key),
    )


def _subject(cluster_name: str, unit: str | None) -> x509.Name:
    common_name = cluster_name.encode()[:MAX_COMMON_NAME_BYTES].decode(errors="ignore")
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if unit is not None:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, unit))
    return x509.Name(attributes)


def _usage(*, digital_signature: bool = False, signs: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _private_pem(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def _random_text(length: int) -> str:
    return "".join(secrets.choice(_TOKEN_ALPHABET) for _ in range(length))
