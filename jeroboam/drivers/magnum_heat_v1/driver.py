"""The driver of clusters that Magnum's Heat drivers have built.

It makes no clusters. Those that were imported keep the template which Magnum has given to their
stacks; what is done with them is what Magnum did, by other values of the stacks' parameters.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from jeroboam.drivers.base import (
    CloudAccess,
    ClusterSecrets,
    DriverContext,
    Phase,
    Poller,
    Progress,
    Provides,
    SupportsCredentialRotation,
    SupportsNodeGroups,
    SupportsReboot,
    Watch,
)
from jeroboam.drivers.heat import (
    clients,
    credentials,
    failures,
    node_actions,
    remains,
    services,
)
from jeroboam.drivers.heat.phases import MAX_MESSAGE
from jeroboam.drivers.heat.servers import Servers
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.importing import ImportWish, SupportsImport, Survey
from jeroboam.drivers.kubernetes import health as kubernetes_health
from jeroboam.drivers.kubernetes.abilities import RunsKubernetes
from jeroboam.drivers.magnum_heat_v1 import (
    changes,
    families,
    reading,
    recognition,
    survey,
    version,
)
from jeroboam.drivers.magnum_heat_v1.poller import ImportedPoller
from jeroboam.drivers.magnum_heat_v1.records import StackRecord
from jeroboam.drivers.nodes import health
from jeroboam.errors import (
    ClusterUnreachableError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.models import (
    ClusterOutputs,
    ClusterSpec,
    Health,
    Identity,
    Method,
    Node,
    NodeGroup,
)
from jeroboam.models.cluster import MASTER
from jeroboam.models.monitoring import Observation

_KINDS = (
    ("vm", "fedora-coreos", "kubernetes"),
    ("vm", "fedora-atomic", "kubernetes"),
    ("vm", "coreos", "kubernetes"),
    ("vm", "ubuntu", "kubernetes"),
    ("bm", "fedora", "kubernetes"),
    ("vm", "fedora-atomic", "swarm"),
    ("vm", "fedora-atomic", "swarm-mode"),
    ("vm", "ubuntu", "mesos"),
)

_OF_NODES = frozenset({Method.REBOOT_NODES, Method.REBUILD_NODES})


class MagnumHeatDriver(
    SupportsImport,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsCredentialRotation,
    RunsKubernetes,
):
    """Leads imported clusters through the rest of their lives."""

    name = version.Driver
    version = version.version
    only_by_name = True

    @property
    def provides(self) -> Sequence[Provides]:
        """What Magnum's Heat drivers built."""
        return tuple(Provides(server_type=a, os=b, coe=c) for a, b, c in _KINDS)

    def survey(self, cloud: CloudAccess, wish: ImportWish, owner: Identity) -> Survey:
        """Look at a cluster's stacks and servers."""
        return survey.survey(cloud, wish, owner)

    def validate(self, spec: ClusterSpec) -> NoReturn:
        """Refuse every new cluster."""
        raise InvalidRequestError(
            f"The driver {self.name} makes no clusters; it works on those that Magnum has made. "
            "Take one over with `jeroboam cluster import STACK`, or choose a template of another "
            "driver."
        )

    def create_cluster(
        self, context: DriverContext, spec: ClusterSpec, timeout_minutes: int
    ) -> str:
        """Refuse every new cluster."""
        self.validate(spec)

    def update_cluster(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        nodes_to_remove: Sequence[Node],
        timeout_minutes: int,
    ) -> None:
        """Change the number of a group's workers; nothing else that is in the stack changes."""
        changes.resize(context, spec, group, nodes_to_remove, timeout_minutes)

    def delete_cluster(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Delete load balancers of services, then node groups' stacks, then the cluster's."""
        services.remove(clients.connection(context.cloud, spec.cluster.trust_id), spec.cluster)
        stacks = stacks_of(context, spec)
        changes.delete_groups(stacks, spec)
        changes.delete(stacks, spec.cluster.stack_id)

    def check_node_group(self, spec: ClusterSpec, group: NodeGroup) -> None:
        """Refuse new groups; bounds, labels and taints of those that are there may change."""
        if group.stack_id is None:
            raise _no_more_groups()

    def create_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
    ) -> str:
        """Refuse every new group."""
        raise _no_more_groups()

    def delete_node_group(
        self, context: DriverContext, spec: ClusterSpec, group: NodeGroup
    ) -> None:
        """Delete the group's stack."""
        if group.stack_id == spec.cluster.stack_id:
            raise InvalidRequestError(f"The node group {group.name} is a part of its cluster.")
        changes.delete(stacks_of(context, spec), group.stack_id)

    def rotate_credential(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup | None,
        former_trust_ids: Sequence[str],
        timeout_minutes: int,
    ) -> None:
        """Have Heat go over a stack with the credential, as a change that changes nothing.

        What the nodes log in with is Magnum's own trust, and stays.
        """
        credentials.let_go(context.cloud, former_trust_ids, spec.cluster.trust_id)
        changes.touch(context, spec, group or spec.masters, timeout_minutes)

    def poller(self) -> Poller:
        """Return a poller that knows stacks by their ids."""
        return ImportedPoller()

    def read_outputs(self, context: DriverContext, spec: ClusterSpec) -> ClusterOutputs:
        """Read addresses and nodes from the stacks, and from Nova how the nodes are."""
        stacks = stacks_of(context, spec)
        records: dict[str, StackRecord] = {}
        for ident in dict.fromkeys(group.stack_id for group in spec.node_groups):
            if ident is not None:
                records[ident] = reading.read(stacks, ident)
        main = records.get(spec.cluster.stack_id or "")
        if main is None:
            raise NotFoundError(f"Cluster {spec.cluster.name} has no stack.")
        family = families.of(main.parameters, main.outputs)
        servers = Servers(clients.connection(context.cloud, spec.cluster.trust_id)).listed()
        nodes: dict[str, tuple[Node, ...]] = {}
        addresses: dict[str, tuple[str, ...]] = {}
        for group in spec.node_groups:
            record = records.get(group.stack_id or "", main)
            control = group.role == MASTER
            members = record.of_groups(family.masters if control else family.workers)
            tag = recognition.coe_version(record, masters=control)
            nodes[group.uuid] = tuple(reading.nodes(members, servers, tag))
            outputs = family.master_outputs if control else family.worker_outputs
            addresses[group.uuid] = record.addresses(outputs)
        return ClusterOutputs(
            api_address=recognition.api_address(main, family),
            coe_version=recognition.coe_version(main),
            node_addresses=addresses,
            nodes=nodes,
        )

    def reboot_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node], *, hard: bool
    ) -> None:
        """Have Nova reboot the servers."""
        node_actions.reboot(context, spec, nodes, hard=hard)

    def check_health(self, context: DriverContext, spec: ClusterSpec) -> Health:
        """Ask Nova for the servers, and Kubernetes' API how it is where its authority is known."""

        def components(outputs: ClusterOutputs) -> health.Components:
            secrets = _secrets(context)
            if secrets is None or spec.template.coe != families.KUBERNETES.coe:
                return {}
            authority = secrets.kubernetes.certificate
            return kubernetes_health.components(outputs.api_address, authority)

        return health.checked(spec, lambda: self.read_outputs(context, spec), components)

    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        """Look at the servers, and into the cluster where its keys were imported."""
        if _secrets(context) is None or spec.template.coe != families.KUBERNETES.coe:
            return Observation(health=self.check_health(context, spec))
        return super().monitor(context, spec)

    def choose_removals(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        count: int,
        named: Sequence[Node],
    ) -> Sequence[Node]:
        """Ask the cluster which nodes are missed least."""
        _require_keys(context, spec)
        return super().choose_removals(context, spec, group, count, named)

    def drain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> Mapping[str, str]:
        """Empty nodes of a Kubernetes cluster whose keys were imported."""
        _require_keys(context, spec)
        return super().drain_nodes(context, spec, nodes)

    def undrain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Open nodes again; without keys none was closed."""
        if _secrets(context) is not None and spec.template.coe == families.KUBERNETES.coe:
            super().undrain_nodes(context, spec, nodes)

    def explain_failure(
        self, context: DriverContext, spec: ClusterSpec, watch: Watch, progress: Progress
    ) -> Progress:
        """Name the innermost resource that failed, with the reason of the service behind it."""
        if watch.method in _OF_NODES or progress.phase is not Phase.FAILED or not watch.backend_id:
            return progress
        stacks = stacks_of(context, spec)
        found = stacks.find(watch.backend_id)
        if found is None:
            return progress
        faults = stacks.failed_resources(found.id)
        message = failures.summary(faults) if faults else failures.explain(found.reason)
        return progress.model_copy(update={"message": message[:MAX_MESSAGE], "faults": faults})

    def find_leftovers(self, context: DriverContext, spec: ClusterSpec) -> Sequence[str]:
        """List stacks that are still there, and what Kubernetes made for the cluster."""
        connection = clients.connection(context.cloud, spec.cluster.trust_id)
        stacks = stacks_of(context, spec)
        idents = {spec.cluster.stack_id, *(group.stack_id for group in spec.node_groups)}
        states = [state for one in idents if one and (state := stacks.find(one)) is not None]
        left = [f"stack {one.name} ({one.id}), {one.status}" for one in states]
        return [*left, *remains.find(connection, None, spec.cluster)]


def stacks_of(context: DriverContext, spec: ClusterSpec) -> Stacks:
    """Return the stacks of a cluster's owner."""
    return Stacks(context.cloud, spec.cluster.trust_id)


def _no_more_groups() -> InvalidRequestError:
    return InvalidRequestError(
        "An imported cluster gets no further node groups: what nodes need to join it is hidden in "
        "the parameters of its stack. Resize one of its groups, or make a new cluster."
    )


def _secrets(context: DriverContext) -> ClusterSecrets | None:
    """Return the cluster's keys, if they were imported."""
    try:
        return context.read_secrets()
    except NotFoundError:
        return None


def _require_keys(context: DriverContext, spec: ClusterSpec) -> None:
    if spec.template.coe != families.KUBERNETES.coe:
        raise ClusterUnreachableError("Only nodes of Kubernetes can be emptied.")
    if _secrets(context) is None:
        raise ClusterUnreachableError(
            "The cluster was imported without the keys of its authority, so Jeroboam cannot log "
            "in to it."
        )
