"""Makes clusters of the Fedora CoreOS driver, and secrets for them."""

from functools import lru_cache
from typing import Any

from jeroboam.certificates import issue_cluster_secrets
from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.k8s_fedora_coreos_v1 import version
from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate, NodeGroup
from jeroboam.models.cluster import MASTER, WORKER


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


@lru_cache(maxsize=1)
def secrets() -> ClusterSecrets:
    """Return secrets; the same for all tests, so that what is rendered can be compared."""
    return issue_cluster_secrets("demo")
