"""What a driver is given with a call: sessions on the cloud, and the secrets of one cluster."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from keystoneauth1.session import Session


class CloudAccess(Protocol):
    """Authenticated sessions on one cloud. Credentials stay inside; drivers never see them."""

    @property
    def name(self) -> str:
        """The cloud's name in ``clouds.yaml``."""

    @property
    def region(self) -> str | None:
        """The region in which endpoints are looked up."""

    @property
    def interface(self) -> str:
        """The endpoint interface: ``public``, ``internal`` or ``admin``."""

    def service_session(self) -> Session:
        """Return a session of Jeroboam's own service user."""

    def tenant_session(self, trust_id: str | None) -> Session:
        """Return a session that acts for the owner of a cluster, in the owner's project.

        Args:
            trust_id: ``Cluster.trust_id``.

        Raises:
            CredentialRejectedError: The cluster has no trust, or it was revoked.
        """


@dataclass(frozen=True)
class CertificateAuthority:
    """One CA of a cluster, PEM-encoded. The key is secret; the repr does not show it.

    Args:
        certificate: Of the CA that signs.
        also_trusted: Certificates of the CA that comes next, or went before, while CAs are rotated.
    """

    certificate: str
    private_key: str
    also_trusted: tuple[str, ...] = ()

    @property
    def trusted(self) -> str:
        """All certificates that nodes and clients have to trust; the one that signs comes first."""
        return "".join(f"{pem.strip()}\n" for pem in (self.certificate, *self.also_trusted))

    def __repr__(self) -> str:
        return "CertificateAuthority(...)"


@dataclass(frozen=True)
class CloudAccount:
    """A user of the cloud for programs in a cluster, who may do in its project what they need.

    Args:
        auth_url: Keystone's public URL.
        user_id: A user for this cluster alone.
        password: Secret; the repr does not show it.
        trust_id: What the cluster's owner delegated to the user; one logs in with it.
        region: In which the cluster is.
        load_balancers: Whether the cloud has a service for them.
    """

    auth_url: str
    user_id: str
    password: str
    trust_id: str
    region: str | None = None
    load_balancers: bool = True

    def __repr__(self) -> str:
        return "CloudAccount(...)"


@dataclass(frozen=True)
class ClusterSecrets:
    """What a driver may deliver to nodes; must not reach logs, errors or backend names.

    Args:
        kubernetes: The cluster's API CA (used by every COE, whatever the name says).
        etcd: CA of etcd's peers and clients.
        front_proxy: CA of the API aggregation layer.
        service_account_key: PEM private key which signs service-account tokens.
        bootstrap_token: ``<6>.<16>`` characters, as kubeadm's tokens are.
        also_accepted_keys: Keys whose tokens must be accepted beside those of
            ``service_account_key``, while keys are rotated.
        account: With what programs in the cluster call the cloud, where the driver asks for that.
    """

    kubernetes: CertificateAuthority
    etcd: CertificateAuthority
    front_proxy: CertificateAuthority
    service_account_key: str
    bootstrap_token: str
    also_accepted_keys: tuple[str, ...] = ()
    account: CloudAccount | None = None

    def __repr__(self) -> str:
        return "ClusterSecrets(...)"


class SecretReader(Protocol):
    """Reads a cluster's secrets when, and only when, a driver needs them."""

    def __call__(self) -> ClusterSecrets:
        """Return the secrets of the cluster that the driver method was called with."""


@dataclass(frozen=True)
class DriverContext:
    """The surroundings of one driver call.

    Args:
        idempotency_key: ``<cluster>:<operation>:<step>``, the same on every retry of the call.
        cloud: Sessions on the cluster's cloud.
        read_secrets: Gives the cluster's certificates and tokens.
        folder: Where the files lie from which this cluster is built, as ``ClusterDriver.files``
            names them; ``None`` is those that are installed.
    """

    idempotency_key: str
    cloud: CloudAccess
    read_secrets: SecretReader
    folder: Path | None = None
