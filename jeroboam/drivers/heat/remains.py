"""What is left of a deleted cluster, by kind, name and id."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from openstack.connection import Connection

from jeroboam.drivers.heat import leftovers, services
from jeroboam.drivers.heat.stacks import Stacks, stack_name
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import BackendFailedError, CloudUnavailableError, JeroboamError
from jeroboam.models import Cluster

Question = Callable[[], Iterable[str]]

_CSI_CLUSTER = "cinder.csi.openstack.org/cluster"


def find(connection: Connection, stacks: Stacks | None, cluster: Cluster) -> Sequence[str]:
    """Return all that is left: stacks, what was in them, and what Kubernetes made.

    Args:
        stacks: ``None`` for clusters that never had any.

    Raises:
        CloudUnavailableError: A service does not answer; the message names what others have told.
        BackendFailedError: A service refuses to tell; the same.
    """
    found: list[str] = []
    trouble: list[JeroboamError] = []
    for question in _questions(connection, stacks, cluster):
        try:
            with translate_cloud_errors("OpenStack"):
                found += question()
        except JeroboamError as error:
            trouble.append(error)
    left = list(dict.fromkeys(found))
    if trouble:
        raise _incomplete(trouble, left, cluster)
    return left


def _questions(
    connection: Connection, stacks: Stacks | None, cluster: Cluster
) -> Sequence[Question]:
    """Return what to ask the services, one by one."""
    mark = short_id(cluster)
    with translate_cloud_errors("OpenStack"):
        kinds = leftovers.kinds(connection, mark)
    return [
        *([partial(_of_stacks, stacks, cluster)] if stacks else []),
        *(partial(_marked, kind, mark) for kind in kinds),
        partial(_balancers, connection, cluster),
        partial(_addresses, connection, cluster),
        partial(_volumes, connection, cluster),
    ]


def _incomplete(
    trouble: Sequence[JeroboamError], left: Sequence[str], cluster: Cluster
) -> JeroboamError:
    """Return an error that says what could not be asked, and what is known in spite of it."""
    reasons = " ".join(dict.fromkeys(error.message for error in trouble))
    seen = f"What can be seen is left: {', '.join(left)}." if left else "Nothing else was found."
    stack = cluster.stack_id
    if stack and not any(stack in one for one in left):
        seen += f" The cluster's stack was {stack_name(cluster)} ({stack})."
    message = f"It cannot be told whether all is gone: {reasons} {seen}"
    if any(error.retryable for error in trouble):
        return CloudUnavailableError(message)
    return BackendFailedError(message)


def _of_stacks(stacks: Stacks, cluster: Cluster) -> Iterable[str]:
    """Return the stacks that are still there, with their state."""
    return [f"stack {one.name} ({one.id}), {one.status}" for one in stacks.tagged(cluster.uuid)]


def _marked(kind: leftovers.Kind, mark: str) -> Iterable[str]:
    return [_words(kind.name, one) for one in leftovers.marked(kind, mark)]


def _balancers(connection: Connection, cluster: Cluster) -> Iterable[str]:
    found = services.load_balancers(connection, cluster)
    return [_words("load balancer", one) for one in found]


def _addresses(connection: Connection, cluster: Cluster) -> Iterable[str]:
    return [_words("floating IP", one) for one in services.floating_ips(connection, cluster)]


def _volumes(connection: Connection, cluster: Cluster) -> Iterable[str]:
    """Return the volumes that Kubernetes made for claims."""
    if not connection.has_service("block-storage"):
        return []
    owners = {cluster.uuid, stack_name(cluster)}
    return [
        f"{_words('volume', one)}, made by a claim of the cluster; it may hold data"
        for one in connection.block_storage.volumes()
        if (one.metadata or {}).get(_CSI_CLUSTER) in owners
    ]


def _words(kind: str, one: Any) -> str:
    name = getattr(one, "name", None) or getattr(one, "floating_ip_address", None) or "unnamed"
    return f"{kind} {name} ({one.id})"
