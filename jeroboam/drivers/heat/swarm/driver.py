"""Docker Swarm on Heat: all that does not depend on the operating system of the nodes."""

from typing import ClassVar

from jeroboam.drivers.base import ClusterSecrets, DriverContext, SupportsMonitor
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.docker.checks import check_node_group
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.nodes.drains import DrainsByApi, Scale
from jeroboam.drivers.nodes.health import Components
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.drivers.swarm import api, contents, health, labels, monitor, moves, scale
from jeroboam.drivers.swarm.plan import SwarmPlan
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.monitoring import Observation


class SwarmHeatDriver(CoeHeatDriver, SupportsCoeApi, SupportsMonitor, DrainsByApi):
    """A Heat driver whose nodes become managers and workers of one swarm."""

    labels: ClassVar[LabelTable] = labels.TABLE
    scale: ClassVar[Scale] = scale

    @property
    def coe_api(self) -> CoeApi:
        """The routes about services and nodes."""
        return api.SWARM_API

    def plan(self, spec: ClusterSpec, group: NodeGroup | None = None) -> SwarmPlan:
        """Read a cluster's labels and template."""
        return SwarmPlan.of(spec, group, self.labels)

    def contents(self, spec: ClusterSpec, group: NodeGroup, secrets: ClusterSecrets) -> Contents:
        """Return the texts that the manifest may name."""
        return contents.generate(self.plan(spec, group), secrets, group)

    def components(
        self, context: DriverContext, spec: ClusterSpec, api_address: str | None
    ) -> Components:
        """Ask Docker on a manager whether it is there, and whether the managers agree."""
        names = [node.name for group in spec.node_groups for node in group.nodes]
        return health.components(api_address, context.read_secrets(), names)

    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        """Add what tasks have reserved to the health."""
        known = self.check_health(context, spec)
        return monitor.observe(spec.cluster.api_address, context.read_secrets(), known)

    def api_of(self, context: DriverContext, spec: ClusterSpec) -> EngineApi:
        """Return Docker's API on a manager."""
        return EngineApi.of(spec.cluster.api_address, context.read_secrets())

    def validate(self, spec: ClusterSpec) -> None:
        """Check labels, addresses and combinations."""
        moves.check(self.plan, self.plan(spec))

    def check_resize(self, spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
        """Check that the managers keep a majority."""
        moves.check_resize(spec, group, node_count)

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Check that the group's labels are its own and not the cluster's."""
        check_node_group(self.plan, spec, group)

    def check_upgrade(self, spec: ClusterSpec, target: ClusterSpec) -> None:
        """Check versions, and that nothing is asked for that an upgrade cannot do."""
        moves.check_upgrade(self.plan, spec, target)

    def check_masters(self, spec: ClusterSpec, what: str) -> None:
        """Check that the managers' state survives."""
        moves.check_managers_can_be_replaced(spec, what)
