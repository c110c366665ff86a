"""Servers that Heat has taken up again without their ports.

An update that replaces a server takes its port away first. If the new server fails and the next
update goes back to the old one, Heat takes that up again, but gives it its port back only in a
roll-back of its own (``restore_prev_rsrc`` of OS::Neutron::Port and of OS::Nova::Server). The
stack is complete then, and the node cannot be reached.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog
from openstack.connection import Connection

from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import BackendFailedError, CloudUnavailableError

log = structlog.get_logger(__name__)


def attach_again(connection: Connection, servers: Mapping[str, Any], wanted: Iterable[str]) -> None:
    """Give each server that runs without any address the free port of its name.

    Called twice, the second call finds nothing to do.

    Args:
        connection: With the rights of the cluster's owner.
        servers: Nova's servers by their ids.
        wanted: Ids of the servers that are nodes.

    Raises:
        BackendFailedError: There is no such port.
        CloudUnavailableError: The port still belongs to the server that failed, which is going.
    """
    for one in wanted:
        server = servers.get(one)
        if server is None or not _unreachable(server):
            continue
        with translate_cloud_errors("Neutron"):
            ports = list(connection.network.ports(name=server.name))
        if any(port.device_id == server.id for port in ports):
            continue  # Nova's answer is older than Neutron's.
        port = _free(server, ports)
        log.warning("heat.port.attached_again", server=server.id, port=port.id)
        with translate_cloud_errors("Nova"):
            connection.compute.create_server_interface(server, port_id=port.id)


def _free(server: Any, ports: Sequence[Any]) -> Any:
    if not ports:
        raise BackendFailedError(
            f"The server {server.name} ({server.id}) has no address, and there is no port of its "
            "name. Upgrade its node group, which makes the server anew."
        )
    for port in ports:
        if not port.device_id:
            return port
    raise CloudUnavailableError(
        f"The server {server.name} ({server.id}) has no address, and its port {ports[0].id} "
        f"belongs to {ports[0].device_id}."
    )


def _unreachable(server: Any) -> bool:
    return server.status == "ACTIVE" and not server.addresses
