"""Kubernetes on Heat: all that does not depend on the operating system of the nodes."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from jeroboam.drivers.base import (
    DriverContext,
    SupportsHealth,
    SupportsNodeGroups,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.drivers.heat import driver as heat
from jeroboam.drivers.heat import node_actions, nodes, submission
from jeroboam.drivers.heat.kubernetes import health, moves, names, setups
from jeroboam.drivers.heat.kubernetes.checks import check
from jeroboam.drivers.heat.kubernetes.mappings import GROUP_NODES
from jeroboam.drivers.heat.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.heat.kubernetes.setups import Setup
from jeroboam.drivers.heat.placement import cluster_stack, place
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.heat.template_definition import Facts, TemplateDefinition
from jeroboam.errors import CloudUnavailableError, InvalidRequestError, NotFoundError
from jeroboam.models import ClusterOutputs, ClusterSpec, Health, Node, NodeGroup
from jeroboam.models.cluster import MASTER

# Nodes get a little less time than the stack, so that the stack's failure names them.
_MARGIN_SECONDS = 60
_LONGEST_WAIT_SECONDS = 43200


class KubernetesHeatDriver(
    heat.HeatDriver, SupportsNodeGroups, SupportsUpgrade, SupportsRebuild, SupportsHealth
):
    """A Heat driver whose template folder holds an Ignition manifest."""

    group_definition: ClassVar[TemplateDefinition]

    def validate(self, spec: ClusterSpec) -> None:
        """Check labels, addresses and combinations."""
        check(KubernetesPlan.of(spec))

    def facts(self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int) -> Facts:
        """Return the basic facts, the typed labels, what follows from them and the set-ups."""
        plan = KubernetesPlan.of(spec)
        workers = plan.workers
        return {
            **super().facts(context, spec, timeout_minutes),
            "labels": plan.labels,
            "plan": plan,
            "names": {
                "cluster": names.cluster_part(spec.cluster),
                "workers": names.group_part(workers) if workers else "worker",
            },
            "limits": {"ready_seconds": ready_seconds(timeout_minutes)},
            "master_setup": self.setup(context, spec, spec.masters),
            "worker_setup": self.setup(context, spec, workers) if workers else setups.nobody(spec),
        }

    def setup(self, context: DriverContext, spec: ClusterSpec, group: NodeGroup) -> Setup:
        """Return what the nodes of a group are set up from."""
        return setups.render(self.definition.folder, spec, group, context.read_secrets())

    def observe(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read the addresses from the stacks; the versions are those that were ordered."""
        plan = KubernetesPlan.of(spec, spec.masters)
        versions = {
            "coe_version": plan.coe_version,
            "container_version": plan.labels["containerd_version"],
        }
        return super().observe(context, spec).model_copy(update=versions)

    def check_resize(self, spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
        """Check that etcd can bear the size."""
        moves.check_resize(spec, group, node_count)

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Check that the group's labels are its own and not the cluster's."""
        moves.check_node_group(spec, group)

    def create_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> str:
        """Create the group's stack in the network of the cluster's."""
        stacks = heat.stacks_of(context, spec)
        found = submission.required(stacks, cluster_stack(spec))
        plan = KubernetesPlan.of(spec, group)
        facts = {
            "cluster": spec.cluster,
            "group": group,
            "group_name": names.group_part(group),
            "names": {"cluster": names.cluster_part(spec.cluster)},
            "labels": plan.labels,
            "plan": plan,
            "limits": {"ready_seconds": ready_seconds(timeout_minutes)},
            "setup": self.setup(context, spec, group),
            "outputs": stacks.outputs(found.id),
        }
        where = place(spec, group)
        return heat.create(context, spec, where, self.group_definition, facts, timeout_minutes)

    def delete_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup
    ) -> None:
        """Delete the group's stack."""
        stacks = heat.stacks_of(context, spec)
        found = submission.find(stacks, place(spec, group))
        if found is not None:
            heat.delete(context, spec, stacks, found)
            return
        mark = f"{names.cluster_part(spec.cluster)}-{names.group_part(group)}"
        heat.remove_leftovers(context, spec, stacks, mark).settle()

    def read_groups(
        self, stacks: Stacks, spec: ClusterSpec, servers: Mapping[str, Any]
    ) -> dict[str, tuple[Node, ...]]:
        """Return the nodes of groups that have a stack of their own."""
        found: dict[str, tuple[Node, ...]] = {}
        for group in spec.workers:
            where = place(spec, group)
            if where.group is None:
                continue
            try:
                outputs = stacks.outputs(where.stack_id or where.name)
            except NotFoundError:
                continue
            found[group.uuid] = nodes.read(outputs.get(GROUP_NODES), servers)
        return found

    def check_upgrade(self, spec: ClusterSpec, target: ClusterSpec) -> None:
        """Check versions, and that nothing is asked for that an upgrade cannot do."""
        moves.check_upgrade(spec, target)

    def upgrade_node_group(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        batch_size: int | None,
        timeout_minutes: int,
    ) -> None:
        """Have Heat replace the servers in batches; ports, addresses and volumes stay.

        A group that has been set up so already is left as it is.
        """
        stacks, where = heat.stacks_of(context, spec), place(spec, group)
        found = submission.required(stacks, where)
        if submission.settled(stacks, found, context.idempotency_key):
            return
        setup = self.setup(context, spec, group)
        release = where.read(found.parameters, "release")
        slot = setups.next_slot(where.read(found.parameters, "slot"), release, setup.release)
        values = {**setup.parameters(), "slot": slot}
        if group.role != MASTER:
            values["batch"] = batch_size or max(1, group.node_count)
        elif release != setup.release:
            moves.check_masters_can_be_replaced(spec, "Upgrading")
        heat.change(context, spec, where, found, values, timeout_minutes)

    def check_rebuild(self, spec: ClusterSpec, nodes: Sequence[Node]) -> None:
        """Check that the state of the cluster survives."""
        moves.check_rebuild(spec, nodes)

    def rebuild_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Have Nova rebuild the servers; ids, ports, addresses and volumes stay."""
        self.check_rebuild(spec, nodes)
        groups = {node.name: group for group in spec.node_groups for node in group.nodes}
        masters = [one for one in nodes if one.name in groups and groups[one.name].role == MASTER]
        if len(masters) > 1:
            raise InvalidRequestError(
                "Masters are rebuilt one at a time, or etcd would lose its majority."
            )
        plan = KubernetesPlan.of(spec)
        images = [plan.image_of(groups.get(node.name, spec.masters)) for node in nodes]
        node_actions.rebuild(context, spec, list(zip(nodes, images, strict=True)))

    def check_health(self, context: DriverContext, spec: ClusterSpec) -> Health:
        """Ask Nova for the servers and the API whether it is ready."""
        recorded = tuple(node for group in spec.node_groups for node in group.nodes)
        try:
            outputs = self.observe(context, spec)
        except (CloudUnavailableError, NotFoundError) as error:
            return health.silent(error.message, recorded)
        listed = tuple(node for group in outputs.nodes.values() for node in group)
        address = outputs.api_address or spec.cluster.api_address
        return health.check(address, context.read_secrets().kubernetes.certificate, listed)


def ready_seconds(timeout_minutes: int) -> int:
    """Return how long Heat waits for the nodes; 0 minutes means no limit."""
    if timeout_minutes <= 0:
        return _LONGEST_WAIT_SECONDS
    seconds = timeout_minutes * 60
    return min(max(seconds - _MARGIN_SECONDS, seconds // 2), _LONGEST_WAIT_SECONDS)
