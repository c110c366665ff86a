"""Clusters of masters and workers on Heat: all that depends neither on COE nor system."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from jeroboam.drivers.base import (
    CloudAccount,
    ClusterSecrets,
    DriverContext,
    SupportsHealth,
    SupportsNodeGroups,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.drivers.heat import driver as heat
from jeroboam.drivers.heat import node_actions, nodes, setups, submission
from jeroboam.drivers.heat.mappings import GROUP_NODES
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.placement import cluster_stack, place
from jeroboam.drivers.heat.renewal import Renewal
from jeroboam.drivers.heat.setups import Setup
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.heat.template_definition import Facts, TemplateDefinition
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.nodes import health, manifest, names
from jeroboam.drivers.nodes.documents import NodeDocument
from jeroboam.drivers.nodes.manifest import Contents
from jeroboam.drivers.nodes.plan import NodePlan
from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import (
    ClusterOutputs,
    ClusterSpec,
    ClusterTemplate,
    Health,
    Node,
    NodeGroup,
)
from jeroboam.models.cluster import MASTER

# Nodes get a little less time than the stack, so that the stack's failure names them.
_MARGIN_SECONDS = 60
_LONGEST_WAIT_SECONDS = 43200

_ANY_ACCOUNT = CloudAccount(auth_url="", user_id="", password="", trust_id="")


class CoeHeatDriver(
    heat.HeatDriver, SupportsNodeGroups, SupportsUpgrade, SupportsRebuild, SupportsHealth
):
    """A Heat driver of masters and workers that set themselves up at their first boot.

    A family of drivers, one for each COE, says how a cluster is planned, what its nodes' files
    hold and which changes it bears. A driver of the family has class attributes only.

    Args:
        group_definition: Template of a further node group.
        document: The format of user data that the system of the nodes understands.
        labels: The labels that the driver understands.
    """

    group_definition: ClassVar[TemplateDefinition]
    document: ClassVar[NodeDocument]
    labels: ClassVar[LabelTable]

    @abstractmethod
    def plan(self, spec: ClusterSpec, group: NodeGroup | None = None) -> NodePlan:
        """Read a cluster's labels and template.

        Args:
            group: Whose labels override those of the cluster.

        Raises:
            InvalidRequestError: A label or field is not understood.
        """

    @abstractmethod
    def contents(self, spec: ClusterSpec, group: NodeGroup, secrets: ClusterSecrets) -> Contents:
        """Return the texts that the manifest may name, for nodes of a group."""

    @abstractmethod
    def check_masters(self, spec: ClusterSpec, what: str) -> None:
        """Refuse to set masters up anew where that would lose the cluster's state.

        Args:
            what: The beginning of the message, as ``Upgrading``.
        """

    @abstractmethod
    def components(
        self, context: DriverContext, spec: ClusterSpec, api_address: str | None
    ) -> health.Components:
        """Ask the parts of the control plane how they are, by their names."""

    def kernel_arguments(self, spec: ClusterSpec, group: NodeGroup) -> tuple[str, ...]:
        """Return what the kernel of a group's nodes is told, where the document can tell it."""
        _ = spec, group
        return ()

    def facts(self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int) -> Facts:
        """Return the basic facts, the typed labels, what follows from them and the set-ups."""
        plan = self.plan(spec)
        workers = plan.workers
        return {
            **super().facts(context, spec, timeout_minutes),
            **self._common_facts(plan, timeout_minutes),
            "names": {
                "cluster": names.cluster_part(spec.cluster),
                "workers": names.group_part(workers) if workers else "worker",
            },
            "master_setup": self.setup(context, spec, spec.masters),
            "worker_setup": self.setup(context, spec, workers) if workers else _nobody(plan),
        }

    def setup(self, context: DriverContext, spec: ClusterSpec, group: NodeGroup) -> Setup:
        """Return what the nodes of a group are set up from."""
        plan, secrets = self.plan(spec, group), context.read_secrets()
        user_data = self._user_data(context, spec, group, secrets)
        # Another account is handed over to the cluster; no node is set up anew for it.
        lasting = user_data
        if secrets.account is not None:
            lasting = self._user_data(context, spec, group, replace(secrets, account=_ANY_ACCOUNT))
        return Setup.of(plan.image_of(group), user_data, plan.coe_version, lasting)

    def told(
        self, context: DriverContext, spec: ClusterSpec, servers: Mapping[str, Any]
    ) -> ClusterOutputs:
        """Read the addresses from the stacks; the versions are those that were ordered."""
        plan = self.plan(spec, spec.masters)
        versions = {"coe_version": plan.coe_version, "container_version": plan.container_version}
        return super().told(context, spec, servers).model_copy(update=versions)

    def create_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> str:
        """Create the group's stack in the network of the cluster's."""
        stacks = heat.stacks_of(context, spec)
        found = submission.required(stacks, cluster_stack(spec))
        facts = {
            **self.group_facts(context, spec, group, timeout_minutes),
            "outputs": stacks.outputs(found.id),
        }
        where = place(spec, group)
        definition = self.group_definition_for(context)
        return heat.create(context, spec, where, definition, facts, timeout_minutes)

    def group_facts(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> dict[str, Any]:
        """Return what the group's mappings may refer to, but the outputs of the cluster's stack."""
        return {
            **self._common_facts(self.plan(spec, group), timeout_minutes),
            "cluster": spec.cluster,
            "group": group,
            "group_name": names.group_part(group),
            "names": {"cluster": names.cluster_part(spec.cluster)},
            "setup": self.setup(context, spec, group),
        }

    def group_definition_for(self, context: DriverContext) -> TemplateDefinition:
        """Return the template of a further node group, as it is for one call."""
        definition = self.group_definition
        return definition.at(context.folder) if context.folder else definition

    def files(self) -> Mapping[str, str]:
        """Return the files of clusters and of further node groups."""
        return {**self.group_definition.files.texts(), **super().files()}

    def check_installation(self) -> None:
        """Check both templates."""
        super().check_installation()
        self.group_definition.check()

    def validate_template(self, template: ClusterTemplate) -> None:
        """Check the labels; a cluster may override them, but none is made to be overridden."""
        self.labels.read(template.labels)

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
        if release == setup.release:
            # Heat would replace servers whose user data differ in nothing but the account.
            del values["user_data"]
        elif group.role == MASTER:
            self.check_masters(spec, "Upgrading")
        if group.role != MASTER:
            values["batch"] = batch_size or max(1, group.node_count)
        renewal = self._renewal(context, spec, group, found, timeout_minutes)
        heat.change(context, spec, where, found, values, timeout_minutes, renewal)

    def _renewal(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        found: StackState,
        timeout_minutes: int,
    ) -> Renewal | None:
        """Return the template that a group's stack is moved to, if it has another one."""
        if context.folder is None:
            return None
        stacks = heat.stacks_of(context, spec)
        if place(spec, group).group is None:
            facts = self.facts(context, spec, timeout_minutes)
            return Renewal.of(stacks, found, self.definition_for(context), facts)
        main = submission.required(stacks, cluster_stack(spec))
        facts = {
            **self.group_facts(context, spec, group, timeout_minutes),
            "outputs": stacks.outputs(main.id),
        }
        return Renewal.of(stacks, found, self.group_definition_for(context), facts)

    def check_rebuild(self, spec: ClusterSpec, nodes: Sequence[Node]) -> None:
        """Check that the state of the cluster survives."""
        masters = {node.name for node in spec.masters.nodes}
        if any(node.name in masters for node in nodes):
            self.check_masters(spec, "Rebuilding")

    def rebuild_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Have Nova rebuild the servers; ids, ports, addresses and volumes stay."""
        self.check_rebuild(spec, nodes)
        groups = {node.name: group for group in spec.node_groups for node in group.nodes}
        masters = [one for one in nodes if one.name in groups and groups[one.name].role == MASTER]
        if len(masters) > 1:
            raise InvalidRequestError(
                "Masters are rebuilt one at a time, or the control plane would lose its majority."
            )
        plan = self.plan(spec)
        images = [plan.image_of(groups.get(node.name, spec.masters)) for node in nodes]
        node_actions.rebuild(context, spec, list(zip(nodes, images, strict=True)))

    def check_health(self, context: DriverContext, spec: ClusterSpec) -> Health:
        """Ask Nova for the servers and the control plane how it is."""

        def components(outputs: ClusterOutputs) -> health.Components:
            address = outputs.api_address or spec.cluster.api_address
            return self.components(context, spec, address)

        return health.checked(spec, lambda: self.observe(context, spec), components)

    def _user_data(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, secrets: ClusterSecrets
    ) -> str:
        node = manifest.read(
            self.definition_for(context).files,
            group.role,
            self.contents(spec, group, secrets),
            self.kernel_arguments(spec, group) if self.document.sets_kernel_arguments else (),
        )
        return self.document.render(node)

    def _common_facts(self, plan: NodePlan, timeout_minutes: int) -> dict[str, Any]:
        return {
            "labels": plan.labels,
            "plan": plan,
            "document": self.document,
            "limits": {"ready_seconds": ready_seconds(timeout_minutes)},
        }


def ready_seconds(timeout_minutes: int) -> int:
    """Return how long Heat waits for the nodes; 0 minutes means no limit."""
    if timeout_minutes <= 0:
        return _LONGEST_WAIT_SECONDS
    seconds = timeout_minutes * 60
    return min(max(seconds - _MARGIN_SECONDS, seconds // 2), _LONGEST_WAIT_SECONDS)


def _nobody(plan: NodePlan) -> Setup:
    """Return what fills the parameters of a group that is not there."""
    return Setup.of(plan.spec.template.image_id, "{}", plan.coe_version)
