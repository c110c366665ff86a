"""Clusters, their node groups and the templates they are made from.

Fields, defaults and status words are those of Magnum's API v1, so that a row can be shown to a
Magnum client without translation.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from jeroboam.errors import NotFoundError
from jeroboam.models.base import Model, new_uuid, utc_now

MASTER = "master"
WORKER = "worker"


class Status(StrEnum):
    """Magnum's status words of a cluster or a node group."""

    CREATE_IN_PROGRESS = "CREATE_IN_PROGRESS"
    CREATE_COMPLETE = "CREATE_COMPLETE"
    CREATE_FAILED = "CREATE_FAILED"
    UPDATE_IN_PROGRESS = "UPDATE_IN_PROGRESS"
    UPDATE_COMPLETE = "UPDATE_COMPLETE"
    UPDATE_FAILED = "UPDATE_FAILED"
    DELETE_IN_PROGRESS = "DELETE_IN_PROGRESS"
    DELETE_COMPLETE = "DELETE_COMPLETE"
    DELETE_FAILED = "DELETE_FAILED"
    ROLLBACK_IN_PROGRESS = "ROLLBACK_IN_PROGRESS"
    ROLLBACK_COMPLETE = "ROLLBACK_COMPLETE"
    ROLLBACK_FAILED = "ROLLBACK_FAILED"

    @property
    def in_progress(self) -> bool:
        """Whether an operation is still at work."""
        return self.endswith("_IN_PROGRESS")

    @property
    def failed(self) -> bool:
        """Whether the last operation ended badly."""
        return self.endswith("_FAILED")


class HealthStatus(StrEnum):
    """Magnum's health words."""

    HEALTHY = "HEALTHY"
    UNHEALTHY = "UNHEALTHY"
    UNKNOWN = "UNKNOWN"


class ClusterTemplate(Model):
    """What a tenant's clusters are made from."""

    uuid: str = Field(default_factory=new_uuid)
    name: str
    project_id: str
    user_id: str
    coe: str
    image_id: str
    cluster_distro: str | None = None
    server_type: str = "vm"
    driver: str | None = None
    flavor_id: str | None = None
    master_flavor_id: str | None = None
    keypair_id: str | None = None
    external_network_id: str | None = None
    fixed_network: str | None = None
    fixed_subnet: str | None = None
    dns_nameserver: str | None = "8.8.8.8"
    network_driver: str | None = None
    volume_driver: str | None = None
    apiserver_port: int | None = None
    docker_volume_size: int | None = None
    docker_storage_driver: str | None = None
    http_proxy: str | None = None
    https_proxy: str | None = None
    no_proxy: str | None = None
    insecure_registry: str | None = None
    registry_enabled: bool = False
    tls_disabled: bool = False
    public: bool = False
    hidden: bool = False
    tags: str | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    master_lb_enabled: bool = False
    floating_ip_enabled: bool = True
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None


class Node(Model):
    """One machine of a cluster, as the backend reported it last.

    Args:
        name: Unique in the cluster and the same after a rebuild.
        id: The backend's id, for example of the Nova server.
        status: The backend's word for its state, for example Nova's ``ACTIVE``.
        version: Version of the COE that it was set up with.
    """

    name: str
    id: str
    status: str = "ACTIVE"
    addresses: tuple[str, ...] = ()
    version: str | None = None


class NodeGroup(Model):
    """Nodes of one kind within a cluster.

    Args:
        vcpus: CPUs of one node, by its flavor when the group was asked for; ``None`` if that is
            not known. Quotas count with it.
    """

    id: int | None = None
    uuid: str = Field(default_factory=new_uuid)
    name: str
    cluster_id: str
    project_id: str
    role: str = WORKER
    is_default: bool = False
    flavor_id: str | None = None
    vcpus: int | None = None
    image_id: str | None = None
    docker_volume_size: int | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    merge_labels: bool = False
    node_labels: Mapping[str, str] = Field(default_factory=dict)
    node_taints: tuple[Mapping[str, str], ...] = ()
    node_count: int = 1
    min_node_count: int = 0
    max_node_count: int | None = None
    node_addresses: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    stack_id: str | None = None
    status: Status | None = None
    status_reason: str | None = None
    version: str | None = None
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None

    @property
    def built(self) -> bool:
        """Whether the backend has it; the row of a create that failed is kept to tell why."""
        return self.status not in {Status.CREATE_IN_PROGRESS, Status.CREATE_FAILED}


class Cluster(Model):
    """A tenant's cluster, as the read model holds it.

    Args:
        stack_id: Backend id, free text written by the driver (Magnum's name for the column).
        driver: Name of the driver that built the cluster.
        driver_version: Version of the driver that built the cluster, or that an upgrade moved it
            to.
        driver_files: Digest of the driver's files that the cluster is built from; ``None`` if the
            driver has none.
        cloud: Name of the cloud (an entry of ``clouds.yaml``) on which it lives.
        trust_id: Keystone trust with which the worker acts for the owner. It is no secret: only
            the service user, the trustee, can use it.
        operation_id: The operation that wrote the row last, or writes it now.
    """

    uuid: str = Field(default_factory=new_uuid)
    name: str
    project_id: str
    user_id: str
    cluster_template_id: str
    keypair: str | None = None
    flavor_id: str | None = None
    master_flavor_id: str | None = None
    docker_volume_size: int | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    merge_labels: bool = False
    create_timeout: int = 60
    discovery_url: str | None = None
    fixed_network: str | None = None
    fixed_subnet: str | None = None
    floating_ip_enabled: bool = True
    master_lb_enabled: bool = False
    stack_id: str | None = None
    status: Status = Status.CREATE_IN_PROGRESS
    status_reason: str | None = None
    health_status: HealthStatus | None = None
    health_status_reason: Mapping[str, str] = Field(default_factory=dict)
    api_address: str | None = None
    coe_version: str | None = None
    container_version: str | None = None
    faults: Mapping[str, str] = Field(default_factory=dict)
    driver: str
    driver_version: str
    driver_files: str | None = None
    cloud: str
    trust_id: str | None = None
    operation_id: str | None = None
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None


class ClusterSpec(Model):
    """All that a driver may know about a cluster: the input of every driver method."""

    cluster: Cluster
    template: ClusterTemplate
    node_groups: tuple[NodeGroup, ...]

    @property
    def masters(self) -> NodeGroup:
        """The one group with the control plane."""
        return next(group for group in self.node_groups if group.role == MASTER)

    @property
    def workers(self) -> tuple[NodeGroup, ...]:
        """All groups but the control plane, the default one first."""
        groups = [group for group in self.node_groups if group.role != MASTER]
        return tuple(sorted(groups, key=lambda group: not group.is_default))

    def group(self, ident: str) -> NodeGroup:
        """Return the group with a uuid or name.

        Raises:
            NotFoundError: There is none.
        """
        # Names are free: one may be the uuid of another group, which must not hide behind it.
        named = {group.name: group for group in self.node_groups}
        found = {**named, **{group.uuid: group for group in self.node_groups}}
        if ident not in found:
            raise NotFoundError(f"Node group {ident} could not be found.")
        return found[ident]

    def nodes(self, names: Sequence[str]) -> tuple[Node, ...]:
        """Return the nodes with these names, in this order.

        Raises:
            NotFoundError: One is not there; the message names those that are.
        """
        known = {node.name: node for group in self.node_groups for node in group.nodes}
        missing = [name for name in names if name not in known]
        if missing:
            there = ", ".join(known) or "none known"
            raise NotFoundError(f"No such node: {', '.join(missing)}. The cluster has: {there}.")
        return tuple(known[name] for name in names)

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels in force. The API merges the template's in before the row is written."""
        return self.cluster.labels


class ClusterOutputs(Model):
    """What a driver reports of a cluster that is up; holds no secret.

    Args:
        api_address: URL of the COE's API.
        node_addresses: Addresses by node-group uuid.
        nodes: The machines by node-group uuid; a driver that names none offers no operation on
            single nodes.
    """

    api_address: str | None = None
    coe_version: str | None = None
    container_version: str | None = None
    discovery_url: str | None = None
    node_addresses: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    nodes: Mapping[str, tuple[Node, ...]] = Field(default_factory=dict)


class Health(Model):
    """What a check of a cluster found.

    Args:
        reasons: By component or node, in words; Magnum's ``health_status_reason``.
    """

    status: HealthStatus
    reasons: Mapping[str, str] = Field(default_factory=dict)
