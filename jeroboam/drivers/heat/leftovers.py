"""What a cluster has in the cloud although Heat does not know of it.

Heat asks a service for an object and notes the object's id when the answer is there. If Heat ends
between the two, nobody knows the object: a stack that goes on would meet a subnet that overlaps
or a port in use, and a delete would leave it behind or fail on it. Such objects carry the short
id of their cluster in their name (floating IPs in their description), and are removed before a
stack is resumed or deleted.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from openstack.connection import Connection

from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import ConflictError, InvalidRequestError, NotFoundError

WAIT_SECONDS = 30.0
PAUSE_SECONDS = 0.5
_OF_ROUTERS = "network:"

log = structlog.get_logger(__name__)

Known = frozenset[str]
"""Ids of all objects in the stack. A router's interface is ``<router>:subnet_id=<subnet>``."""


@dataclass(frozen=True)
class Kind:
    """One kind of object, and how it is listed and removed."""

    name: str
    list: Callable[[], Iterable[Any]]
    remove: Callable[[Any], object]


def remove(connection: Connection, mark: str, known: Known) -> int:
    """Remove all objects that carry the mark and are not in the stack; return their number.

    What cannot be removed now, because something else still uses it, is left for the next time.
    """
    number = 0
    with translate_cloud_errors("OpenStack"):
        listed = kinds(connection, mark, known)
    for kind in listed:
        with translate_cloud_errors("OpenStack"):
            found = _orphans_of(kind, mark, known)
        for one in found:
            number += _remove(kind, one)
        if kind.name == "server":
            _wait(partial(_orphans_of, kind, mark, known))
    return number


def orphans(listed: Iterable[Any], mark: str, known: Known) -> list[Any]:
    """Return the objects with the mark that the stack does not know."""
    return [one for one in listed if mark in _marks(one) and one.id not in known]


def _orphans_of(kind: Kind, mark: str, known: Known) -> list[Any]:
    return orphans(kind.list(), mark, known)


def _marks(one: Any) -> str:
    return f"{getattr(one, 'name', None) or ''} {getattr(one, 'description', None) or ''}"


def kinds(connection: Connection, mark: str, known: Known | None = None) -> Sequence[Kind]:
    """Return the kinds in an order in which users go before what they use.

    Args:
        known: Given where all is to be removed: a router's interfaces that are not in it are
            detached when the routers are listed.
    """
    compute, network = connection.compute, connection.network
    mine = {"project_id": connection.current_project_id}

    def free_ports() -> Iterable[Any]:
        ports = network.ports(**mine)
        return (one for one in ports if not one.device_owner.startswith(_OF_ROUTERS))

    def detach(router: Any) -> None:
        for port in network.ports(device_id=router.id):
            for address in port.fixed_ips:
                if f"{router.id}:subnet_id={address['subnet_id']}" not in (known or ()):
                    network.remove_interface_from_router(router, address["subnet_id"])

    def routers() -> Iterable[Any]:
        found = [one for one in network.routers(**mine) if mark in one.name]
        for router in found if known is not None else ():
            detach(router)
        return found

    return (
        Kind("server", lambda: compute.servers(name=mark), compute.delete_server),
        Kind("floating IP", lambda: network.ips(**mine), network.delete_ip),
        Kind("port", free_ports, network.delete_port),
        Kind("router", routers, network.delete_router),
        Kind("subnet", lambda: network.subnets(**mine), network.delete_subnet),
        Kind("network", lambda: network.networks(**mine), network.delete_network),
        Kind(
            "security group",
            lambda: network.security_groups(**mine),
            network.delete_security_group,
        ),
        Kind("server group", compute.server_groups, compute.delete_server_group),
        *_optional_kinds(connection),
    )


def _optional_kinds(connection: Connection) -> Sequence[Kind]:
    """Return the kinds of services that not every cloud has."""
    found: list[Kind] = []
    if connection.has_service("load-balancer"):
        balancers = connection.load_balancer
        found.append(
            Kind(
                "load balancer",
                balancers.load_balancers,
                lambda one: balancers.delete_load_balancer(one, cascade=True),
            )
        )
    if connection.has_service("block-storage"):
        volumes = connection.block_storage
        found.append(Kind("volume", volumes.volumes, volumes.delete_volume))
    return found


def _remove(kind: Kind, one: Any) -> int:
    try:
        with translate_cloud_errors("OpenStack"):
            kind.remove(one)
    except NotFoundError:
        return 0
    except (ConflictError, InvalidRequestError) as error:
        log.warning("leftover_kept", kind=kind.name, id=one.id, reason=error.message)
        return 0
    log.warning("leftover_removed", kind=kind.name, id=one.id)
    return 1


def _wait(still_there: Callable[[], Sequence[Any]]) -> None:
    """Wait a moment until servers have let go of their ports."""
    deadline = time.monotonic() + WAIT_SECONDS
    with translate_cloud_errors("Nova"):
        while still_there() and time.monotonic() < deadline:
            time.sleep(PAUSE_SECONDS)
