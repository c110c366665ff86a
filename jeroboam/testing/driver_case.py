"""What the driver compliance suite works with: a driver, a cluster, calls as the engine makes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from jeroboam.drivers.base import (
    ClusterDriver,
    ClusterSecrets,
    DriverContext,
    Phase,
    Progress,
    SupportsCertificateRotation,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsRebuild,
    SupportsUpgrade,
    Watch,
)
from jeroboam.drivers.removal import remove_leftovers
from jeroboam.models import ClusterOutputs, ClusterSpec, Method, Node, NodeGroup
from jeroboam.testing.patience import ask

RESUBMISSIONS = 5
CREATION = "creation"
REMOVAL = "removal"


@dataclass(frozen=True)
class DriverCase:
    """A driver with a cluster that it can build.

    Args:
        spec: A valid cluster whose uuid nothing else uses.
        context: The surroundings of the driver's calls.
        timeout_seconds: The longest that one backend operation may take.
        poll_seconds: Pause between two polls.
        count_objects: Counts the backend's top objects of the cluster (stacks, for Heat), asked
            of the backend itself and not of the driver.
        bad_labels: Labels that ``validate`` must refuse, each with a part of the message.
        node_group: A group that the driver can add to the cluster, if it can add any.
        upgraded: Returns a cluster as an upgrade shall leave it, if the driver upgrades.
        count_reboots: Counts how often the backend has rebooted a node, asked of the backend.
        count_rebuilds: The same for rebuilds.
        leave_behind: Makes the backend keep something of the cluster, when it is up; returns a
            part of what ``find_leftovers`` must say of it once the cluster is deleted.
    """

    driver: ClusterDriver
    spec: ClusterSpec
    context: DriverContext
    count_objects: Callable[[], int]
    timeout_seconds: float = 300.0
    poll_seconds: float = 1.0
    bad_labels: tuple[tuple[str, str, str], ...] = ()
    node_group: NodeGroup | None = None
    upgraded: Callable[[ClusterSpec], ClusterSpec] | None = None
    count_reboots: Callable[[Node], int] | None = None
    count_rebuilds: Callable[[Node], int] | None = None
    leave_behind: Callable[[ClusterSpec], str] | None = None

    @property
    def minutes(self) -> int:
        """What a call is told of its deadline."""
        return max(1, int(self.timeout_seconds // 60))

    def watch(self, method: Method) -> Watch:
        """Return the watch of a call about the whole cluster."""
        cluster = self.spec.cluster
        return Watch(
            cluster_id=cluster.uuid,
            project_id=cluster.project_id,
            trust_id=cluster.trust_id,
            backend_id=cluster.stack_id,
            method=method,
            key=self.context.idempotency_key,
        )

    def create(self) -> "DriverCase":
        """Submit the creation; return the case with the backend id in its cluster."""
        stack_id = ask(self.driver.create_cluster, self.context, self.spec, self.minutes)
        cluster = self.spec.cluster.model_copy(update={"stack_id": stack_id})
        return replace(self, spec=self.spec.model_copy(update={"cluster": cluster}))

    def wait(self, method: Method) -> Progress:
        """Poll until the backend has finished a call about the whole cluster."""
        return self.wait_for(self.watch(method))

    def wait_for(self, watch: Watch) -> Progress:
        """Poll until the backend has finished what is watched."""
        deadline = time.monotonic() + self.timeout_seconds
        poller = self.driver.poller()
        while time.monotonic() < deadline:
            progress = ask(poller.poll, self.context.cloud, (watch,))[watch.cluster_id]
            if progress.phase is not Phase.RUNNING:
                return progress
            time.sleep(self.poll_seconds)
        raise AssertionError(f"{watch.method} did not end within {self.timeout_seconds} s.")

    def remove(self) -> Progress:
        """Delete the cluster and wait until it is gone.

        A delete that the backend gave up or broke off is asked for again, and what has come to
        light when it is gone is removed as well, as the engine does.
        """
        for _ in range(1 + RESUBMISSIONS):
            ask(self.driver.delete_cluster, self.context, self.spec)
            progress = self.wait(Method.DELETE_CLUSTER)
            if progress.phase not in {Phase.FAILED, Phase.INTERRUPTED}:
                break
        if progress.phase is Phase.GONE:
            ask(remove_leftovers, self.driver, self.context, self.spec)
        return progress

    def outputs(self) -> ClusterOutputs:
        """Return what the driver reports of the cluster now."""
        return ask(self.driver.read_outputs, self.context, self.spec)

    def leftovers(self) -> Sequence[str]:
        """Return what the driver says is left of the cluster."""
        return ask(self.driver.find_leftovers, self.context, self.spec)


@dataclass(frozen=True)
class Call:
    """One call of a driver about a part of a cluster, with all that it needs.

    Args:
        spec: The cluster as the call shall leave it.
        key: The idempotency key.
        group: uuid of the node group that is meant.
        batch_size: For an upgrade, or new certificates.
        secrets: What the cluster has then, if it is not what the case has.
    """

    method: Method
    spec: ClusterSpec
    key: str
    group: str = ""
    nodes: tuple[Node, ...] = ()
    nodes_to_remove: tuple[Node, ...] = ()
    batch_size: int | None = 1
    hard: bool = False
    secrets: ClusterSecrets | None = None

    def make(self, case: DriverCase) -> str | None:
        """Make the call; return a backend id where there is one."""
        context = self._context(case)
        driver, spec, minutes = case.driver, self.spec, case.minutes
        match self.method:
            case Method.UPDATE_CLUSTER:
                group = spec.group(self.group)
                driver.update_cluster(context, spec, group, self.nodes_to_remove, minutes)
            case Method.CREATE_NODE_GROUP:
                groups = cast("SupportsNodeGroups", driver)
                return groups.create_node_group(context, spec, spec.group(self.group), minutes)
            case Method.DELETE_NODE_GROUP:
                groups = cast("SupportsNodeGroups", driver)
                groups.delete_node_group(context, spec, spec.group(self.group))
            case Method.UPGRADE_NODE_GROUP:
                group = spec.group(self.group)
                upgrade = cast("SupportsUpgrade", driver).upgrade_node_group
                upgrade(context, spec, group, self.batch_size, minutes)
            case Method.RENEW_CERTIFICATES:
                group = spec.group(self.group)
                renew = cast("SupportsCertificateRotation", driver).renew_certificates
                renew(context, spec, group, self.batch_size, minutes)
            case Method.REBOOT_NODES:
                reboot = cast("SupportsReboot", driver).reboot_nodes
                reboot(context, spec, self.nodes, hard=self.hard)
            case Method.REBUILD_NODES:
                cast("SupportsRebuild", driver).rebuild_nodes(context, spec, self.nodes)
            case _:
                raise AssertionError(f"{self.method} is about the whole cluster.")
        return None

    def _context(self, case: DriverCase) -> DriverContext:
        context = replace(case.context, idempotency_key=self.key)
        secrets = self.secrets
        return context if secrets is None else replace(context, read_secrets=lambda: secrets)

    def watch(self) -> Watch:
        """Return what the engine watches after the call."""
        cluster = self.spec.cluster
        group = self.spec.group(self.group) if self.group else None
        return Watch(
            cluster_id=cluster.uuid,
            project_id=cluster.project_id,
            trust_id=cluster.trust_id,
            backend_id=(group.stack_id if group else None) or cluster.stack_id,
            method=self.method,
            key=self.key,
            node_group=group.uuid if group else None,
            nodes=self.nodes,
        )


@dataclass
class LivingCluster:
    """A cluster that is up, with its record kept as the engine keeps it.

    Args:
        spec: The record: as the last call that ended well has left the cluster.
    """

    case: DriverCase
    spec: ClusterSpec
    calls: int = field(default=0)

    @classmethod
    def build(cls, case: DriverCase) -> "LivingCluster":
        """Create the cluster of a case and wait until it is up."""
        created = case.create()
        progress = created.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.DONE, progress.message
        living = cls(created, created.spec)
        living.refresh()
        return living

    @property
    def workers(self) -> NodeGroup:
        """The first group of workers, as recorded."""
        return self.spec.workers[0]

    def call(self, method: Method, spec: ClusterSpec | None = None, **what: Any) -> Call:
        """Return a call with a key of its own."""
        self.calls += 1
        key = f"{self.spec.cluster.uuid}:operation-{self.calls}:step"
        return replace(Call(method, spec or self.spec, key), **what)

    def submit(self, call: Call) -> None:
        """Make a call; the record takes over the backend id that it returns."""
        stack_id = ask(call.make, self.case)
        if stack_id is not None:
            group = call.spec.group(call.group).model_copy(update={"stack_id": stack_id})
            self.spec = with_group(call.spec, group)

    def finish(self, call: Call) -> Progress:
        """Wait for a call; go on with it where the backend broke off, as the engine does.

        A removal that the backend gave up is asked for again as well.
        """
        again = {Phase.INTERRUPTED, *((Phase.FAILED,) if call.method.removes else ())}
        for _ in range(1 + RESUBMISSIONS):
            watched = replace(call, spec=self.spec) if call.group in self._groups else call
            progress = self.case.wait_for(watched.watch())
            if progress.phase not in again:
                break
            self.submit(call)
        return progress

    def do(self, call: Call) -> None:
        """Make a call as after crashes: twice at the start, and once more when it has ended well.

        The record is the target of the call afterwards.
        """
        expected = Phase.GONE if call.method.removes else Phase.DONE
        for repeats in (2, 1):
            for _ in range(repeats):
                self.submit(call)
            progress = self.finish(call)
            assert progress.phase is expected, progress.message
        if not call.method.removes:
            self._adopt(call.spec)
            self.refresh()

    def outputs(self) -> ClusterOutputs:
        """Return what the driver reports of the cluster now."""
        return replace(self.case, spec=self.spec).outputs()

    def refresh(self) -> None:
        """Take the nodes that the driver reports over into the record."""
        nodes = self.outputs().nodes
        groups = tuple(
            group.model_copy(update={"nodes": nodes.get(group.uuid, ())})
            for group in self.spec.node_groups
        )
        self.spec = self.spec.model_copy(update={"node_groups": groups})

    def nodes(self, group: NodeGroup) -> Sequence[Node]:
        """Return a group's nodes as recorded."""
        return self.spec.group(group.uuid).nodes

    @property
    def _groups(self) -> set[str]:
        return {group.uuid for group in self.spec.node_groups}

    def _adopt(self, target: ClusterSpec) -> None:
        """Make a target the record; backend ids that the record has are kept."""
        stacks = {group.uuid: group.stack_id for group in self.spec.node_groups}
        groups = tuple(
            group.model_copy(update={"stack_id": stacks.get(group.uuid) or group.stack_id})
            for group in target.node_groups
        )
        self.spec = target.model_copy(update={"node_groups": groups})


def with_group(spec: ClusterSpec, group: NodeGroup) -> ClusterSpec:
    """Return a cluster in which a group is as given."""
    others = tuple(one for one in spec.node_groups if one.uuid != group.uuid)
    return spec.model_copy(update={"node_groups": (*others, group)})


def with_size(spec: ClusterSpec, group: NodeGroup, count: int) -> ClusterSpec:
    """Return a cluster in which a group has another size."""
    return with_group(spec, group.model_copy(update={"node_count": count}))
