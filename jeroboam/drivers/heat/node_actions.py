"""Reboot and rebuild of single nodes, none of them twice."""

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat import clients, node_notes
from jeroboam.drivers.heat.failures import stack_of
from jeroboam.drivers.heat.node_notes import Note, SignalNote
from jeroboam.drivers.heat.servers import Servers
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.heat.submission import HANDLE, present
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import ClusterSpec, Node, utc_now

_DOWN = {
    "SHUTOFF": "is switched off",
    "ERROR": "is in the state ERROR",
    "PAUSED": "is paused",
    "SUSPENDED": "is suspended",
}
"""In these states Nova reboots a server only hard."""

_Records = tuple[Stacks, list[Mapping[str, Any]]]

log = structlog.get_logger(__name__)


def reboot(context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node], *, hard: bool) -> None:
    """Submit the reboot of the nodes that have not yet been rebooted by this call.

    One whose reboot failed is rebooted again, for whoever repeats the call then wants that.

    Raises:
        ConflictError: A node cannot be rebooted as it is; the message says what to do.
        NotFoundError: A node is not there.
    """
    servers = Servers(clients.connection(context.cloud, spec.cluster.trust_id))
    for node in nodes:
        server = _server(servers, node)
        actions = servers.actions(server, node_notes.REBOOT)
        if _under_way(context, server, actions):
            continue
        if server.status in _DOWN and not hard:
            raise ConflictError(
                f"Node {node.name} {_DOWN[server.status]}, so its system cannot be asked to "
                "reboot. Use a hard reboot, which starts it."
            )
        note = Note(node_notes.digest(context.idempotency_key), len(actions))
        servers.note(server, note.written())
        try:
            servers.reboot(server, hard=hard)
        except ConflictError as error:
            raise ConflictError(f"Node {node.name}: {error.message}") from None
        log.info("node_reboot_submitted", node=node.name, server=server.id, hard=hard)


def rebuild(context: DriverContext, spec: ClusterSpec, nodes: Sequence[tuple[Node, str]]) -> None:
    """Submit the rebuild of the nodes that have not yet been rebuilt by this call.

    Args:
        nodes: Each with the image that it was made from, for those that boot from a volume.

    Raises:
        ConflictError: A node cannot be rebuilt as it is.
        NotFoundError: A node is not there.
    """
    servers = Servers(clients.connection(context.cloud, spec.cluster.trust_id))
    known: _Records | None = None
    for node, image in nodes:
        server = _server(servers, node)
        actions = servers.actions(server, node_notes.REBUILD)
        if _under_way(context, server, actions):
            continue
        note = Note(node_notes.digest(context.idempotency_key), len(actions))
        known = known or _records(context, spec)
        reported = _reported(known, server)
        written = {**(server.metadata or {}), **note.written(), **reported.written()}
        try:
            servers.rebuild(server, image, written)
        except ConflictError as error:
            raise ConflictError(f"Node {node.name}: {error.message}") from None
        log.info("node_rebuild_submitted", node=node.name, server=server.id)


def _server(servers: Servers, node: Node) -> Any:
    try:
        return servers.get(node.id)
    except NotFoundError:
        raise NotFoundError(
            f"Node {node.name} has no server any more ({node.id}). Resize its group to replace it."
        ) from None


def _under_way(context: DriverContext, server: Any, actions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the call has arrived, and has not come to nothing."""
    note = Note.read(server.metadata or {})
    action = node_notes.arrived(note, context.idempotency_key, actions)
    if action is None or server.status == "ERROR":
        return False
    return not (node_notes.failed(action) or node_notes.broken_off(action, server, utc_now()))


def _records(context: DriverContext, spec: ClusterSpec) -> _Records:
    """Return what Heat knows of the cluster, that of its node groups included."""
    stacks = Stacks(context.cloud, spec.cluster.trust_id)
    return stacks, [
        record
        for stack in stacks.tagged(spec.cluster.uuid)
        for record in stacks.resources(stack.id)
        if present(record)
    ]


def _reported(known: _Records, server: Any) -> SignalNote:
    """Return where a node reports to Heat, and what it has reported up to now.

    Raises:
        NotFoundError: Heat does not know the server.
    """
    stacks, records = known
    holder = next(
        (stack_of(one) for one in records if one.get("physical_resource_id") == server.id), None
    )
    for record in records:
        if record.get("resource_type") == HANDLE and stack_of(record) == holder:
            stack, name = str(holder), str(record["resource_name"])
            return SignalNote(stack, name, node_notes.seen(stacks.signals(stack, name)))
    raise NotFoundError(f"Heat does not know the server {server.name} ({server.id}).")
