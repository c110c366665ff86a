"""Which nodes a rebuild or a reboot is about."""

from jeroboam.api.http import sizes
from jeroboam.api.http.schemas.action import NodeWork
from jeroboam.models import ClusterSpec, Parameters


def parameters(spec: ClusterSpec, request: NodeWork) -> Parameters:
    """Return the input of a rebuild or a reboot, with all names resolved.

    Raises:
        NotFoundError: A node group does not exist.
        InvalidRequestError: A node does not exist, or not in the groups that are named.
    """
    groups = {group.uuid: group for group in map(spec.group, request.node_groups or ())}
    searched = tuple(groups.values()) or spec.node_groups
    return Parameters(
        node_groups=tuple(groups),
        nodes=sizes.nodes_of(searched, request.nodes or ()),
        batch_size=request.batch_size,
    )
