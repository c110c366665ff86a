"""What is left of a deleted cluster, by kind, name and id."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.heat import leftovers, services
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.stacks import short_id, stack_name
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.models import Cluster

_CSI_CLUSTER = "cinder.csi.openstack.org/cluster"


def of_stacks(stacks: Iterable[StackState]) -> Sequence[str]:
    """Return the stacks that are still there, with their state."""
    return [f"stack {one.name} ({one.id}), {one.status}" for one in stacks]


def of_objects(connection: Connection, cluster: Cluster) -> Sequence[str]:
    """Return all other objects: those of the stacks, and those that Kubernetes made."""
    mark = short_id(cluster)
    with translate_cloud_errors("OpenStack"):
        own = [
            _words(kind.name, one)
            for kind in leftovers.kinds(connection, mark)
            for one in leftovers.orphans(kind.list(), mark, frozenset())
        ]
        return list(dict.fromkeys([*own, *_of_kubernetes(connection, cluster)]))


def _of_kubernetes(connection: Connection, cluster: Cluster) -> Iterator[str]:
    for balancer in services.load_balancers(connection, cluster):
        yield _words("load balancer", balancer)
    for address in services.floating_ips(connection, cluster):
        yield _words("floating IP", address)
    if not connection.has_service("block-storage"):
        return
    for volume in connection.block_storage.volumes():
        claimed = (volume.metadata or {}).get(_CSI_CLUSTER)
        if claimed in {cluster.uuid, stack_name(cluster)}:
            yield f"{_words('volume', volume)}, made by a claim of the cluster; it may hold data"


def _words(kind: str, one: Any) -> str:
    name = getattr(one, "name", None) or getattr(one, "floating_ip_address", None) or "unnamed"
    return f"{kind} {name} ({one.id})"
