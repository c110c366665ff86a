"""Keys of imported clusters: they must fit, and reach the workers unread."""

import json
from collections.abc import Mapping, Sequence

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.schemas.imports import AuthorityBody, KeysBody
from jeroboam.drivers.importing import SupportsImport
from jeroboam.errors import ConfigurationError, ConflictError, InvalidRequestError
from jeroboam.models import Cluster

SMALLEST_RSA = 2048

_CERTIFICATE = "_certificate"


def checked(keys: KeysBody) -> Mapping[str, str]:
    """Return certificates and keys by the names that they are stored under.

    Raises:
        InvalidRequestError: One cannot be read, does not fit its certificate, or is no authority's.
    """
    values: dict[str, str] = {}
    for kind in ("kubernetes", "etcd", "front_proxy"):
        authority: AuthorityBody | None = getattr(keys, kind)
        if authority is None:
            continue
        certificate = _certificate(kind, authority.certificate)
        values[f"{kind}{_CERTIFICATE}"] = certificate.public_bytes(
            serialization.Encoding.PEM
        ).decode()
        values[f"{kind}_private_key"] = _key(kind, authority.private_key, certificate)
    return values


def kinds(values: Mapping[str, str]) -> Sequence[str]:
    """Return of which authorities there are keys."""
    return [name.removesuffix(_CERTIFICATE) for name in values if name.endswith(_CERTIFICATE)]


async def add(dependencies: Dependencies, cluster: Cluster, keys: KeysBody) -> None:
    """Give an imported cluster the keys that it lacks.

    Raises:
        InvalidRequestError: The cluster was not imported, or the keys do not fit.
        ConflictError: It has keys.
    """
    if not isinstance(dependencies.drivers.installed(cluster.driver), SupportsImport):
        raise InvalidRequestError(
            f"Cluster {cluster.name} was not imported; Jeroboam has made its keys itself."
        )
    values = checked(keys)
    if await dependencies.store.certificates.list(cluster.uuid):
        raise ConflictError(f"Cluster {cluster.name} has the keys of its authorities already.")
    await hand_over(dependencies, cluster.uuid, await sealed(dependencies, cluster.uuid, values))


async def sealed(dependencies: Dependencies, cluster_id: str, values: Mapping[str, str]) -> str:
    """Return keys as only workers can read them.

    Raises:
        StoreUnavailableError: No worker was ever up.
    """
    return await dependencies.store.inbox.seal(json.dumps(dict(values)).encode(), cluster_id)


async def hand_over(dependencies: Dependencies, cluster_id: str, keys: str) -> None:
    """Pass sealed keys on to the workers.

    Raises:
        CloudUnavailableError: Temporal does not answer.
    """
    if dependencies.keep_keys is None:
        raise ConfigurationError("This process passes no keys on.")
    await dependencies.keep_keys(cluster_id, keys)


def _certificate(kind: str, pem: str) -> x509.Certificate:
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode())
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        raise InvalidRequestError(
            f"The {kind} certificate is no authority's: it lacks the basic constraints."
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidRequestError(
            f"The {kind} certificate cannot be read. It has to be one certificate in PEM."
        ) from None
    if not constraints.ca:
        raise InvalidRequestError(
            f"The {kind} certificate is no authority's, but one that an authority has signed."
        )
    return certificate


def _key(kind: str, pem: str, certificate: x509.Certificate) -> str:
    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except TypeError:
        raise InvalidRequestError(
            f"The {kind} key is encrypted. Decrypt it first: openssl pkey -in FILE -out PLAIN"
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise InvalidRequestError(f"The {kind} key cannot be read. It has to be in PEM.") from None
    if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
        raise InvalidRequestError(f"The {kind} key is neither RSA nor of an elliptic curve.")
    if isinstance(key, rsa.RSAPrivateKey) and key.key_size < SMALLEST_RSA:
        raise InvalidRequestError(f"The {kind} key has fewer than {SMALLEST_RSA} bits.")
    if _public(key.public_key()) != _public(certificate.public_key()):
        raise InvalidRequestError(f"The {kind} key is not that of the {kind} certificate.")
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def _public(key: object) -> bytes:
    return key.public_bytes(  # type: ignore[attr-defined, no-any-return]
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
