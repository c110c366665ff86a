"""Makes clusters for tests."""

from typing import Any

from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate, NodeGroup
from jeroboam.models.cluster import MASTER, WORKER


def make_spec(
    *, masters: int = 1, workers: int = 1, driver: str = "fake", **fields: Any
) -> ClusterSpec:
    """Return a cluster of the fake driver; ``fields`` go to the cluster."""
    owner = {"project_id": fields.pop("project_id", "p1"), "user_id": "u1"}
    template = ClusterTemplate(
        name="template", coe="kubernetes", image_id="fake-os", cluster_distro="fake", **owner
    )
    cluster = Cluster(
        **{
            "name": "demo",
            "cluster_template_id": template.uuid,
            "driver": driver,
            "driver_version": "1.0.0",
            "cloud": "jeroboam",
            **owner,
            **fields,
        }
    )
    groups = tuple(
        NodeGroup(
            name=f"default-{role}",
            cluster_id=cluster.uuid,
            project_id=cluster.project_id,
            role=role,
            is_default=True,
            node_count=count,
        )
        for role, count in ((MASTER, masters), (WORKER, workers))
    )
    return ClusterSpec(cluster=cluster, template=template, node_groups=groups)
