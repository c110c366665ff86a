"""Nodes on the wire."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from jeroboam.api.http.schemas.base import ResponseModel, Timestamp
from jeroboam.models import Node, NodeGroup


class NodeBody(ResponseModel):
    """One machine of a cluster, as the backend reported it last.

    ``name`` is the same after a rebuild, and names the node in requests, as ``id`` does.
    ``server_id`` is the Nova server's, null where the machine is none. ``health`` is what the last
    look at the cluster found of this node, null where it found nothing out.
    """

    id: str
    name: str
    server_id: str | None
    status: str
    addresses: Sequence[str]
    version: str | None
    flavor_id: str | None
    nodegroup_id: str
    nodegroup: str
    role: str
    health: str | None

    @classmethod
    def of(cls, node: Node, group: NodeGroup, reasons: Mapping[str, str]) -> "NodeBody":
        """Return a node of a group.

        Args:
            reasons: The cluster's ``health_status_reason``.
        """
        return cls(
            **node.model_dump(),
            server_id=node.id if _is_uuid(node.id) else None,
            flavor_id=group.flavor_id,
            nodegroup_id=group.uuid,
            nodegroup=group.name,
            role=group.role,
            health=reasons.get(node.name),
        )


class NodeList(ResponseModel):
    """A page of nodes; ``checked_at`` is when the cluster was looked at last."""

    nodes: Sequence[NodeBody]
    checked_at: Timestamp | None
    next: str | None = None


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
