"""What a cluster has in the cloud at this moment, found by the marks in its names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.heat.servers import Servers
from jeroboam.drivers.openstack import translate_cloud_errors

SERVICE = "Neutron"

GROUP, ROLE, VERSION = "jeroboam_group", "jeroboam_role", "jeroboam_version"
"""Metadata of servers that stay as they were made."""

READY, CALL = "jeroboam_ready", "jeroboam_rebuild"
"""Metadata of servers that change: whether the node has reported, and the last rebuild's call."""

_OF_ROUTERS = "network:"


@dataclass(frozen=True)
class Inventory:
    """The objects of a cluster by their names, floating IPs by the ids of their ports.

    Args:
        interfaces: Ports of routers: pairs of the ids of router and subnet.
    """

    networks: Mapping[str, Any]
    subnets: Mapping[str, Any]
    routers: Mapping[str, Any]
    security_groups: Mapping[str, Any]
    ports: Mapping[str, Any]
    interfaces: frozenset[tuple[str, str]]
    floating_ips: Mapping[str, Any]
    servers: Mapping[str, Any]

    @classmethod
    def read(cls, connection: Connection, mark: str) -> "Inventory":
        """Ask Neutron and Nova.

        Args:
            mark: The part that the names of all objects of the cluster have in common.

        Raises:
            CloudUnavailableError: One of them does not answer.
        """
        network: Any = connection.network
        mine = {"project_id": connection.current_project_id}
        with translate_cloud_errors(SERVICE):
            routers = _marked(network.routers(**mine), mark)
            ports = list(network.ports(**mine))
            owned = {router.id for router in routers.values()}
            return cls(
                networks=_marked(network.networks(**mine), mark),
                subnets=_marked(network.subnets(**mine), mark),
                routers=routers,
                security_groups=_marked(network.security_groups(**mine), mark),
                ports=_marked(ports, mark),
                interfaces=frozenset(_interfaces(ports, owned)),
                floating_ips={
                    one.port_id or one.id: one
                    for one in network.ips(**mine)
                    if mark in (one.description or "")
                },
                servers={one.name: one for one in Servers(connection).listed(mark).values()},
            )

    def of_group(self, group: str) -> list[Any]:
        """Return the servers of a node group by its uuid."""
        return [one for one in self.servers.values() if (one.metadata or {}).get(GROUP) == group]


def _marked(listed: Iterable[Any], mark: str) -> dict[str, Any]:
    return {one.name: one for one in listed if mark in (one.name or "")}


def _interfaces(ports: Iterable[Any], routers: set[str]) -> Iterable[tuple[str, str]]:
    for port in ports:
        if port.device_id in routers and "gateway" not in port.device_owner:
            yield from ((port.device_id, one["subnet_id"]) for one in port.fixed_ips)
