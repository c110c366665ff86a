"""The nodes of a cluster: Heat tells which there are, Nova how they are."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jeroboam.models import Node, NodeGroup


def index_of(node: Node) -> str:
    """Return the index of a node in its group, which its name ends with."""
    return node.name.rpartition("-")[2]


def read(listed: object, servers: Mapping[str, Any]) -> tuple[Node, ...]:
    """Return the nodes of a group, in the order of their indexes.

    Args:
        listed: The stack's output: a list of maps, with gaps where Heat has nothing to tell.
        servers: Nova's servers by their ids.
    """
    entries = [one for one in listed or () if _complete(one)] if isinstance(listed, list) else []
    nodes = (_node(one, servers.get(str(one["id"]))) for one in entries)
    return tuple(sorted(nodes, key=lambda node: (len(index_of(node)), index_of(node))))


def first_addresses(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return one address of each node, the public one if it has one."""
    return tuple(node.addresses[0] for node in nodes if node.addresses)


def parse_removals(parameter: str) -> list[str]:
    """Read the stack's parameter as Heat shows it."""
    try:
        found = json.loads(parameter) if parameter else []
    except ValueError:
        return []
    return [str(one) for one in found] if isinstance(found, list) else []


def removals(
    current: Sequence[str], group: NodeGroup, nodes_to_remove: Sequence[Node]
) -> list[str]:
    """Return the indexes that a group shall not use any more.

    The index of a node that was chosen to go is never used again: the name of a new node shall not
    be that of one which users remember. An index comes back only where a removal is undone, which
    shows in its node being a recorded one.

    Args:
        current: The indexes up to now.
        group: The group with its nodes as they are recorded.
    """
    leaving = {index_of(node) for node in nodes_to_remove}
    staying = {index_of(node) for node in group.nodes} - leaving
    return sorted((set(current) | leaving) - staying, key=lambda text: (len(text), text))


def _complete(entry: Any) -> bool:
    return isinstance(entry, Mapping) and bool(entry.get("name")) and bool(entry.get("id"))


def _node(entry: Mapping[str, Any], server: Any) -> Node:
    addresses = (entry.get("public_address"), entry.get("address"))
    return Node(
        name=str(entry["name"]),
        id=str(entry["id"]),
        status=str(server.status) if server else "DELETED",
        addresses=tuple(str(one) for one in addresses if one),
        version=str(entry.get("version") or "") or None,
    )
