"""Which nodes of a group go. Pure."""

from collections.abc import Mapping, Sequence

from jeroboam.models import Node

Order = tuple[float, ...]
"""How much a node would be missed; the smallest goes first."""


def choose(
    candidates: Sequence[Node],
    count: int,
    named: Sequence[Node],
    orders: Mapping[str, Order],
) -> tuple[Node, ...]:
    """Return those that were named and, of the others, those that are missed least.

    Args:
        candidates: The nodes of the group.
        count: How many go in all.
        orders: By the names of nodes.
    """
    taken = {node.name for node in named}
    others = [node for node in candidates if node.name not in taken]
    # Of equals the youngest goes, which has the highest number.
    numbered = sorted(enumerate(others), key=lambda one: (orders[one[1].name], -one[0]))
    missing = max(0, count - len(named))
    return (*named, *(node for _, node in numbered[:missing]))
