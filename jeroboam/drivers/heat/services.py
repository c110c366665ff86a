"""Load balancers that Kubernetes made for services of a cluster.

Heat does not know of them, and while one has its address in the cluster's network, the network
cannot go. cloud-provider-openstack names the cluster in their description and in that of their
floating IPs; its operator may have called it by another name, but what lies in the cluster's own
network can be nobody else's.
"""

import re
import time
from collections.abc import Iterable, Sequence
from typing import Any

import structlog
from openstack.connection import Connection

from jeroboam.drivers.heat.stacks import stack_name
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import CloudUnavailableError, ConflictError, NotFoundError
from jeroboam.models import Cluster

WAIT_SECONDS = 30.0
PAUSE_SECONDS = 1.0

_SERVICE = "Octavia"
_DESCRIPTION = re.compile(r"Kubernetes external service .* from cluster (?P<cluster>\S+)\s*$")

log = structlog.get_logger(__name__)


def remove(connection: Connection, cluster: Cluster) -> None:
    """Remove the load balancers of services, and their floating IPs before them.

    Raises:
        CloudUnavailableError: Octavia is still at it; the same call goes on later.
    """
    if not connection.has_service("load-balancer"):
        return
    for address in floating_ips(connection, cluster):
        _delete(connection.network.delete_ip, address, "floating IP")
    found = load_balancers(connection, cluster)
    for balancer in found:
        if balancer.provisioning_status not in {"PENDING_DELETE", "DELETED"}:
            _delete(_cascade(connection), balancer, "load balancer")
    if found:
        _wait(connection, cluster)


def load_balancers(connection: Connection, cluster: Cluster) -> list[Any]:
    """Return the load balancers that Kubernetes made for services of a cluster."""
    if not connection.has_service("load-balancer"):
        return []
    with translate_cloud_errors(_SERVICE):
        listed = list(connection.load_balancer.load_balancers())
        marked = [one for one in listed if _DESCRIPTION.search(one.description or "")]
        if not marked:
            return []
        networks = {
            network.id
            for network in connection.network.networks(project_id=connection.current_project_id)
            if short_id(cluster) in (network.name or "")
        }
    return [
        one for one in marked if names(one.description, cluster) or one.vip_network_id in networks
    ]


def floating_ips(connection: Connection, cluster: Cluster) -> list[Any]:
    """Return the floating IPs that Kubernetes made for services of a cluster."""
    ports = {one.vip_port_id for one in load_balancers(connection, cluster)}
    with translate_cloud_errors("Neutron"):
        listed = list(connection.network.ips(project_id=connection.current_project_id))
    return [
        one
        for one in listed
        if names(one.description, cluster)
        or (one.port_id in ports and _DESCRIPTION.search(one.description or ""))
    ]


def names(description: str | None, cluster: Cluster) -> bool:
    """Whether a description of cloud-provider-openstack names the cluster.

    The cluster's own name is not enough: another one of the project may have the same.
    """
    found = _DESCRIPTION.search(description or "")
    return found is not None and found["cluster"] in {cluster.uuid, stack_name(cluster)}


def _cascade(connection: Connection) -> Any:
    return lambda one: connection.load_balancer.delete_load_balancer(one, cascade=True)


def _delete(delete: Any, one: Any, kind: str) -> None:
    """Ask for a removal; what is gone is gone, and what is busy is asked for later."""
    try:
        with translate_cloud_errors("OpenStack"):
            delete(one)
    except NotFoundError:
        return
    except ConflictError as error:
        log.warning("service_object_busy", kind=kind, id=one.id, reason=error.message)
        return
    log.info("service_object_removed", kind=kind, id=one.id, name=getattr(one, "name", ""))


def _wait(connection: Connection, cluster: Cluster) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while left := load_balancers(connection, cluster):
        if time.monotonic() >= deadline:
            raise CloudUnavailableError(
                f"Octavia is still removing {_listed(left)}; the cluster's network cannot go "
                "before they are gone."
            )
        time.sleep(PAUSE_SECONDS)


def _listed(found: Sequence[Any] | Iterable[Any]) -> str:
    return ", ".join(f"{one.name} ({one.id})" for one in found)
