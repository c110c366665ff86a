"""Between which templates a cluster can be upgraded. Pure."""

from jeroboam.errors import ConflictError, InvalidRequestError
from jeroboam.models.cluster import ClusterSpec, ClusterTemplate, NodeGroup


def check_single_group(spec: ClusterSpec, group: NodeGroup, template: ClusterTemplate) -> None:
    """Refuse another template for a single node group than its cluster has.

    Raises:
        ConflictError: It would get another one.
    """
    if template.uuid != spec.cluster.cluster_template_id:
        raise ConflictError(
            f"Cluster Template is not valid for upgrade: Nodegroup {group.name} can be upgraded "
            f"only to match cluster's template ({spec.template.name}). Upgrade the cluster, "
            "without naming a node group."
        )


def check_kind(spec: ClusterSpec, template: ClusterTemplate) -> None:
    """Refuse a template of other clusters: an upgrade changes neither the engine nor the driver.

    Raises:
        InvalidRequestError: It is for another kind of cluster.
    """
    now, then = spec.template, template
    pairs = {
        "container orchestration engine": (now.coe, then.coe),
        "server type": (now.server_type, then.server_type),
        "driver": (spec.cluster.driver, then.driver or spec.cluster.driver),
    }
    for noun, (mine, other) in pairs.items():
        if mine != other:
            raise InvalidRequestError(
                f"Cluster Template is not valid for upgrade: its {noun} is {other} and the "
                f"cluster's is {mine}, which an upgrade cannot change. Create a new cluster."
            )
