"""Makes up clusters for a driver's tests."""

from typing import Any

from jeroboam.drivers.base import ClusterDriver
from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate, NodeGroup
from jeroboam.models.cluster import MASTER, WORKER


def make_spec(
    driver: ClusterDriver,
    /,
    *,
    masters: int = 1,
    workers: int = 1,
    template: dict[str, Any] | None = None,
    group: dict[str, Any] | None = None,
    **cluster: Any,
) -> ClusterSpec:
    """Return a cluster of the first kind that a driver provides.

    Args:
        template: Fields of its template that shall be other than usual.
        group: The same for both node groups.
        cluster: The same for the cluster; ``project_id`` and ``user_id`` hold for all.
    """
    kind = driver.provides[0]
    project = cluster.pop("project_id", "p1")
    owner = {"project_id": project, "user_id": cluster.pop("user_id", "u1")}
    made_from = ClusterTemplate(
        **{
            "name": kind.os,
            "coe": kind.coe,
            "server_type": kind.server_type,
            "image_id": kind.os,
            "cluster_distro": kind.os,
            "external_network_id": "public",
            **owner,
            **(template or {}),
        }
    )
    made = Cluster(
        **{
            "name": "demo",
            "cluster_template_id": made_from.uuid,
            "driver": driver.name,
            "driver_version": driver.version,
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
