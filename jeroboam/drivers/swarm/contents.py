"""The generated files of a swarm's node, by the names that ``swarm.yaml`` uses. Pure."""

import hmac
from hashlib import sha256

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker import contents as docker
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.drivers.swarm.plan import JOIN_PORT, SwarmPlan
from jeroboam.models import NodeGroup
from jeroboam.models.cluster import MASTER

_PURPOSE = b"jeroboam: token of the swarm's workers"


def generate(plan: SwarmPlan, secrets: ClusterSecrets, group: NodeGroup) -> Contents:
    """Return all texts that a node of a group may need; an empty one means that it does not."""
    values = plan.labels
    settings = {
        "JOIN_PORT": str(JOIN_PORT),
        "ADDRESS_POOL": str(values["swarm_address_pool"]),
        "ADDRESS_POOL_MASK": str(values["swarm_address_pool_subnetlen"]),
        "CERTIFICATE_EXPIRY": str(values["swarm_certificate_expiry"]),
        "TASK_HISTORY": str(values["swarm_task_history"]),
    }
    daemon = _manager(plan) if group.role == MASTER else {}
    return {
        **docker.generate(plan, secrets, group, settings, daemon),
        "join_key": join_key(secrets),
    }


def join_key(secrets: ClusterSecrets) -> str:
    """Return what a worker shows to get its token.

    It is made from the cluster's bootstrap token, so that it is the same each time; the way back
    from it does not exist.
    """
    return hmac.new(secrets.bootstrap_token.encode(), _PURPOSE, sha256).hexdigest()


def _manager(plan: SwarmPlan) -> dict[str, object]:
    """Return how Docker listens: to those only whom the cluster's authority vouches for."""
    return {
        "hosts": ["unix:///var/run/docker.sock", f"tcp://0.0.0.0:{plan.api_port}"],
        "tlsverify": True,
        "tlscacert": f"{docker.TLS}/ca.crt",
        "tlscert": f"{docker.TLS}/server.crt",
        "tlskey": f"{docker.TLS}/server.key",
    }
