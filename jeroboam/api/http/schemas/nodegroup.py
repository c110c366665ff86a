"""Node groups on the wire."""

from collections.abc import Mapping, Sequence

from jeroboam.api.http import labels as label_rules
from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import Link, ResponseModel, Timestamp
from jeroboam.models import NodeGroup


class NodeGroupSummary(ResponseModel):
    """A node group in a list."""

    uuid: str
    name: str
    flavor_id: str | None
    image_id: str | None
    node_count: int
    role: str
    min_node_count: int
    max_node_count: int | None
    is_default: bool
    stack_id: str | None
    status: str | None
    merge_labels: bool

    @classmethod
    def of(cls, group: NodeGroup) -> "NodeGroupSummary":
        """Return a group as it stands in a list."""
        return cls(**group.model_dump(include=set(cls.model_fields)))


class NodeGroupDetail(NodeGroupSummary):
    """A node group with all that is known of it."""

    id: int | None
    cluster_id: str
    project_id: str
    docker_volume_size: int | None
    labels: Mapping[str, str]
    labels_overridden: Mapping[str, str]
    labels_added: Mapping[str, str]
    labels_skipped: Mapping[str, str]
    links: list[Link]
    node_addresses: Sequence[str]
    status_reason: str | None
    version: str | None
    node_labels: Mapping[str, str]
    node_taints: Sequence[Mapping[str, str]]
    created_at: Timestamp
    updated_at: Timestamp | None

    @classmethod
    def build(
        cls, group: NodeGroup, cluster_labels: Mapping[str, str], links: Links
    ) -> "NodeGroupDetail":
        """Return a group with its labels compared to the cluster's."""
        compared = label_rules.difference(cluster_labels, group.labels)
        return cls(
            **group.model_dump(),
            labels_overridden=compared.overridden,
            labels_added=compared.added,
            labels_skipped=compared.skipped,
            links=links.resource("clusters", group.cluster_id, "nodegroups", group.uuid),
        )


class NodeGroupList(ResponseModel):
    """A page of node groups."""

    nodegroups: Sequence[NodeGroupSummary]
    next: str | None = None
