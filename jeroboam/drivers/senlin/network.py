"""The network of a cluster, made by the driver itself: Senlin knows servers only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog
from openstack.connection import Connection

from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.drivers.servers.orders import Order
from jeroboam.drivers.servers.rules import OWN_GROUP
from jeroboam.errors import ConflictError, NotAuthorizedError

SERVICE = "Neutron"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Place:
    """Where a node is in the network.

    Args:
        port: Its id.
        address: Its own address.
        public: Its floating IP, if it has one.
    """

    port: str
    address: str
    public: str = ""


class Network:
    """Makes what an order lacks.

    Args:
        connection: With the rights of the cluster's owner.
    """

    def __init__(self, connection: Connection) -> None:
        self._network: Any = connection.network

    def build(self, order: Order) -> Mapping[str, Place]:
        """Make network, security groups, ports and floating IPs.

        Returns:
            The places of nodes by their names, those of nodes that were there before as well.
        """
        with translate_cloud_errors(SERVICE):
            network, subnet = self._subnet(order)
            groups = {one["name"]: self._group(one) for one in order["security_groups"]}
            for port in order["ports"]:
                if port["id"] is None:
                    self._port(order, port, network, subnet, [groups[g] for g in port["groups"]])
            ports = [one for one in self._network.ports(network_id=network) if one.name]
            places = {one.name: _place(one) for one in ports if order["mark"] in one.name}
            for name in order["floating"]:
                self._network.create_ip(
                    floating_network_id=order["external"],
                    port_id=places[name].port,
                    description=name,
                )
            return self._with_public(places)

    def remove_floating_ips(self, idents: Sequence[str]) -> None:
        """Remove the floating IPs of nodes that go."""
        for ident in idents:
            with translate_cloud_errors(SERVICE):
                self._network.delete_ip(ident, ignore_missing=True)

    def remove_ports(self, idents: Sequence[str]) -> None:
        """Remove the ports of nodes that have gone; one that is in use yet stays."""
        for ident in idents:
            try:
                with translate_cloud_errors(SERVICE):
                    self._network.delete_port(ident, ignore_missing=True)
            except NotAuthorizedError as error:
                # Neutron lets no tenant remove the port of a server.
                log.info("port_kept", port=ident, reason=error.message)

    def _subnet(self, order: Order) -> tuple[str, str]:
        """Return the ids of network and subnet; the router is there by then."""
        network, subnet, router = order["network"], order["subnet"], order["router"]
        if network["id"] is None:
            made = self._network.create_network(name=network["name"])
            network = {**network, "id": made.id}
        if subnet["id"] is None:
            made = self._network.create_subnet(
                name=subnet["name"],
                network_id=network["id"],
                ip_version=4,
                cidr=subnet["cidr"],
                dns_nameservers=subnet["dns"],
            )
            subnet = {**subnet, "id": made.id}
        if router["id"] is None:
            gateway = {"network_id": router["external"]}
            made = self._network.create_router(name=router["name"], external_gateway_info=gateway)
            router = {**router, "id": made.id}
        if not router["attached"]:
            self._network.add_interface_to_router(router["id"], subnet["id"])
        return network["id"], subnet["id"]

    def _group(self, group: Mapping[str, Any]) -> str:
        """Return the id of a security group; rules that it lacks are added."""
        ident = group["id"] or self._network.create_security_group(name=group["name"]).id
        for rule in group["rules"]:
            own = {"remote_group_id": ident} if rule.get(OWN_GROUP) else {}
            given = {name: value for name, value in rule.items() if name != OWN_GROUP}
            self._rule(security_group_id=ident, **given, **own)
        return str(ident)

    def _rule(self, **rule: Any) -> None:
        try:
            with translate_cloud_errors(SERVICE):
                self._network.create_security_group_rule(
                    direction="ingress", ether_type="IPv4", **rule
                )
        except ConflictError:
            # An earlier attempt has made it.
            return

    def _port(
        self, order: Order, port: Mapping[str, Any], network: str, subnet: str, groups: list[str]
    ) -> None:
        fixed = {"fixed_ips": [{"subnet_id": subnet}]} if subnet else {}
        self._network.create_port(
            name=port["name"],
            network_id=network,
            security_groups=groups,
            allowed_address_pairs=[{"ip_address": order["pod_network"]}],
            **fixed,
        )

    def _with_public(self, places: Mapping[str, Place]) -> Mapping[str, Place]:
        ports = {one.port for one in places.values()}
        public = {
            one.port_id: str(one.floating_ip_address)
            for one in self._network.ips()
            if one.port_id in ports
        }
        return {
            name: Place(one.port, one.address, public.get(one.port, ""))
            for name, one in places.items()
        }


def _place(port: Any) -> Place:
    return Place(port=str(port.id), address=str(port.fixed_ips[0]["ip_address"]))
