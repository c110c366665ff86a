"""Rules about the sizes of node groups; those that all ways in share are in ``models.sizes``."""

from jeroboam.api.http import versions
from jeroboam.errors import InvalidRequestError
from jeroboam.models.sizes import check_bounds, named_nodes, nodes_of

__all__ = ["check_bounds", "check_zero", "named_nodes", "nodes_of"]


def check_zero(node_count: int | None, version: versions.Microversion) -> None:
    """Refuse a size of zero before Magnum knew it."""
    if node_count == 0 and version < versions.ZERO_NODES:
        raise InvalidRequestError(
            f"Setting the node count to zero needs the microversion {versions.ZERO_NODES} or later."
        )
