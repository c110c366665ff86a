"""Makes clusters of the Fedora CoreOS driver, and secrets for them."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from jeroboam.drivers.base import CertificateAuthority, ClusterSecrets
from jeroboam.drivers.k8s_fedora_coreos_v1 import version
from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate, NodeGroup
from jeroboam.models.cluster import MASTER, WORKER

BOOTSTRAP_TOKEN = "abcdef.0123456789abcdef"


def make_spec(
    *,
    masters: int = 1,
    workers: int = 1,
    template: dict[str, Any] | None = None,
    group: dict[str, Any] | None = None,
    **cluster: Any,
) -> ClusterSpec:
    """Return a valid cluster; the dictionaries change its parts."""
    project = cluster.pop("project_id", "p1")
    owner = {"project_id": project, "user_id": cluster.pop("user_id", "u1")}
    made_from = ClusterTemplate(
        **{
            "name": "coreos",
            "coe": "kubernetes",
            "image_id": "fedora-coreos",
            "cluster_distro": "fedora-coreos",
            "external_network_id": "public",
            **owner,
            **(template or {}),
        }
    )
    made = Cluster(
        **{
            "name": "demo",
            "cluster_template_id": made_from.uuid,
            "driver": version.Driver,
            "driver_version": version.version,
            "cloud": "jeroboam",
            **owner,
            **cluster,
        }
    )
    groups = tuple(
        NodeGroup(
            **{
                "name": f"default-{role}",
                "cluster_id": made.uuid,
                "project_id": project,
                "role": role,
                "is_default": True,
                "node_count": count,
                "flavor_id": "m1.small",
                **(group or {}),
            }
        )
        for role, count in ((MASTER, masters), (WORKER, workers))
    )
    return ClusterSpec(cluster=made, template=made_from, node_groups=groups)


def make_authority(name: str) -> CertificateAuthority:
    """Return a self-signed CA."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return CertificateAuthority(
        certificate=certificate.public_bytes(Encoding.PEM).decode(), private_key=_pem(key)
    )


@lru_cache(maxsize=1)
def secrets() -> ClusterSecrets:
    """Return secrets; the same for all tests, since keys take time."""
    return ClusterSecrets(
        kubernetes=make_authority("kubernetes"),
        etcd=make_authority("etcd"),
        front_proxy=make_authority("front-proxy"),
        service_account_key=_pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        bootstrap_token=BOOTSTRAP_TOKEN,
    )


def _pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(
        Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()
    ).decode()
