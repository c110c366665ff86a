"""The lifecycle of a cluster that is one Heat stack; a driver adds its template."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from jeroboam.drivers.base import (
    ClusterDriver,
    DriverContext,
    Phase,
    Poller,
    Progress,
    SupportsCredentialRotation,
    SupportsReboot,
    Watch,
)
from jeroboam.drivers.heat import (
    clients,
    credentials,
    failures,
    leftovers,
    node_actions,
    nodes,
    ports,
    remains,
    services,
    submission,
)
from jeroboam.drivers.heat.phases import MAX_MESSAGE, StackState
from jeroboam.drivers.heat.placement import Placement, cluster_stack, place
from jeroboam.drivers.heat.poller import HeatPoller
from jeroboam.drivers.heat.renewal import Renewal
from jeroboam.drivers.heat.servers import Servers
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.heat.template_definition import (
    Facts,
    TemplateDefinition,
    basic_facts,
)
from jeroboam.drivers.nodes.names import short_id
from jeroboam.models import ClusterOutputs, ClusterSpec, Method, Node, NodeGroup
from jeroboam.models.cluster import MASTER

NOTING_SECONDS = 2.0
"""What Heat gets to note an object when the service's answer is there."""

_OF_NODES = frozenset({Method.REBOOT_NODES, Method.REBUILD_NODES})


class HeatDriver(ClusterDriver, SupportsReboot, SupportsCredentialRotation):
    """A driver that needs a name, a version and a template definition."""

    definition: ClassVar[TemplateDefinition]

    def facts(self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int) -> Facts:
        """Return what the definition's mappings may refer to; families of drivers add theirs."""
        _ = context
        return basic_facts(spec) | {"limits": {"timeout_minutes": timeout_minutes}}

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Create the cluster's stack, or go on with it if Heat left it unfinished."""
        where = cluster_stack(spec)
        facts = self.facts(context, spec, timeout_minutes)
        definition = self.definition_for(context)
        return create(context, spec, where, definition, facts, timeout_minutes)

    def definition_for(self, context: DriverContext) -> TemplateDefinition:
        """Return the template with its mappings, as it is for one call."""
        return self.definition.at(context.folder) if context.folder else self.definition

    def files(self) -> Mapping[str, str]:
        """Return the driver's own files and those that it shares with its family."""
        return self.definition.files.texts()

    def check_installation(self) -> None:
        """Check the template and its mappings."""
        self.definition.check()

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Change the number of a group's nodes; nothing else that is in the stack changes."""
        stacks, where = stacks_of(context, spec), place(spec, group)
        found = submission.required(stacks, where)
        if submission.settled(stacks, found, context.idempotency_key):
            return
        values: dict[str, Any] = {"count": group.node_count}
        if group.role != MASTER:
            current = nodes.parse_removals(where.read(found.parameters, "removals"))
            values["removals"] = nodes.removals(current, group, nodes_to_remove)
        change(context, spec, where, found, values, timeout_minutes)

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Delete the stacks, whatever state they are in.

        What hangs on the cluster's network goes first: load balancers of services, then the
        stacks of node groups. The cluster's own stack is deleted by the call that finds them gone;
        until then the poller says that the deletion has to be submitted again.
        """
        services.remove(clients.connection(context.cloud, spec.cluster.trust_id), spec.cluster)
        stacks = stacks_of(context, spec)
        groups = [one for one in stacks.tagged(spec.cluster.uuid) if one.own_group]
        for stack in groups:
            delete(context, spec, stacks, stack)
        if groups:
            return
        found = submission.find(stacks, cluster_stack(spec))
        if found is None:
            remove_leftovers(context, spec).settle()
            return
        delete(context, spec, stacks, found)

    def rotate_credential(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup | None,
        former_trust_ids: Sequence[str],
        timeout_minutes: int,
    ) -> None:
        """Have Heat go over the stack with the credential, as a change that changes nothing."""
        credentials.let_go(context.cloud, former_trust_ids, spec.cluster.trust_id)
        stacks = stacks_of(context, spec)
        where = place(spec, group) if group else cluster_stack(spec)
        found = submission.required(stacks, where)
        if not submission.settled(stacks, found, context.idempotency_key):
            change(context, spec, where, found, {}, timeout_minutes)

    def poller(self) -> Poller:
        """Return Heat's poller."""
        return HeatPoller()

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read the addresses and nodes; a node that Heat left without its port gets it back."""
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        servers = Servers(connection).listed(short_id(spec.cluster))
        outputs = self.told(context, spec, servers)
        nodes_of = {node.id for group in outputs.nodes.values() for node in group}
        ports.attach_again(connection, servers, nodes_of)
        return outputs

    def observe(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read the addresses and nodes from the stacks' outputs, and from Nova how they are."""
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        return self.told(context, spec, Servers(connection).listed(short_id(spec.cluster)))

    def told(
        self, context: DriverContext, spec: ClusterSpec, servers: Mapping[str, Any]
    ) -> ClusterOutputs:
        """Read the stacks' outputs.

        Args:
            servers: Those that Nova has of the cluster, by their ids.
        """
        where = cluster_stack(spec)
        stacks = stacks_of(context, spec)
        outputs = stacks.outputs(where.stack_id or where.name)
        found = self.definition.read_outputs(spec, outputs)
        groups = {
            group.uuid: nodes.read(self.definition.nodes(group.role, outputs), servers)
            for group in spec.node_groups
            if group.role == MASTER or group.is_default
        }
        extra = self.read_groups(stacks, spec, servers)
        addresses = {uuid: nodes.first_addresses(listed) for uuid, listed in extra.items()}
        return found.model_copy(
            update={
                "node_addresses": {**found.node_addresses, **addresses},
                "nodes": {uuid: listed for uuid, listed in groups.items() if listed} | extra,
            }
        )

    def read_groups(
        self, stacks: Stacks, spec: ClusterSpec, servers: Mapping[str, Any]
    ) -> dict[str, tuple[Node, ...]]:
        """Return the nodes of groups that have a stack of their own; there are none here."""
        _ = stacks, spec, servers
        return {}

    def reboot_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node], *, hard: bool
    ) -> None:
        """Have Nova reboot the servers."""
        node_actions.reboot(context, spec, nodes, hard=hard)

    def explain_failure(
        self, context: DriverContext, spec: ClusterSpec, watch: Watch, progress: Progress
    ) -> Progress:
        """Name the innermost resource that failed, with the reason of the service behind it."""
        if watch.method in _OF_NODES or progress.phase is not Phase.FAILED:
            return progress
        stacks = stacks_of(context, spec)
        found = _awaited(stacks, spec, watch)
        if found is None:
            return progress
        faults = stacks.failed_resources(found.id)
        if failures.only_effects(faults):
            faults = stacks.unfinished_resources(found.id) or faults
        message = failures.summary(faults) if faults else failures.explain(found.reason)
        return progress.model_copy(update={"message": message[:MAX_MESSAGE], "faults": faults})

    def find_leftovers(self, context: DriverContext, spec: ClusterSpec) -> Sequence[str]:
        """List what is still there and belongs to the cluster."""
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        return remains.find(connection, stacks_of(context, spec), spec.cluster)


def create(
    context: DriverContext,
    spec: ClusterSpec,
    where: Placement,
    definition: TemplateDefinition,
    facts: Facts,
    timeout_minutes: int,
) -> str:
    """Create a stack, or go on with it if Heat left it unfinished; return its id."""
    stacks = stacks_of(context, spec)
    found = submission.find(stacks, where)
    if found is None:
        template, files = definition.load()
        return stacks.create(
            where.name,
            template=template,
            files=files,
            parameters=definition.declared_values(template, facts),
            timeout_mins=timeout_minutes,
            tags=where.tags(context.idempotency_key),
            disable_rollback=True,
        )
    if submission.settled(stacks, found, context.idempotency_key):
        return found.id
    change(context, spec, where, found, {}, timeout_minutes)
    return found.id


def change(
    context: DriverContext,
    spec: ClusterSpec,
    where: Placement,
    found: StackState,
    values: Mapping[str, Any],
    timeout_minutes: int,
    renewal: Renewal | None = None,
) -> None:
    """Submit a change; before Heat goes on after a failure, what it has lost is removed."""
    stacks = stacks_of(context, spec)
    if found.failed or stacks.broken_off(found):
        remove_leftovers(context, spec, stacks).settle()
    submission.change(context, stacks, where, found, values, timeout_minutes, renewal)


def delete(context: DriverContext, spec: ClusterSpec, stacks: Stacks, found: StackState) -> None:
    """Delete a stack, unless Heat is at it.

    A create or change that Heat is still at work on is stopped by Heat itself, which waits for
    the calls that it has in flight. Where Heat is not at work, what it has lost goes first, since
    the stack could not go with it in its network. Trouble with that must not keep the stack:
    a deletion that fails because of it is submitted again.
    """
    at_work = found.running and not stacks.broken_off(found)
    if at_work and found.status == "DELETE_IN_PROGRESS":
        return
    if not at_work and found.status != "CREATE_COMPLETE":
        remove_leftovers(context, spec, stacks)
    stacks.delete(found)


def stacks_of(context: DriverContext, spec: ClusterSpec) -> Stacks:
    """Return the stacks of a cluster's owner."""
    return Stacks(context.cloud, spec.cluster.trust_id)


def remove_leftovers(
    context: DriverContext,
    spec: ClusterSpec,
    stacks: Stacks | None = None,
    mark: str | None = None,
) -> leftovers.Removal:
    """Remove what carries a mark of the cluster and no stack of it knows of.

    Args:
        stacks: Given where the cluster still has stacks.
        mark: That of a part of the cluster.
    """

    def known() -> leftovers.Known:
        if stacks is None:
            return frozenset()
        # What failed beside them does not stop the calls that Heat had in flight.
        time.sleep(NOTING_SECONDS)
        return stacks.object_ids(spec.cluster)

    connection = clients.connection(context.cloud, spec.cluster.trust_id)
    return leftovers.remove(connection, mark or short_id(spec.cluster), known)


def _awaited(stacks: Stacks, spec: ClusterSpec, watch: Watch) -> StackState | None:
    """Return the stack whose failure is to be explained."""
    if watch.method is Method.DELETE_CLUSTER:
        groups = [one for one in stacks.tagged(spec.cluster.uuid) if one.own_group]
        failed = [one for one in groups if one.failed]
        return next(iter(failed or groups), None) or submission.find(stacks, cluster_stack(spec))
    known = {group.uuid: group for group in spec.node_groups}
    group = known.get(watch.node_group or "")
    return submission.find(stacks, place(spec, group) if group else cluster_stack(spec))
