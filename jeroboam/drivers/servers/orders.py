"""The input of an engine's work: what is there, what shall be, and what has to go. Pure.

An order is a JSON document. An object whose ``id`` is ``None`` has to be made. The user data of
nodes are texts in which the addresses are still missing; they hold secrets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.nodes import names
from jeroboam.drivers.servers import rules
from jeroboam.drivers.servers.inventory import CALL, GROUP, READY, ROLE, VERSION, Inventory
from jeroboam.drivers.servers.wishes import Wish, prefix_of, surplus
from jeroboam.errors import NotFoundError
from jeroboam.models import Node, NodeGroup
from jeroboam.models.cluster import MASTER

Order = Mapping[str, Any]

REPORT = "jeroboam-report"
"""What the line on the console begins with by which a node tells how it fares."""

_DELAY_SECONDS = 2


@dataclass(frozen=True)
class Setup:
    """What the nodes of a group are made from.

    Args:
        image: Its id in Glance.
        flavor: Its id in Nova.
        user_data: The document; it holds secrets.
        version: Of the COE.
    """

    image: str
    flavor: str
    user_data: str
    version: str

    def __repr__(self) -> str:
        return f"Setup({self.image}, {self.flavor}, {self.version})"


@dataclass(frozen=True)
class Place:
    """Where a cluster lies.

    Args:
        external: Id of the network of floating IPs, if there is one.
        network: Id of the network that was there before the cluster, if it has none of its own.
        subnet: Id of that network's subnet, if it matters.
    """

    external: str | None
    network: str | None
    subnet: str | None


def apply(
    plan: KubernetesPlan,
    place: Place,
    there: Inventory,
    wishes: Sequence[Wish],
    setups: Mapping[str, Setup],
    groups: Sequence[NodeGroup],
    timeout_minutes: int,
) -> Order:
    """Return the order that groups shall have the nodes that are wished, and no others.

    Args:
        setups: By the uuid of the group; of groups that have wishes.
        groups: Those that are meant.
    """
    spec = plan.spec
    prefixes = [prefix_of(spec.cluster, group) for group in groups]
    api_node = f"{prefix_of(spec.cluster, spec.masters)}0"
    doomed = surplus({*there.servers, *there.ports}, wishes, prefixes)
    return {
        "mark": names.short_id(spec.cluster),
        "report": REPORT,
        "patience": patience(timeout_minutes),
        **_network(plan, place, there),
        "security_groups": _security_groups(plan, there),
        "pod_network": plan.pod_network,
        "ports": [_port(plan, port, there) for port in _port_names(wishes, api_node)],
        "floating": _floating(plan, place, there, wishes),
        "api_node": api_node,
        "api_public": _public_address(there, api_node),
        "servers": [_server(plan, wish, setups[wish.group.uuid], there) for wish in wishes],
        "user_data": {uuid: setup.user_data for uuid, setup in setups.items()},
        "surplus": removal(there, doomed),
    }


def destroy(there: Inventory, mark: str, timeout_minutes: int) -> Order:
    """Return the order that nothing of a cluster shall be left."""
    own = {subnet.id for subnet in there.subnets.values()}
    routers = {router.id for router in there.routers.values()}
    return {
        "mark": mark,
        "patience": patience(timeout_minutes),
        "surplus": {
            **removal(there, [*there.servers, *there.ports]),
            "floating_ips": sorted(one.id for one in there.floating_ips.values()),
        },
        "interfaces": [
            {"router": router, "subnet": subnet}
            for router, subnet in sorted(there.interfaces)
            if router in routers or subnet in own
        ],
        "routers": sorted(routers),
        "subnets": sorted(own),
        "networks": sorted(one.id for one in there.networks.values()),
        "security_groups": sorted(one.id for one in there.security_groups.values()),
    }


def rebuild(
    there: Mapping[str, Any], nodes: Sequence[Node], mark: str, call: str, timeout_minutes: int
) -> Order:
    """Return the order to set those nodes up anew which the call has not reached yet.

    Args:
        there: The servers by their names.
        call: What is noted at a server, in the same request by which it is rebuilt.

    Raises:
        NotFoundError: A node has no server any more.
    """
    return {
        "mark": mark,
        "report": REPORT,
        "patience": patience(timeout_minutes),
        "nodes": [
            {
                "name": node.name,
                "server": node.id,
                "image": server.image["id"],
                "metadata": {**_without(server.metadata or {}, READY), CALL: call},
            }
            for node, server in ((node, _required(there, node)) for node in nodes)
            if (server.metadata or {}).get(CALL) != call or server.status == "ERROR"
        ],
    }


def _required(there: Mapping[str, Any], node: Node) -> Any:
    if node.name not in there:
        raise NotFoundError(
            f"Node {node.name} has no server any more ({node.id}). Resize its group to replace it."
        )
    return there[node.name]


def _without(metadata: Mapping[str, str], key: str) -> dict[str, str]:
    return {name: value for name, value in metadata.items() if name != key}


def patience(timeout_minutes: int) -> Mapping[str, int]:
    """Return how often, and after how many seconds each time, something is looked at."""
    count = max(1, timeout_minutes) * 60 // _DELAY_SECONDS
    return {"count": count, "delay": _DELAY_SECONDS}


def removal(there: Inventory, nodes: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the ids of the servers, ports and floating IPs of nodes."""
    servers = {there.servers[name].id for name in nodes if name in there.servers}
    ports = {there.ports[name].id for name in nodes if name in there.ports}
    floating = {there.floating_ips[port].id for port in ports if port in there.floating_ips}
    return {
        "servers": sorted(servers),
        "ports": sorted(ports),
        "floating_ips": sorted(floating),
    }


def object_name(plan: KubernetesPlan, part: str = "") -> str:
    """Return the name of an object of the cluster."""
    whole = names.cluster_part(plan.spec.cluster)
    return f"{whole}-{part}" if part else whole


def _network(plan: KubernetesPlan, place: Place, there: Inventory) -> Order:
    """Return network, subnet and router; those that were there before have their ids."""
    name = object_name(plan)
    if place.network:
        nothing = {"id": "", "name": name}
        return {
            "network": {"id": place.network, "name": name},
            "subnet": {"id": place.subnet or "", "name": name, "cidr": "", "dns": []},
            "router": {**nothing, "external": "", "attached": True},
            "external": place.external or "",
        }
    router, subnet = there.routers.get(name), there.subnets.get(name)
    attached = router and subnet and (router.id, subnet.id) in there.interfaces
    return {
        "network": {"id": _id(there.networks.get(name)), "name": name},
        "subnet": {
            "id": _id(subnet),
            "name": name,
            "cidr": str(plan.labels["fixed_subnet_cidr"]),
            "dns": _servers_of(plan.spec.template.dns_nameserver),
        },
        "router": {
            "id": _id(router),
            "name": name,
            "external": place.external or "",
            "attached": bool(attached),
        },
        "external": place.external or "",
    }


def _security_groups(plan: KubernetesPlan, there: Inventory) -> list[Order]:
    """Return the security groups; one that has been made without all its rules gets them."""
    found: list[Order] = []
    for part, listed in rules.security_groups(plan).items():
        name = object_name(plan, part)
        group = there.security_groups.get(name)
        complete = group is not None and _incoming(group) >= len(listed)
        rulings = [] if complete else [dict(rule) for rule in listed]
        found.append({"name": name, "id": _id(group), "rules": rulings})
    return found


def _incoming(group: Any) -> int:
    return sum(1 for rule in group.security_group_rules or () if rule["direction"] == "ingress")


def _port_names(wishes: Sequence[Wish], api_node: str) -> list[tuple[str, str]]:
    """Return the names of ports and their roles; every node needs the address of the API's."""
    roles = {wish.name: wish.group.role for wish in wishes}
    return sorted({api_node: MASTER, **roles}.items())


def _port(plan: KubernetesPlan, port: tuple[str, str], there: Inventory) -> Order:
    name, role = port
    parts = (rules.NODES, rules.MASTERS if role == MASTER else rules.WORKERS)
    groups = [object_name(plan, part) for part in parts]
    return {"name": name, "id": _id(there.ports.get(name)), "groups": groups}


def _floating(
    plan: KubernetesPlan, place: Place, there: Inventory, wishes: Sequence[Wish]
) -> list[str]:
    """Return the names of nodes that lack a floating IP."""
    if not plan.spec.cluster.floating_ip_enabled or not place.external:
        return []
    return [
        wish.name
        for wish in wishes
        if wish.name not in there.ports or there.ports[wish.name].id not in there.floating_ips
    ]


def _public_address(there: Inventory, name: str) -> str:
    """Return the floating IP of a node, nothing if it has none yet."""
    port = there.ports.get(name)
    floating = there.floating_ips.get(port.id) if port else None
    return str(floating.floating_ip_address) if floating else ""


def _server(plan: KubernetesPlan, wish: Wish, setup: Setup, there: Inventory) -> Order:
    group = wish.group
    return {
        "name": wish.name,
        "index": str(wish.index),
        "id": _id(there.servers.get(wish.name)),
        "image": setup.image,
        "flavor": setup.flavor,
        "group": group.uuid,
        "key_name": plan.spec.cluster.keypair,
        "zone": plan.labels["availability_zone"] or None,
        "metadata": {GROUP: group.uuid, ROLE: group.role, VERSION: setup.version},
    }


def _id(one: Any) -> str | None:
    return None if one is None else str(one.id)


def _servers_of(text: str | None) -> list[str]:
    return [one.strip() for one in (text or "").split(",") if one.strip()]
