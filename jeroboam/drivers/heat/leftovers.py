"""What a cluster has in the cloud although Heat does not know of it.

Heat asks a service for an object and notes the object's id when the answer is there. If Heat ends
between the two, nobody knows the object: a stack that goes on would meet a subnet that overlaps
or a port in use, and a delete would leave it behind or fail on it. Such objects carry the short
id of their cluster in their name (floating IPs in their description), and are removed before a
stack is resumed or deleted that Heat is not at work on, and when the stack is gone.

They are left alone while Heat works: what it has made a moment ago looks the same, and to take
it away fails the calls that Heat has in flight, with answers up to HTTP 500 on both sides
(Neutron, for a network that is deleted while it gets a subnet).
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog
from openstack.connection import Connection

from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import ConflictError, InvalidRequestError, JeroboamError, NotFoundError

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


@dataclass
class Removal:
    """What became of the attempt to remove all orphans.

    Args:
        removed: How many objects have gone.
        trouble: Of services that did not do what they were asked for.
    """

    removed: int = 0
    trouble: list[JeroboamError] = field(default_factory=list)

    def settle(self) -> None:
        """Raise what trouble there was, that first which a repeated call may not meet again."""
        for one in sorted(self.trouble, key=lambda error: not error.retryable):
            raise one


def remove(connection: Connection, mark: str, read_known: Callable[[], Known]) -> Removal:
    """Remove all objects that carry the mark and are not in the stack.

    What cannot be removed now, because something else still uses it, is left for the next time.
    Trouble with one object or one service does not keep the others from being removed.

    Args:
        read_known: Asked after the objects were listed: what is listed and was noted meanwhile
            is not lost.
    """
    removal = Removal()
    with translate_cloud_errors("OpenStack"):
        listed = kinds(connection, mark)
    found = [(kind, _attempt(removal, kind, partial(marked, kind, mark)) or []) for kind in listed]
    known = read_known()
    for kind, objects in found:
        for one in objects:
            if kind.name == "router":
                _attempt(removal, kind, partial(detach, connection, one, known))
            if one.id not in known:
                _attempt(removal, kind, partial(_remove, removal, kind, one))
        if kind.name == "server":
            _attempt(removal, kind, partial(_wait, partial(_orphans_of, kind, mark, known)))
    return removal


def _attempt(removal: Removal, kind: Kind, step: Callable[[], Any]) -> Any:
    """Do one step; trouble is noted, and may be over when the whole is repeated."""
    try:
        with translate_cloud_errors("OpenStack"):
            return step()
    except JeroboamError as error:
        log.warning("leftover_trouble", kind=kind.name, reason=error.message)
        removal.trouble.append(error)
        return None


def detach(connection: Connection, router: Any, known: Known) -> None:
    """Take off a router the interfaces that the stack does not know."""
    network = connection.network
    for port in network.ports(device_id=router.id):
        for address in port.fixed_ips:
            if f"{router.id}:subnet_id={address['subnet_id']}" not in known:
                network.remove_interface_from_router(router, address["subnet_id"])


def marked(kind: Kind, mark: str) -> list[Any]:
    """Return all objects of a kind that carry the mark."""
    return orphans(kind.list(), mark, frozenset())


def orphans(listed: Iterable[Any], mark: str, known: Known) -> list[Any]:
    """Return the objects with the mark that the stack does not know."""
    return [one for one in listed if mark in _marks(one) and one.id not in known]


def _orphans_of(kind: Kind, mark: str, known: Known) -> list[Any]:
    return orphans(kind.list(), mark, known)


def _marks(one: Any) -> str:
    return f"{getattr(one, 'name', None) or ''} {getattr(one, 'description', None) or ''}"


def kinds(connection: Connection, mark: str) -> Sequence[Kind]:
    """Return the kinds in an order in which users go before what they use."""
    compute, network = connection.compute, connection.network
    mine = {"project_id": connection.current_project_id}

    def free_ports() -> Iterable[Any]:
        ports = network.ports(**mine)
        return (one for one in ports if not one.device_owner.startswith(_OF_ROUTERS))

    return (
        *_load_balancers(connection),
        Kind("server", lambda: compute.servers(name=mark), compute.delete_server),
        Kind("floating IP", lambda: network.ips(**mine), network.delete_ip),
        Kind("port", free_ports, network.delete_port),
        Kind("router", lambda: network.routers(**mine), network.delete_router),
        Kind("subnet", lambda: network.subnets(**mine), network.delete_subnet),
        Kind("network", lambda: network.networks(**mine), network.delete_network),
        Kind(
            "security group",
            lambda: network.security_groups(**mine),
            network.delete_security_group,
        ),
        Kind("server group", compute.server_groups, compute.delete_server_group),
        *_volumes(connection),
    )


def _load_balancers(connection: Connection) -> Sequence[Kind]:
    """Return the kind, if the cloud has it."""
    if not connection.has_service("load-balancer"):
        return ()
    balancers = connection.load_balancer
    remove = partial(balancers.delete_load_balancer, cascade=True)
    return (Kind("load balancer", balancers.load_balancers, remove),)


def _volumes(connection: Connection) -> Sequence[Kind]:
    """Return the kind, if the cloud has it."""
    if not connection.has_service("block-storage"):
        return ()
    volumes = connection.block_storage
    return (Kind("volume", volumes.volumes, volumes.delete_volume),)


def _remove(removal: Removal, kind: Kind, one: Any) -> None:
    try:
        with translate_cloud_errors("OpenStack"):
            kind.remove(one)
    except NotFoundError:
        return
    except (ConflictError, InvalidRequestError) as error:
        log.warning("leftover_kept", kind=kind.name, id=one.id, reason=error.message)
        return
    log.warning("leftover_removed", kind=kind.name, id=one.id)
    removal.removed += 1


def _wait(still_there: Callable[[], Sequence[Any]]) -> None:
    """Wait a moment until servers have let go of their ports."""
    deadline = time.monotonic() + WAIT_SECONDS
    while still_there() and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
