"""What a cluster of servers tells of itself. Pure."""

from typing import Any

from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.servers.inventory import VERSION, Inventory
from jeroboam.drivers.servers.wishes import index_of
from jeroboam.models import ClusterOutputs, Node


def read(plan: KubernetesPlan, there: Inventory) -> ClusterOutputs:
    """Return addresses, nodes and versions."""
    spec = plan.spec
    nodes = {group.uuid: _nodes(there, group.uuid) for group in spec.node_groups}
    masters = nodes[spec.masters.uuid]
    address = masters[0].addresses[0] if masters and masters[0].addresses else None
    return ClusterOutputs(
        api_address=f"https://{address}:{plan.api_port}" if address else None,
        coe_version=plan.coe_version,
        container_version=plan.labels["containerd_version"],
        node_addresses={
            uuid: tuple(node.addresses[0] for node in listed if node.addresses)
            for uuid, listed in nodes.items()
        },
        nodes={uuid: listed for uuid, listed in nodes.items() if listed},
    )


def _nodes(there: Inventory, group: str) -> tuple[Node, ...]:
    servers = sorted(there.of_group(group), key=lambda server: index_of(server.name))
    return tuple(_node(there, server) for server in servers)


def _node(there: Inventory, server: Any) -> Node:
    return Node(
        name=str(server.name),
        id=str(server.id),
        status=str(server.status),
        addresses=_addresses(there, server),
        version=(server.metadata or {}).get(VERSION) or None,
    )


def _addresses(there: Inventory, server: Any) -> tuple[str, ...]:
    """Return the addresses, the public one first if there is one.

    Nova learns of floating IPs after a while only, so they are Neutron's.
    """
    port = there.ports.get(server.name)
    if port is None:
        return ()
    floating = there.floating_ips.get(port.id)
    public = [str(floating.floating_ip_address)] if floating else []
    return (*public, *(str(one["ip_address"]) for one in port.fixed_ips))
