"""Which nodes shall be there. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jeroboam.drivers.nodes import names
from jeroboam.models import Cluster, ClusterSpec, Node, NodeGroup
from jeroboam.models.cluster import MASTER


@dataclass(frozen=True)
class Wish:
    """One node that shall be there.

    Args:
        index: Its number in its group.
    """

    name: str
    index: int
    group: NodeGroup


def of_cluster(spec: ClusterSpec) -> list[Wish]:
    """Return the nodes of all groups."""
    return [wish for group in spec.node_groups for wish in of_group(spec, group)]


def of_group(
    spec: ClusterSpec, group: NodeGroup, nodes_to_remove: Sequence[Node] = ()
) -> list[Wish]:
    """Return the nodes that a group shall have.

    It follows from the recorded nodes alone, so a repeated call and a roll-back mean the same
    nodes, whatever is in the cloud by then. Nodes go from the end; new ones get numbers above
    those of all recorded ones.

    Args:
        group: With its nodes as they are recorded, and the size that it shall have.
        nodes_to_remove: Nodes that must be among those that go.
    """
    leaving = {node.name for node in nodes_to_remove}
    recorded = sorted(index_of(node.name) for node in group.nodes)
    prefix = prefix_of(spec.cluster, group)
    staying = [index for index in recorded if f"{prefix}{index}" not in leaving]
    indexes = [*staying[: group.node_count], *_new(recorded, group.node_count - len(staying))]
    return [Wish(f"{prefix}{index}", index, group) for index in indexes]


def prefix_of(cluster: Cluster, group: NodeGroup) -> str:
    """Return what the names of all nodes of a group begin with, and no others."""
    part = "master" if group.role == MASTER else names.group_part(group)
    return f"{names.cluster_part(cluster)}-{part}-"


def index_of(name: str) -> int:
    """Return the number that a node's name ends with; -1 if there is none."""
    number = name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def belongs(name: str, prefix: str) -> bool:
    """Tell whether a name is that of a node whose group has the prefix."""
    return name.startswith(prefix) and name.removeprefix(prefix).isdecimal()


def surplus(there: Collection[str], wishes: Sequence[Wish], prefixes: Sequence[str]) -> list[str]:
    """Return the names of a few groups which nobody wishes to be there."""
    wished = {wish.name for wish in wishes}
    return sorted(
        name
        for name in there
        if name not in wished and any(belongs(name, prefix) for prefix in prefixes)
    )


def _new(recorded: Sequence[int], count: int) -> range:
    first = max(recorded, default=-1) + 1
    return range(first, first + max(0, count))
