"""Clusters on the wire."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol

from pydantic import Field, StringConstraints

from jeroboam.api.http import labels as label_rules
from jeroboam.api.http import versions
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
    Text,
    Timestamp,
)
from jeroboam.models import Cluster, NodeGroup
from jeroboam.models.cluster import MASTER

ClusterName = Annotated[
    str, StringConstraints(min_length=1, max_length=242, pattern=r"^[a-zA-Z][a-zA-Z0-9_.-]*$")
]


class ClusterCreate(RequestModel):
    """Body of ``POST /v1/clusters``."""

    name: ClusterName | None = None
    cluster_template_id: ShortText
    keypair: ShortText | None = None
    node_count: Count | None = None
    master_count: Positive | None = None
    docker_volume_size: Positive | None = None
    labels: Labels = Field(default_factory=dict)
    merge_labels: bool | None = None
    flavor_id: ShortText | None = None
    master_flavor_id: ShortText | None = None
    create_timeout: Count | None = None
    discovery_url: Text | None = None
    fixed_network: ShortText | None = None
    fixed_subnet: ShortText | None = None
    floating_ip_enabled: bool | None = None
    master_lb_enabled: bool | None = None

    uuid: Ignored = None
    status: Ignored = None
    status_reason: Ignored = None
    health_status: Ignored = None
    health_status_reason: Ignored = None
    faults: Ignored = None
    labels_overridden: Ignored = None
    labels_added: Ignored = None
    labels_skipped: Ignored = None

    links: ReadOnly = None
    stack_id: ReadOnly = None
    cluster_id: ReadOnly = None
    api_address: ReadOnly = None
    coe_version: ReadOnly = None
    container_version: ReadOnly = None
    node_addresses: ReadOnly = None
    master_addresses: ReadOnly = None
    project_id: ReadOnly = None
    user_id: ReadOnly = None
    created_at: ReadOnly = None
    updated_at: ReadOnly = None


class ClusterReference(ResponseModel):
    """The answer to a request that was accepted."""

    uuid: str


class ClusterSummary(ResponseModel):
    """A cluster in a list.

    ``stack_id`` and ``cluster_id`` are one value; the version of the request says which name it
    has, the other is not set.
    """

    uuid: str
    name: str
    cluster_template_id: str
    keypair: str | None
    node_count: int
    master_count: int
    docker_volume_size: int | None
    labels: Mapping[str, str]
    merge_labels: bool
    flavor_id: str | None
    master_flavor_id: str | None
    create_timeout: int
    links: list[Link]
    status: str
    health_status: str | None
    stack_id: str | None = None
    cluster_id: str | None = None


class ClusterDetail(ClusterSummary):
    """A cluster with all that is known of it; ``faults`` is set only for a failed one."""

    status_reason: str | None
    health_status_reason: Mapping[str, str]
    discovery_url: str | None
    api_address: str | None
    coe_version: str | None
    container_version: str | None
    project_id: str
    user_id: str
    node_addresses: Sequence[str]
    master_addresses: Sequence[str]
    faults: Mapping[str, str] | None = None
    fixed_network: str | None
    fixed_subnet: str | None
    floating_ip_enabled: bool
    master_lb_enabled: bool
    labels_overridden: Mapping[str, str]
    labels_added: Mapping[str, str]
    labels_skipped: Mapping[str, str]
    created_at: Timestamp
    updated_at: Timestamp | None


class ClusterList(ResponseModel):
    """A page of clusters."""

    clusters: Sequence[ClusterSummary]
    next: str | None = None


class ClusterDetailList(ResponseModel):
    """A page of clusters, each with all that is known of it."""

    clusters: Sequence[ClusterDetail]
    next: str | None = None


class Sized(Protocol):
    """What a list needs to know of a node group."""

    @property
    def role(self) -> str:
        """Whether its nodes are masters."""

    @property
    def node_count(self) -> int:
        """How many they are."""


def summary(
    cluster: Cluster,
    groups: Sequence[Sized],
    links: Links,
    version: versions.Microversion,
) -> ClusterSummary:
    """Return a cluster as it stands in a list."""
    return ClusterSummary(**_summary_fields(cluster, groups, links, version))


def detail(
    cluster: Cluster,
    groups: Sequence[NodeGroup],
    template_labels: Mapping[str, str],
    links: Links,
    version: versions.Microversion,
) -> ClusterDetail:
    """Return a cluster with all that is known of it."""
    compared = label_rules.difference(template_labels, cluster.labels)
    row = cluster.model_dump(include=set(ClusterDetail.model_fields) - {"faults", "stack_id"})
    fields = row | _summary_fields(cluster, groups, links, version)
    return ClusterDetail(
        **fields,
        node_addresses=_addresses(groups, masters=False),
        master_addresses=_addresses(groups, masters=True),
        labels_overridden=compared.overridden,
        labels_added=compared.added,
        labels_skipped=compared.skipped,
    )


def with_faults(
    body: ClusterDetail, cluster: Cluster, groups: Sequence[NodeGroup]
) -> ClusterDetail:
    """Add why a failed cluster failed: what the backend said of its resources, or per group."""
    if not cluster.status.failed:
        return body
    per_group = {
        group.name: group.status_reason or ""
        for group in groups
        if group.status is not None and group.status.failed
    }
    return body.model_copy(update={"faults": cluster.faults or per_group})


def _summary_fields(
    cluster: Cluster,
    groups: Sequence[Sized],
    links: Links,
    version: versions.Microversion,
) -> dict[str, Any]:
    backend_id = "cluster_id" if version >= versions.CLUSTER_ID else "stack_id"
    return {
        **cluster.model_dump(include=set(ClusterSummary.model_fields) - {"stack_id"}),
        backend_id: cluster.stack_id,
        "node_count": sum(group.node_count for group in groups if group.role != MASTER),
        "master_count": sum(group.node_count for group in groups if group.role == MASTER),
        "links": links.resource("clusters", cluster.uuid),
    }


def _addresses(groups: Sequence[NodeGroup], *, masters: bool) -> list[str]:
    return [
        address
        for group in groups
        if (group.role == MASTER) is masters
        for address in group.node_addresses
    ]
