"""A driver that pretends, for trying Jeroboam without a cloud and for fault injection.

Clusters are files in a directory, so they outlive the process and a test can count them. Labels
of the cluster say how the pretended backend behaves; the table is in ``docs/fake-driver.md``.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from jeroboam import settings
from jeroboam.drivers import folders
from jeroboam.drivers.base import (
    ClusterDriver,
    DriverContext,
    Poller,
    Provides,
    SupportsCertificateRotation,
    SupportsCredentialRotation,
    SupportsHealth,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.drivers.fake import changes, labels, node_setup, reading, version
from jeroboam.drivers.fake.backend import CLUSTER, FakeBackend, Request
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.labels import FakeCall
from jeroboam.drivers.fake.poller import FakePoller
from jeroboam.drivers.fake.records import Change
from jeroboam.errors import BackendFailedError, InvalidRequestError
from jeroboam.models import (
    ClusterOutputs,
    ClusterSpec,
    ClusterTemplate,
    Health,
    Method,
    Node,
    NodeGroup,
)
from jeroboam.models.cluster import MASTER

Plan = Callable[[FakeCluster], list[Change]]


class FakeDriver(
    ClusterDriver,
    SupportsNodeGroups,
    SupportsUpgrade,
    SupportsReboot,
    SupportsRebuild,
    SupportsHealth,
    SupportsCredentialRotation,
    SupportsCertificateRotation,
):
    """Pretends to build Kubernetes on the made-up distribution ``fake``.

    Args:
        directory: Where the clusters' files live; by default within the state directory.
    """

    name: ClassVar[str] = version.Driver
    version: ClassVar[str] = version.version
    uses_cloud: ClassVar[bool] = False

    def __init__(self, directory: Path | None = None) -> None:
        self._backend = FakeBackend(directory or settings.load().state_directory / "fake")

    @property
    def provides(self) -> Sequence[Provides]:
        """Kubernetes on ``fake`` virtual machines."""
        return (Provides(server_type="vm", os="fake", coe="kubernetes"),)

    def validate(self, spec: ClusterSpec) -> None:
        """Refuse labels that are not in the table, or have a wrong type."""
        labels.parse(spec.labels)

    def check_installation(self) -> None:
        """Read the templates."""
        node_setup.read(folders.templates_of(type(self)))

    def validate_template(self, template: ClusterTemplate) -> None:
        """Refuse labels that are not in the table, or have a wrong type."""
        labels.parse(template.labels)

    def check_resize(self, spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
        """Refuse a control plane without a majority."""
        if group.role == MASTER and node_count % 2 == 0:
            raise InvalidRequestError(
                f"The control plane needs an odd number of nodes, and {node_count} is even: "
                f"choose {node_count + 1}."
            )

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Refuse a second control plane, and labels that are not valid."""
        labels.parse({**spec.labels, **group.labels})
        if group.role == MASTER and not group.is_default:
            raise InvalidRequestError("A fake cluster has one control plane, default-master.")

    def check_upgrade(self, spec: ClusterSpec, target: ClusterSpec) -> None:
        """Compare the versions of each group before and after."""
        control_plane = changes.version_of(target, target.masters)
        for group in target.node_groups:
            old, new = (
                changes.version_of(spec, spec.group(group.uuid)),
                changes.version_of(target, group),
            )
            if old != new:
                labels.check_versions(f"Node group {group.name}", old, new)
                if labels.is_newer(new, control_plane):
                    raise InvalidRequestError(
                        f"Node group {group.name} cannot be newer ({new}) than the control plane "
                        f"({control_plane}): upgrade the cluster first."
                    )

    def check_rebuild(self, spec: ClusterSpec, nodes: Sequence[Node]) -> None:
        """Permit it: pretended nodes have nothing to lose."""

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Begin to build all node groups."""
        setup = self._setup(context)
        return self._submit(
            *(context, spec, Method.CREATE_CLUSTER, CLUSTER),
            lambda cluster: changes.building(cluster, spec, spec.node_groups, setup),
        )

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Begin to add or remove nodes of a group."""
        self._require(spec, group)
        setup = self._setup(context)
        self._submit(
            *(context, spec, Method.UPDATE_CLUSTER, group.uuid),
            lambda cluster: changes.resizing(cluster, spec, group, nodes_to_remove, setup),
        )

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Begin the removal of everything; nothing there is success."""
        self._submit(
            *(context, spec, Method.DELETE_CLUSTER, CLUSTER),
            lambda cluster: changes.removing(cluster, tuple(cluster.groups)),
        )

    def create_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> str:
        """Begin to build one more group."""
        self._require(spec)
        setup = self._setup(context)
        self._submit(
            *(context, spec, Method.CREATE_NODE_GROUP, group.uuid),
            lambda cluster: changes.building(cluster, spec, (group,), setup),
        )
        return f"fake-{group.uuid}"

    def delete_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup
    ) -> None:
        """Begin to remove a group; none is success."""
        if group.uuid in self._backend.read(spec.cluster.uuid).groups:
            self._submit(
                *(context, spec, Method.DELETE_NODE_GROUP, group.uuid),
                lambda cluster: changes.removing(cluster, (group.uuid,)),
            )

    def upgrade_node_group(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        batch_size: int | None,
        timeout_minutes: int,
    ) -> None:
        """Begin to replace a group's nodes, each under its name and address."""
        self._require(spec, group)
        setup = self._setup(context)
        self._submit(
            *(context, spec, Method.UPGRADE_NODE_GROUP, group.uuid),
            lambda cluster: changes.upgrading(cluster, spec, group, setup),
            batch_size,
        )

    def reboot_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node], *, hard: bool
    ) -> None:
        """Begin to reboot nodes, one after the other."""
        self._require(spec)
        key = context.idempotency_key
        self._submit(
            *(context, spec, Method.REBOOT_NODES, key),
            lambda cluster: changes.rebooting(cluster, nodes, key),
        )

    def rebuild_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Begin to rebuild nodes, one after the other."""
        self._require(spec)
        key, setup = context.idempotency_key, self._setup(context)
        self._submit(
            *(context, spec, Method.REBUILD_NODES, key),
            lambda cluster: changes.rebuilding(cluster, nodes, key, setup),
        )

    def rotate_credential(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup | None,
        former_trust_ids: Sequence[str],
        timeout_minutes: int,
    ) -> None:
        """Note the credential; it opens nothing here."""
        self._require(spec, group)
        trust_id = spec.cluster.trust_id
        self._submit(
            *(context, spec, Method.ROTATE_CREDENTIAL, group.uuid if group else CLUSTER),
            lambda cluster: changes.handing_over(cluster, trust_id),
        )

    def check_certificate_rotation(self, spec: ClusterSpec) -> None:
        """Permit it: pretended nodes have nothing to lose."""

    def renew_certificates(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        batch_size: int | None,
        timeout_minutes: int,
    ) -> None:
        """Begin to renew a group's nodes, one after the other."""
        self._require(spec, group)
        authorities = node_setup.authorities(context.read_secrets())
        self._submit(
            *(context, spec, Method.RENEW_CERTIFICATES, group.uuid),
            lambda cluster: changes.renewing(cluster, group, authorities),
            batch_size,
        )

    def poller(self) -> Poller:
        """Return a poller of the directory."""
        return FakePoller(self._backend)

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Return the nodes, with addresses from the range that is reserved for documentation."""
        return reading.outputs(self._ask(context, spec, FakeCall.READ_OUTPUTS), spec)

    def check_health(self, context: DriverContext, spec: ClusterSpec) -> Health:
        """Return what a label asks for, or how the nodes are."""
        cluster = self._ask(context, spec, FakeCall.CHECK_HEALTH)
        return reading.health(cluster, self._behaviour(spec))

    def find_leftovers(self, context: DriverContext, spec: ClusterSpec) -> Sequence[str]:
        """Return the nodes that are there, and the volumes that a label made stay behind."""
        return reading.leftovers(self._backend.read(spec.cluster.uuid))

    def _submit(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        method: Method,
        target: str,
        plan: Plan,
        batch: int | None = 1,
    ) -> str:
        return self._backend.submit(
            Request(
                uuid=spec.cluster.uuid,
                method=method,
                key=context.idempotency_key,
                labels=self._behaviour(spec),
                target=target,
                plan=plan,
                batch=batch,
            )
        )

    def _ask(self, context: DriverContext, spec: ClusterSpec, call: FakeCall) -> FakeCluster:
        behaviour = self._behaviour(spec)
        self._backend.answer(spec.cluster.uuid, call, context.idempotency_key, behaviour)
        if behaviour.fake_fail == call:
            raise BackendFailedError(behaviour.fake_fail_reason)
        return self._backend.read(spec.cluster.uuid)

    def _setup(self, context: DriverContext) -> str:
        return node_setup.read(context.folder or folders.templates_of(type(self)))

    def _behaviour(self, spec: ClusterSpec) -> labels.Labels:
        return self._backend.behaviour(spec.cluster.uuid, spec.labels)

    def _require(self, spec: ClusterSpec, group: NodeGroup | None = None) -> None:
        """Raise ``BackendFailedError`` if there is nothing to change."""
        cluster = self._backend.read(spec.cluster.uuid)
        if not cluster.exists or (group and group.uuid not in cluster.groups):
            what = f"node group {group.name}" if group and cluster.exists else "cluster"
            raise BackendFailedError(f"The fake {what} does not exist, so it cannot be changed.")
