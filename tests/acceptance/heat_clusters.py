"""Clusters of the Fedora CoreOS driver on a real Heat, and what the cloud itself says of them."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from openstack.connection import Connection

from jeroboam.cloud import Cloud
from jeroboam.drivers.base import (
    CloudAccess,
    DriverContext,
    Phase,
    Progress,
    SecretReader,
    Watch,
)
from jeroboam.drivers.heat import leftovers
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.removal import remove_leftovers
from jeroboam.models import ClusterSpec, Identity, Method, Node, NodeGroup
from jeroboam.testing.driver_case import DriverCase
from jeroboam.testing.patience import ask
from tests.unit.drivers.heat.clusters import make_spec, secrets

TIMEOUT_SECONDS = 300.0
POLL_SECONDS = 0.5
SWEEPS = 3
MINUTES = 10


@dataclass(frozen=True)
class Tenant:
    """A user of the cloud who let Jeroboam act for them.

    Args:
        resources: Client with the user's own rights, to look at what there is.
        specs: All clusters that were made up for tests.
    """

    access: Cloud
    trust_id: str
    identity: Identity
    resources: Connection
    specs: list[ClusterSpec] = field(default_factory=list)

    def spec(self, **fields: Any) -> ClusterSpec:
        """Return a cluster of the tenant."""
        spec = make_spec(
            project_id=self.identity.project_id,
            user_id=self.identity.user_id,
            trust_id=self.trust_id,
            **fields,
        )
        self.specs.append(spec)
        return spec

    def case(self, driver: KubernetesHeatDriver | None = None, **fields: Any) -> DriverCase:
        """Return a cluster of the tenant for the compliance suite.

        Args:
            driver: By default that of Fedora CoreOS.
        """
        driver = driver or FedoraCoreosDriver()
        spec = self.spec(driver=driver.name, **fields)
        return DriverCase(
            driver=driver,
            spec=spec,
            context=DriverContext(f"{spec.cluster.uuid}:create:submit", self.access, secrets),
            count_objects=lambda: len(self.stacks(spec)),
            timeout_seconds=TIMEOUT_SECONDS,
            poll_seconds=POLL_SECONDS,
            bad_labels=(
                ("kube_tag", "newest", "a version as v1.2.3"),
                ("boot_volume_size", "large", "a whole number"),
                ("kube_tags", "v1.37.1", "kube_tag"),
            ),
            node_group=NodeGroup(
                name="extra",
                cluster_id=spec.cluster.uuid,
                project_id=self.identity.project_id,
                flavor_id="m1.small",
                node_count=1,
            ),
            upgraded=lambda one: with_version(one, "v1.38.0"),
            count_reboots=lambda node: len(self.actions(node, "reboot")),
            count_rebuilds=lambda node: len(self.actions(node, "rebuild")),
        )

    def actions(self, node: Node, kind: str) -> list[Any]:
        """Return Nova's own log of one kind of action on a node."""
        listed = self.resources.compute.server_actions(node.id)
        return [action for action in listed if action.action == kind]

    def stacks(self, spec: ClusterSpec) -> list[Any]:
        """Return the cluster's stacks as Heat lists them to the tenant."""
        listed = tenant_client(self.access, self.trust_id).stacks.list(tags=spec.cluster.uuid)
        return [stack for stack in listed if stack.stack_status != "DELETE_COMPLETE"]

    def sweep(self, since: int = 0) -> list[str]:
        """Remove what clusters have left whose own removal failed, so that others do not meet it.

        Args:
            since: How many clusters there were before those that are meant.

        Returns:
            What there was.
        """
        found = [one for spec in self.specs[since:] for one in self._sweep(spec)]
        del self.specs[since:]
        return found

    def _sweep(self, spec: ClusterSpec) -> list[str]:
        heat, mark = tenant_client(self.access, self.trust_id), short_id(spec.cluster)
        found = [stack.stack_name for stack in self.stacks(spec)]
        for _ in range(SWEEPS):
            for stack in self.stacks(spec):
                heat.stacks.delete(stack.id)
            with suppress(AssertionError):
                eventually(lambda: not self._in_progress(spec))
            removal = leftovers.remove(self.resources, mark, frozenset)
            found += [f"{removal.removed} objects"] if removal.removed else []
            if not self.stacks(spec) and not removal.trouble:
                break
        return found

    def _in_progress(self, spec: ClusterSpec) -> bool:
        return any(one.stack_status.endswith("IN_PROGRESS") for one in self.stacks(spec))

    def inventory(self) -> dict[str, list[str]]:
        """Return the ids of all that a cluster consists of."""
        compute, network = self.resources.compute, self.resources.network
        mine = {"project_id": self.identity.project_id}
        return {
            "servers": sorted(one.id for one in compute.servers()),
            "server groups": sorted(one.id for one in compute.server_groups()),
            "ports": sorted(one.id for one in network.ports(**mine)),
            "networks": sorted(one.id for one in network.networks(**mine)),
            "subnets": sorted(one.id for one in network.subnets(**mine)),
            "routers": sorted(one.id for one in network.routers(**mine)),
            "security groups": sorted(one.id for one in network.security_groups(**mine)),
            "floating IPs": sorted(one.id for one in network.ips(**mine)),
        }


@dataclass
class Living:
    """A cluster with what is recorded of it, as the engine would keep it.

    Args:
        spec: The recorded cluster; ``record`` brings its nodes up to date.
        calls: Number of keys given out.
        read_secrets: Gives what the cluster has in secret.
    """

    tenant: Tenant
    spec: ClusterSpec
    cloud: CloudAccess | None = None
    driver: FedoraCoreosDriver = field(default_factory=FedoraCoreosDriver)
    calls: int = 0
    read_secrets: SecretReader = field(default=secrets)

    @property
    def workers(self) -> NodeGroup:
        """The default group of workers."""
        return self.spec.workers[0]

    def key(self) -> str:
        """Return the idempotency key of a new call."""
        self.calls += 1
        return f"{self.spec.cluster.uuid}:operation-{self.calls}:step"

    def context(self, key: str) -> DriverContext:
        """Return the surroundings of a call."""
        return DriverContext(key, self.cloud or self.tenant.access, self.read_secrets)

    def watch(
        self,
        method: Method,
        key: str,
        group: NodeGroup | None = None,
        nodes: Sequence[Node] = (),
    ) -> Watch:
        """Return what a wait for a call would ask about."""
        cluster = self.spec.cluster
        return Watch(
            cluster_id=cluster.uuid,
            project_id=cluster.project_id,
            trust_id=cluster.trust_id,
            backend_id=cluster.stack_id,
            method=method,
            key=key,
            node_group=group.uuid if group else None,
            nodes=tuple(nodes),
        )

    def look(self, watch: Watch) -> Progress:
        """Ask the poller once."""
        found = ask(self.driver.poller().poll, self.cloud or self.tenant.access, [watch])
        return found[watch.cluster_id]

    def wait(self, watch: Watch, seconds: float = TIMEOUT_SECONDS) -> Progress:
        """Ask the poller until nothing runs any more."""
        deadline = time.monotonic() + seconds
        poller = self.driver.poller()
        while time.monotonic() < deadline:
            progress = ask(poller.poll, self.tenant.access, [watch])[watch.cluster_id]
            if progress.phase is not Phase.RUNNING:
                return progress
            time.sleep(POLL_SECONDS)
        raise AssertionError(f"{watch.method} did not end within {seconds} s: {progress}")

    def explained(self, watch: Watch, progress: Progress) -> Progress:
        """Return the progress with its causes."""
        return self.driver.explain_failure(self.context(watch.key), self.spec, watch, progress)

    def create(self) -> None:
        """Build it and record it; called twice, as after a crash."""
        key = self.key()
        for _ in range(2):
            stack_id = ask(self.driver.create_cluster, self.context(key), self.spec, MINUTES)
        cluster = self.spec.cluster.model_copy(update={"stack_id": stack_id})
        self.spec = self.spec.model_copy(update={"cluster": cluster})
        watch = self.watch(Method.CREATE_CLUSTER, key)
        progress = self.wait(watch)
        assert progress.phase is Phase.DONE, self.explained(watch, progress)
        self.record()

    def record(self) -> None:
        """Put the nodes that the driver reports into the recorded groups."""
        outputs = ask(self.driver.read_outputs, self.context("none"), self.spec)
        groups = tuple(
            group.model_copy(update={"nodes": outputs.nodes.get(group.uuid, ())})
            for group in self.spec.node_groups
        )
        self.spec = self.spec.model_copy(update={"node_groups": groups})

    def sized(self, group: NodeGroup, count: int) -> ClusterSpec:
        """Return the cluster with a group of another size."""
        return self.with_group(group.model_copy(update={"node_count": count}))

    def with_group(self, group: NodeGroup) -> ClusterSpec:
        """Return the cluster with a group changed or added."""
        others = [one for one in self.spec.node_groups if one.uuid != group.uuid]
        return self.spec.model_copy(update={"node_groups": (*others, group)})

    def resize(
        self, group: NodeGroup, count: int, remove: Sequence[Node] = (), key: str | None = None
    ) -> Watch:
        """Submit a resize twice."""
        key = key or self.key()
        target = self.sized(group, count)
        for _ in range(2):
            change = self.driver.update_cluster
            ask(change, self.context(key), target, target.group(group.uuid), remove, MINUTES)
        return self.watch(Method.UPDATE_CLUSTER, key, group)

    def remove(self) -> None:
        """Delete all of it, as the engine does: asked again as long as Heat is not at work."""
        key = self.key()
        watch = self.watch(Method.DELETE_CLUSTER, key)
        for _ in range(6):
            for _ in range(2):
                ask(self.driver.delete_cluster, self.context(key), self.spec)
            progress = self.wait(watch)
            if progress.phase is Phase.GONE:
                assert ask(remove_leftovers, self.driver, self.context(key), self.spec) == []
                return
        raise AssertionError(f"The cluster is still there: {progress}")

    def listed_servers(self) -> list[Any]:
        """Return Nova's servers of the cluster; during a replacement two have one name."""
        short = short_id(self.spec.cluster)
        return list(self.tenant.resources.compute.servers(name=short))

    def servers(self) -> dict[str, Any]:
        """Return Nova's servers of the cluster by name."""
        return {one.name: one for one in self.listed_servers()}

    def every_id(self) -> set[str]:
        """Return the ids of Nova's servers."""
        return {one.id for one in self.listed_servers()}

    def ids(self) -> dict[str, str]:
        """Return the ids of Nova's servers by name."""
        return {name: server.id for name, server in self.servers().items()}

    def addresses(self) -> dict[str, list[str]]:
        """Return the addresses of Nova's servers by name."""
        return {
            name: sorted(entry["addr"] for entries in one.addresses.values() for entry in entries)
            for name, one in self.servers().items()
        }

    def ports(self) -> dict[str, str]:
        """Return the ids of Neutron's ports by the id of their server."""
        return {
            port.device_id: port.id
            for port in self.tenant.resources.network.ports()
            if port.device_id
        }

    def stack_status(self) -> Mapping[str, str]:
        """Return the states of the cluster's stacks, from Heat."""
        return {one.stack_name: one.stack_status for one in self.tenant.stacks(self.spec)}


def eventually(check: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def with_version(spec: ClusterSpec, tag: str) -> ClusterSpec:
    """Return a cluster whose groups all have another version of Kubernetes."""

    def moved(labels: Mapping[str, str]) -> dict[str, str]:
        return {**labels, "kube_tag": tag}

    cluster = spec.cluster.model_copy(update={"labels": moved(spec.cluster.labels)})
    groups = tuple(
        group.model_copy(update={"labels": moved(group.labels)}) for group in spec.node_groups
    )
    return spec.model_copy(update={"cluster": cluster, "node_groups": groups})
