"""Kubernetes on servers that an engine makes: all that does not depend on the engine."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from jeroboam.drivers.base import (
    ClusterDriver,
    DriverContext,
    Phase,
    Poller,
    Progress,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsRebuild,
    Watch,
)
from jeroboam.drivers.heat import clients, leftovers, node_actions, remains, services
from jeroboam.drivers.kubernetes import contents, labels, moves
from jeroboam.drivers.kubernetes import health as kubernetes_health
from jeroboam.drivers.kubernetes.abilities import InstallsCloudPrograms
from jeroboam.drivers.kubernetes.checks import check
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.nodes import health, manifest, names
from jeroboam.drivers.nodes.cloud_config import CloudConfig
from jeroboam.drivers.nodes.documents import NodeDocument
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.servers import checks, failures, lookup, orders, outputs, wishes
from jeroboam.drivers.servers.engine import Engine, Job, Work, job_key
from jeroboam.drivers.servers.inventory import Inventory
from jeroboam.drivers.servers.orders import Order, Setup
from jeroboam.drivers.servers.wishes import Wish
from jeroboam.errors import NotFoundError
from jeroboam.models import ClusterOutputs, ClusterSpec, Health, Method, Node, NodeGroup

REMOVAL_MINUTES = 15
REBUILD_MINUTES = 60

_SIGNAL = f'{{"console": "{orders.REPORT}"}}\n'


class ServersDriver(
    ClusterDriver, SupportsNodeGroups, SupportsReboot, SupportsRebuild, InstallsCloudPrograms
):
    """A driver of Kubernetes clusters with one master, whose servers an engine makes.

    A driver has class attributes and names its engine. The nodes are set up by their user data
    and report on their console.

    Args:
        source: The engine's workflows or playbooks, and what the nodes are set up from.
        document: The format of user data that the system of the nodes understands.
        labels: The labels that the driver understands.
    """

    only_by_name = True
    source: ClassVar[Files]
    document: ClassVar[NodeDocument] = CloudConfig()
    labels: ClassVar[LabelTable] = labels.UBUNTU

    @abstractmethod
    def engine(self) -> Engine:
        """Return what does the work."""

    def files(self) -> Mapping[str, str]:
        """Return the driver's own files and those that it shares with others."""
        return self.source.texts()

    def files_for(self, context: DriverContext) -> Files:
        """Return the files from which the cluster of a call is built."""
        return self.source.at(context.folder) if context.folder else self.source

    def plan(self, spec: ClusterSpec, group: NodeGroup | None = None) -> KubernetesPlan:
        """Read a cluster's labels and template."""
        return KubernetesPlan.of(spec, group, self.labels)

    def validate(self, spec: ClusterSpec) -> None:
        """Check labels, addresses and combinations, and what an engine of servers cannot do."""
        check(self.plan, spec)
        for group in spec.node_groups:
            checks.check(self.plan(spec, group), group)

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Check that the group's labels are its own and not the cluster's."""
        moves.check_node_group(self.plan, spec, group)
        checks.check(self.plan(spec, group), group)

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Have all nodes made, and the network that they need."""
        wanted = wishes.of_cluster(spec)
        self._apply(context, spec, Method.CREATE_CLUSTER, wanted, spec.node_groups, timeout_minutes)
        return names.cluster_part(spec.cluster)

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Have nodes of a group made or removed until it has its size."""
        wanted = wishes.of_group(spec, group, nodes_to_remove)
        self._apply(context, spec, Method.UPDATE_CLUSTER, wanted, [group], timeout_minutes)

    def create_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> str:
        """Have the nodes of a further group made."""
        wanted = wishes.of_group(spec, group)
        self._apply(context, spec, Method.CREATE_NODE_GROUP, wanted, [group], timeout_minutes)
        return wishes.prefix_of(spec.cluster, group).rstrip("-")

    def delete_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup
    ) -> None:
        """Have all nodes of a group removed; the network stays."""
        self._apply(context, spec, Method.DELETE_NODE_GROUP, [], [group], REMOVAL_MINUTES)

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Have everything removed that carries the cluster's mark.

        What is still there when the engine has done its work is removed by this call itself.
        """
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        services.remove(connection, spec.cluster)
        mark = names.short_id(spec.cluster)
        job = self._job(
            context,
            spec,
            (Method.DELETE_CLUSTER, Work.DESTROY),
            lambda: orders.destroy(Inventory.read(connection, mark), mark, REMOVAL_MINUTES),
            REMOVAL_MINUTES,
        )
        if not self.engine().submit(context, job) and self.engine().has_done(
            context, spec.cluster, job.key
        ):
            leftovers.remove(connection, mark, frozenset).settle()

    def poller(self) -> Poller:
        """Return the engine's poller."""
        return self.engine().poller()

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read addresses and nodes from Nova and Neutron."""
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        there = Inventory.read(connection, names.short_id(spec.cluster))
        if not there.servers:
            raise NotFoundError(f"Cluster {spec.cluster.name} has no servers.")
        return outputs.read(self.plan(spec, spec.masters), there)

    def reboot_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node], *, hard: bool
    ) -> None:
        """Have Nova reboot the servers."""
        node_actions.reboot(context, spec, nodes, hard=hard)

    def check_rebuild(self, spec: ClusterSpec, nodes: Sequence[Node]) -> None:
        """Check that the state of the cluster survives."""
        masters = {node.name for node in spec.masters.nodes}
        if any(node.name in masters for node in nodes):
            moves.check_masters_can_be_replaced(self.plan, spec, "Rebuilding")

    def rebuild_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Have the servers rebuilt; ids, ports and addresses stay."""
        self.check_rebuild(spec, nodes)
        key = job_key(Method.REBUILD_NODES, context.idempotency_key)
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        mark = names.short_id(spec.cluster)

        def order() -> Order:
            there = Inventory.read(connection, mark).servers
            return orders.rebuild(there, nodes, mark, key, REBUILD_MINUTES)

        work = (Method.REBUILD_NODES, Work.REBUILD)
        self.engine().submit(context, self._job(context, spec, work, order, REBUILD_MINUTES))

    def check_health(self, context: DriverContext, spec: ClusterSpec) -> Health:
        """Ask Nova for the servers and the API whether it is ready."""

        def components(outputs: ClusterOutputs) -> health.Components:
            address = outputs.api_address or spec.cluster.api_address
            authority = context.read_secrets().kubernetes.trusted
            return kubernetes_health.components(address, authority)

        return health.checked(spec, lambda: self.read_outputs(context, spec), components)

    def explain_failure(
        self, context: DriverContext, spec: ClusterSpec, watch: Watch, progress: Progress
    ) -> Progress:
        """Name the servers that failed, with Nova's reason or their own."""
        if progress.phase is not Phase.FAILED or watch.method is Method.REBOOT_NODES:
            return progress
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        return failures.explain(connection, names.short_id(spec.cluster), progress)

    def find_leftovers(self, context: DriverContext, spec: ClusterSpec) -> Sequence[str]:
        """List what is still there and belongs to the cluster."""
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        found = remains.find(connection, None, spec.cluster)
        return [*found, *self.engine().leftovers(context, spec.cluster)]

    def _apply(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        method: Method,
        wanted: Sequence[Wish],
        groups: Sequence[NodeGroup],
        timeout_minutes: int,
    ) -> None:
        """Have a few groups get the nodes that are wanted."""

        def order() -> Order:
            connection = clients.connection(context.cloud, spec.cluster.trust_id)
            return orders.apply(
                self.plan(spec),
                lookup.place(connection, spec),
                Inventory.read(connection, names.short_id(spec.cluster)),
                wanted,
                self._setups(context, spec, wanted, lookup.Finder(connection)),
                groups,
                timeout_minutes,
            )

        job = self._job(context, spec, (method, Work.APPLY), order, timeout_minutes)
        self.engine().submit(context, job)

    def _setups(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        wanted: Sequence[Wish],
        finder: lookup.Finder,
    ) -> Mapping[str, Setup]:
        groups = {wish.group.uuid: wish.group for wish in wanted}
        return {uuid: self._setup(context, spec, group, finder) for uuid, group in groups.items()}

    def _setup(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, finder: lookup.Finder
    ) -> Setup:
        plan = self.plan(spec, group)
        texts = contents.generate(plan, context.read_secrets(), group)
        node = manifest.read(self.files_for(context), group.role, {**texts, "signal": _SIGNAL})
        return Setup(
            image=finder.image(plan.image_of(group)),
            flavor=finder.flavor(group.flavor_id or ""),
            user_data=self.document.render(node),
            version=plan.coe_version,
        )

    def _job(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        work: tuple[Method, Work],
        order: Callable[[], Order],
        timeout_minutes: int,
    ) -> Job:
        method, kind = work
        return Job(
            cluster=spec.cluster,
            work=kind,
            key=job_key(method, context.idempotency_key),
            files=self.files_for(context),
            order=order,
            timeout_minutes=timeout_minutes,
        )
