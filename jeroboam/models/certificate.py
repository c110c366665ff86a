"""What everybody may know of a cluster's certificate authorities."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum

from jeroboam.models.base import Model

KEY_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
)
"""The key usages of X.509 (RFC 5280, 4.2.1.3) that a certificate of a user may have."""

EXTENDED_KEY_USAGES = {
    "server_auth": "1.3.6.1.5.5.7.3.1",
    "client_auth": "1.3.6.1.5.5.7.3.2",
    "code_signing": "1.3.6.1.5.5.7.3.3",
    "email_protection": "1.3.6.1.5.5.7.3.4",
}
"""Extended key usages with their object identifiers (RFC 5280, 4.2.1.12)."""


class CertificateKind(StrEnum):
    """What an authority of a cluster signs for."""

    KUBERNETES = "kubernetes"
    ETCD = "etcd"
    FRONT_PROXY = "front_proxy"

    @classmethod
    def named(cls, name: str | None) -> "CertificateKind":
        """Return the kind that a client names; an unknown one stands for Kubernetes'.

        So does Magnum, whose clients rely on it, and which writes ``front-proxy`` as well.
        """
        wanted = (name or "").replace("-", "_")
        return next((kind for kind in cls if kind == wanted), cls.KUBERNETES)


class CertificateState(StrEnum):
    """Where an authority stands in a rotation.

    The current one signs. The next one, and after its promotion the previous one, are trusted
    beside it.
    """

    CURRENT = "current"
    NEXT = "next"
    PREVIOUS = "previous"


class ClusterCertificate(Model):
    """The public half of one authority.

    Args:
        serial: The serial number, hexadecimal.
    """

    cluster_id: str
    kind: CertificateKind
    state: CertificateState
    pem: str
    serial: str
    not_before: datetime
    not_after: datetime


class CertificateEnds(Model):
    """When the current authorities of all clusters end, by kind.

    Args:
        first: The earliest end.
        within: How many end within so many days, or have ended.
    """

    first: Mapping[CertificateKind, datetime]
    within: Mapping[int, Mapping[CertificateKind, int]]


def bundle(certificates: Iterable[ClusterCertificate], kind: CertificateKind) -> str:
    """Return all certificates of a kind that clients have to trust, the current one first."""
    order = list(CertificateState)
    found = sorted(
        (one for one in certificates if one.kind is kind), key=lambda one: order.index(one.state)
    )
    return "".join(f"{one.pem.strip()}\n" for one in found)
