"""Node groups on the wire."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from jeroboam.api.http import labels as label_rules
from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import (
    Count,
    Ignored,
    Labels,
    Link,
    Positive,
    ReadOnly,
    RequestModel,
    ResponseModel,
    ShortText,
    Timestamp,
)
from jeroboam.models import NodeGroup

GroupName = Annotated[
    str,
    StringConstraints(
        min_length=1, max_length=63, pattern=r"^[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9])?$"
    ),
]
"""A name becomes a label of Kubernetes on the group's nodes."""


class NodeGroupChange(RequestModel):
    """What a patch may change of a node group, and what it must result in."""

    min_node_count: Count | None = None
    max_node_count: Count | None = None
    node_labels: Labels = Field(default_factory=dict)
    node_taints: list[Any] | None = None


class NodeGroupCreate(NodeGroupChange):
    """Body of ``POST /v1/clusters/{cluster}/nodegroups``."""

    name: GroupName
    role: ShortText | None = None
    flavor_id: ShortText | None = None
    image_id: ShortText | None = None
    docker_volume_size: Positive | None = None
    labels: Labels = Field(default_factory=dict)
    merge_labels: bool | None = None
    node_count: Count | None = None

    id: Ignored = None
    uuid: Ignored = None
    cluster_id: Ignored = None
    is_default: Ignored = None
    status: Ignored = None
    status_reason: Ignored = None
    version: Ignored = None
    labels_overridden: Ignored = None
    labels_added: Ignored = None
    labels_skipped: Ignored = None

    project_id: ReadOnly = None
    links: ReadOnly = None
    node_addresses: ReadOnly = None
    stack_id: ReadOnly = None
    created_at: ReadOnly = None
    updated_at: ReadOnly = None


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
