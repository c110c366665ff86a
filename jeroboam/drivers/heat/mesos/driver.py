"""Mesos with Marathon on Heat: all that does not depend on the nodes' operating system."""

from contextlib import AbstractContextManager
from typing import ClassVar

from jeroboam.drivers.base import ClusterSecrets, DriverContext, SupportsMonitor
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.mesos import api, contents, health, labels, monitor, moves, scale
from jeroboam.drivers.mesos.leader import leading
from jeroboam.drivers.mesos.plan import MesosPlan
from jeroboam.drivers.nodes.drains import DrainsByApi, Scale
from jeroboam.drivers.nodes.health import Components
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.monitoring import Observation


class MesosHeatDriver(CoeHeatDriver, SupportsCoeApi, SupportsMonitor, DrainsByApi):
    """A Heat driver whose nodes become masters and agents of Mesos."""

    labels: ClassVar[LabelTable] = labels.TABLE
    scale: ClassVar[Scale] = scale

    @property
    def coe_api(self) -> CoeApi:
        """The routes about apps."""
        return api.MESOS_API

    def plan(self, spec: ClusterSpec, group: NodeGroup | None = None) -> MesosPlan:
        """Read a cluster's labels and template."""
        return MesosPlan.of(spec, group, self.labels)

    def contents(self, spec: ClusterSpec, group: NodeGroup, secrets: ClusterSecrets) -> Contents:
        """Return the texts that the manifest may name."""
        return contents.generate(self.plan(spec, group), secrets, group)

    def components(
        self, context: DriverContext, spec: ClusterSpec, api_address: str | None
    ) -> Components:
        """Ask a master of Mesos and Marathon whether they are there."""
        _ = spec
        return health.components(api_address, context.read_secrets())

    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        """Add what tasks hold to the health."""
        known = self.check_health(context, spec)
        return monitor.observe(spec, context.read_secrets(), known)

    def api_of(
        self, context: DriverContext, spec: ClusterSpec
    ) -> AbstractContextManager[EngineApi]:
        """Return the API of the master that leads."""
        return leading(spec, context.read_secrets())

    def validate(self, spec: ClusterSpec) -> None:
        """Check labels, addresses and combinations."""
        moves.check(self.plan, self.plan(spec))

    def check_resize(self, spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
        """Check that it is not the masters whose number shall change."""
        _ = spec, node_count
        moves.check_resize(group)

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Check that the group's labels are its own and not the cluster's."""
        moves.check_node_group(self.plan, spec, group)

    def check_upgrade(self, spec: ClusterSpec, target: ClusterSpec) -> None:
        """Check versions, and that nothing is asked for that an upgrade cannot do."""
        moves.check_upgrade(self.plan, spec, target)

    def check_masters(self, spec: ClusterSpec, what: str) -> None:
        """Check that the state of ZooKeeper and Mesos survives."""
        moves.check_masters_can_be_replaced(spec, what)
