"""Routes about Kubernetes, shared by all drivers that build it."""

import heapq
from collections.abc import Mapping
from datetime import UTC, datetime

from pydantic import Field

from jeroboam.drivers.coe_api import Access, CoeApi, CoeCall, Nothing, Route, Verb
from jeroboam.drivers.kubernetes import kubeconfig
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.drivers.kubernetes.names import checked
from jeroboam.drivers.kubernetes.objects import EventView, NodeView, WorkloadView, count_phases
from jeroboam.models import Model

RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
"""The annotation by which ``kubectl rollout restart`` has a deployment replace its pods."""

_KINDS = {"Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}
_START = datetime.min.replace(tzinfo=UTC)


class Within(Model):
    """Which objects are meant.

    Args:
        namespace: Only those of one namespace.
        limit: The most that are returned.
    """

    namespace: str | None = None
    limit: int = Field(default=100, ge=1, le=1000)


class NodeList(Model):
    """The nodes of a cluster."""

    nodes: tuple[NodeView, ...]


class EventList(Model):
    """The events of a cluster, the newest first."""

    events: tuple[EventView, ...]


class Workloads(Model):
    """What runs in a cluster.

    Args:
        pods: How many pods there are, by phase.
        omitted: How many workloads the limit has left out.
    """

    workloads: tuple[WorkloadView, ...]
    pods: Mapping[str, int]
    omitted: int


class Restarted(Model):
    """A rolling restart that has begun.

    Args:
        generation: Of the deployment; its controller has seen the restart when
            ``status.observedGeneration`` has come as far.
    """

    namespace: str
    name: str
    restarted_at: datetime
    generation: int


def list_nodes(call: CoeCall, _: Nothing) -> NodeList:
    """Return the nodes."""
    with _api(call) as api:
        return NodeList(nodes=tuple(NodeView.of(node) for node in api.items("/api/v1/nodes")))


def list_events(call: CoeCall, wish: Within) -> EventList:
    """Return the newest events."""
    with _api(call) as api:
        found = (EventView.of(event) for event in api.items(_path("/api/v1", "events", wish)))
        newest = heapq.nlargest(wish.limit, found, key=lambda event: event.at or _START)
    return EventList(events=tuple(newest))


def list_workloads(call: CoeCall, wish: Within) -> Workloads:
    """Return what runs, those that are not ready first."""
    with _api(call) as api:
        found = [
            WorkloadView.of(kind, item)
            for kind, plural in _KINDS.items()
            for item in api.items(_path("/apis/apps/v1", plural, wish))
        ]
        pods = count_phases(api.items(_path("/api/v1", "pods", wish)))
    found.sort(key=lambda one: (one.ready >= one.desired, one.namespace, one.name, one.kind))
    return Workloads(
        workloads=tuple(found[: wish.limit]), pods=pods, omitted=max(0, len(found) - wish.limit)
    )


def restart_deployment(call: CoeCall, _: Nothing) -> Restarted:
    """Have a deployment replace its pods, as many at a time as its strategy permits."""
    namespace = checked("namespace", call.arguments["namespace"])
    name = checked("deployment", call.arguments["name"])
    now = datetime.now(UTC).replace(microsecond=0)
    annotations = {RESTARTED_AT: now.isoformat().replace("+00:00", "Z")}
    patch = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
    with _api(call) as api:
        changed = api.merge(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}", patch)
    generation = changed["metadata"]["generation"]
    return Restarted(namespace=namespace, name=name, restarted_at=now, generation=generation)


def _api(call: CoeCall) -> ClusterApi:
    return ClusterApi.of(call.api_address, call.context.read_secrets())


def _path(group: str, plural: str, wish: Within) -> str:
    if wish.namespace is None:
        return f"{group}/{plural}"
    return f"{group}/namespaces/{checked('namespace', wish.namespace)}/{plural}"


KUBERNETES_API = CoeApi(
    "kubernetes",
    (
        Route(
            Verb.POST,
            "kubeconfig/admin",
            "kubeconfig_admin",
            Access.OWNER,
            "Make a kubeconfig that may do everything.",
            kubeconfig.Kubeconfig,
            kubeconfig.for_administrators,
            kubeconfig.Lifetime,
        ),
        Route(
            Verb.POST,
            "kubeconfig/view",
            "kubeconfig_view",
            Access.MEMBER,
            "Make a kubeconfig that may look at everything but secrets.",
            kubeconfig.Kubeconfig,
            kubeconfig.for_viewers,
            kubeconfig.Lifetime,
        ),
        Route(
            Verb.GET,
            "nodes",
            "nodes",
            Access.READER,
            "List the nodes of a cluster.",
            NodeList,
            list_nodes,
            Nothing,
        ),
        Route(
            Verb.GET,
            "events",
            "events",
            Access.READER,
            "List the newest events of a cluster.",
            EventList,
            list_events,
            Within,
        ),
        Route(
            Verb.GET,
            "workloads",
            "workloads",
            Access.READER,
            "List what runs in a cluster, what is not ready first.",
            Workloads,
            list_workloads,
            Within,
        ),
        Route(
            Verb.POST,
            "deployments/{namespace}/{name}/restart",
            "restart",
            Access.MEMBER,
            "Restart the pods of a deployment one after the other.",
            Restarted,
            restart_deployment,
            Nothing,
        ),
    ),
)
