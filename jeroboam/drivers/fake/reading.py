"""What the pretended backend tells of a cluster. No I/O."""

from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.labels import Labels
from jeroboam.drivers.fake.records import FakeNode
from jeroboam.models import ClusterOutputs, ClusterSpec, Health, HealthStatus, Node
from jeroboam.models.cluster import MASTER


def outputs(cluster: FakeCluster, spec: ClusterSpec) -> ClusterOutputs:
    """Return addresses, versions and nodes of the groups that the specification has."""
    nodes = {
        group.uuid: tuple(_node(node) for node in cluster.groups[group.uuid].nodes)
        for group in spec.node_groups
        if group.uuid in cluster.groups
    }
    versions = [
        node.version
        for group in cluster.groups.values()
        for node in group.nodes
        if group.role == MASTER
    ]
    return ClusterOutputs(
        api_address="https://192.0.2.1:6443",
        coe_version=next(iter(versions), None),
        node_addresses={
            uuid: tuple(address for node in found for address in node.addresses)
            for uuid, found in nodes.items()
        },
        nodes=nodes,
    )


def health(cluster: FakeCluster, labels: Labels) -> Health:
    """Return the health that a label asks for, or what the nodes make of it."""
    if labels.fake_health is not None:
        found = labels.fake_health
        return Health(status=found, reasons={"fake": f"{found}, as the label fake_health asks."})
    if not cluster.exists:
        reasons = {"cluster": "The fake cluster does not exist."}
        return Health(status=HealthStatus.UNKNOWN, reasons=reasons)
    reasons = {node.name: node.status for node in cluster.nodes()}
    well = set(reasons.values()) <= {"ACTIVE"}
    status = HealthStatus.HEALTHY if well else HealthStatus.UNHEALTHY
    return Health(status=status, reasons=reasons)


def leftovers(cluster: FakeCluster) -> tuple[str, ...]:
    """Return what is there that a deleted cluster should not have: kind, name and id."""
    nodes = (f"node {node.name} ({node.id})" for node in cluster.nodes())
    groups = (f"node group {group.name} ({group.uuid})" for group in cluster.groups.values())
    return (*nodes, *groups, *cluster.leftovers)


def _node(node: FakeNode) -> Node:
    return Node(
        name=node.name,
        id=node.id,
        status=node.status,
        addresses=(node.address,),
        version=node.version,
    )
