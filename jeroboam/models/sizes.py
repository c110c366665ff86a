"""Rules about the sizes of node groups, and the nodes that a request names. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from jeroboam.errors import InvalidRequestError
from jeroboam.models.cluster import MASTER, ClusterSpec, Node, NodeGroup
from jeroboam.models.parameters import Parameters


class NodeChoice(Protocol):
    """Which nodes a rebuild or a reboot is about, as a request says it."""

    @property
    def node_groups(self) -> Sequence[str] | None:
        """Names or uuids; ``None`` is all."""

    @property
    def nodes(self) -> Sequence[str] | None:
        """Names or ids of servers; ``None`` is all of the groups."""

    @property
    def batch_size(self) -> int | None:
        """How many at a time; ``None`` is all of a group."""


def node_work(spec: ClusterSpec, request: NodeChoice) -> Parameters:
    """Return the input of a rebuild or a reboot, with all names resolved.

    Raises:
        NotFoundError: A node group does not exist.
        InvalidRequestError: A node does not exist, or not in the groups that are named.
    """
    groups = {group.uuid: group for group in map(spec.group, request.node_groups or ())}
    searched = tuple(groups.values()) or spec.node_groups
    return Parameters(
        node_groups=tuple(groups),
        nodes=nodes_of(searched, request.nodes or ()),
        batch_size=request.batch_size,
    )


def check_bounds(group: NodeGroup, node_count: int) -> None:
    """Refuse a size outside of a group's bounds; of the control plane, the driver is asked."""
    if group.role == MASTER:
        return
    # As in Magnum, a maximum of zero is none.
    too_large = bool(group.max_node_count) and node_count > (group.max_node_count or 0)
    if too_large or node_count < group.min_node_count:
        raise InvalidRequestError(
            f"Resizing {group.name} outside the allowed range: "
            f"min_node_count = {group.min_node_count}, max_node_count = {group.max_node_count}"
        )


def named_nodes(group: NodeGroup, idents: Sequence[str]) -> tuple[str, ...]:
    """Return the names of nodes of a group, each once, in the order of the request.

    Args:
        idents: Names, ids of servers, or numbers in the group, as clients of Magnum send them.

    Raises:
        InvalidRequestError: One is unknown; the message names those that exist.
    """
    numbers = dict(_numbers(group.nodes))
    return _resolved(group.nodes, idents, f"node group {group.name}", numbers)


def nodes_of(groups: Sequence[NodeGroup], idents: Sequence[str]) -> tuple[str, ...]:
    """Return the names of nodes of several groups; a number would say nothing there.

    Raises:
        InvalidRequestError: See ``named_nodes``.
    """
    nodes = tuple(node for group in groups for node in group.nodes)
    names = ", ".join(group.name for group in groups)
    return _resolved(nodes, idents, f"the node groups {names}", {})


def _resolved(
    nodes: Sequence[Node], idents: Sequence[str], owner: str, numbers: Mapping[str, str]
) -> tuple[str, ...]:
    by_id = {node.id.lower(): node.name for node in nodes}
    by_name = {node.name: node.name for node in nodes}
    known = {
        ident: by_name.get(ident) or by_id.get(ident.lower()) or numbers.get(ident)
        for ident in idents
    }
    unknown = [ident for ident, name in known.items() if name is None]
    if unknown:
        there = ", ".join(by_name) or "none that is known"
        raise InvalidRequestError(
            f"No such node in {owner}: {', '.join(unknown)}. There is: {there}."
        )
    return tuple(dict.fromkeys(name for name in known.values() if name))


def _numbers(nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Yield the number of each node: the one that its name ends with, else its position.

    After nodes were removed from the middle of a group only the former is what the backend counts.
    """
    endings = [node.name.rpartition("-")[2] for node in nodes]
    numbered = all(ending.isascii() and ending.isdecimal() for ending in endings)
    if not numbered or len({int(ending) for ending in endings}) < len(nodes):
        endings = [str(position) for position in range(len(nodes))]
    for ending, node in zip(endings, nodes, strict=True):
        yield str(int(ending)), node.name
