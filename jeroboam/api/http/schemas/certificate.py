"""Certificates on the wire."""

from collections.abc import Sequence

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import (
    Ignored,
    Link,
    RequestModel,
    ResponseModel,
    Text,
    Timestamp,
)
from jeroboam.models.certificate import ClusterCertificate


class CertificateCreate(RequestModel):
    """A request to sign; a missing ``csr`` is refused where Magnum answers 500."""

    cluster_uuid: Text
    csr: Text
    ca_cert_type: Text | None = None
    pem: Ignored = None
    links: Ignored = None


class CertificateBody(ResponseModel):
    """A certificate: the cluster's CAs of one kind, or what one of them has signed."""

    cluster_uuid: str
    csr: str | None = None
    pem: str
    ca_cert_type: str | None = None
    links: Sequence[Link]


class AuthorityBody(ResponseModel):
    """One CA of a cluster, and until when it is good."""

    kind: str
    state: str
    serial: str
    not_before: Timestamp
    not_after: Timestamp

    @classmethod
    def of(cls, found: ClusterCertificate) -> "AuthorityBody":
        """Return what everybody in the project may know of a CA."""
        return cls(**found.model_dump(exclude={"cluster_id", "pem"}))


class AuthorityList(ResponseModel):
    """The CAs of a cluster."""

    cluster_uuid: str
    certificates: Sequence[AuthorityBody]


def authorities(cluster_uuid: str, pem: str, links: Links) -> CertificateBody:
    """Return the CAs of one kind, as Magnum shows one."""
    return CertificateBody(
        cluster_uuid=cluster_uuid, pem=pem, links=links.resource("certificates", cluster_uuid)
    )


def signed(wish: CertificateCreate, cluster_uuid: str, pem: str, links: Links) -> CertificateBody:
    """Return what was asked for, with the certificate."""
    kind = {"ca_cert_type": wish.ca_cert_type} if wish.ca_cert_type is not None else {}
    return CertificateBody(
        cluster_uuid=cluster_uuid,
        csr=wish.csr,
        pem=pem,
        links=links.resource("certificates", cluster_uuid),
        **kind,
    )
