"""Kubernetes on Heat: all that does not depend on the operating system of the nodes."""

from typing import ClassVar

from jeroboam.drivers.base import (
    ClusterSecrets,
    DriverContext,
    SupportsCertificateRotation,
)
from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.kubernetes import contents, health, labels, moves
from jeroboam.drivers.kubernetes.abilities import InstallsCloudPrograms
from jeroboam.drivers.kubernetes.checks import check
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.nodes.health import Components
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.models import ClusterSpec, NodeGroup


class KubernetesHeatDriver(CoeHeatDriver, InstallsCloudPrograms, SupportsCertificateRotation):
    """A Heat driver whose nodes are made Kubernetes by kubeadm."""

    labels: ClassVar[LabelTable] = labels.TABLE

    def plan(self, spec: ClusterSpec, group: NodeGroup | None = None) -> KubernetesPlan:
        """Read a cluster's labels and template."""
        return KubernetesPlan.of(spec, group, self.labels)

    def contents(self, spec: ClusterSpec, group: NodeGroup, secrets: ClusterSecrets) -> Contents:
        """Return the texts that the manifest may name."""
        return contents.generate(self.plan(spec, group), secrets, group)

    def kernel_arguments(self, spec: ClusterSpec, group: NodeGroup) -> tuple[str, ...]:
        """Return what SELinux's mode asks of the kernel, where Ignition can tell it."""
        return contents.kernel_arguments(self.plan(spec, group))

    def components(
        self, context: DriverContext, spec: ClusterSpec, api_address: str | None
    ) -> Components:
        """Ask the API whether it is ready."""
        return health.components(api_address, context.read_secrets().kubernetes.trusted)

    def validate(self, spec: ClusterSpec) -> None:
        """Check labels, addresses and combinations."""
        check(self.plan, spec)

    def check_resize(self, spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
        """Check that etcd can bear the size."""
        moves.check_resize(spec, group, node_count)

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Check that the group's labels are its own and not the cluster's."""
        moves.check_node_group(self.plan, spec, group)

    def check_upgrade(self, spec: ClusterSpec, target: ClusterSpec) -> None:
        """Check versions, and that nothing is asked for that an upgrade cannot do."""
        moves.check_upgrade(self.plan, spec, target)

    def check_certificate_rotation(self, spec: ClusterSpec) -> None:
        """Check that etcd keeps a majority, and its data, while masters are replaced."""
        self.check_masters(spec, "Replacing")

    def renew_certificates(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        batch_size: int | None,
        timeout_minutes: int,
    ) -> None:
        """Replace the servers in batches, as an upgrade does: nodes get certificates as user data.

        Its digest tells which have them.
        """
        self.upgrade_node_group(context, spec, group, batch_size, timeout_minutes)

    def check_masters(self, spec: ClusterSpec, what: str) -> None:
        """Check that etcd keeps a majority, and its data."""
        moves.check_masters_can_be_replaced(self.plan, spec, what)
