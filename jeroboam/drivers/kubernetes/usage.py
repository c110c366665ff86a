"""What the nodes of a cluster use: measured where it has a metrics server, else as reserved."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.drivers.kubernetes.objects import Object
from jeroboam.drivers.kubernetes.quantities import mebibytes, millicores, number
from jeroboam.errors import ClusterUnreachableError, NotFoundError, RateLimitedError
from jeroboam.models.monitoring import NodeUsage, Usage

MEASURED = "metrics.k8s.io: measured"
RESERVED = "pod requests: reserved, since the cluster has no metrics server"

_METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
_ENDED = {"Succeeded", "Failed"}


def read(api: ClusterApi, nodes: Iterable[Object]) -> Usage:
    """Return what the nodes use."""
    listed = list(nodes)
    try:
        measured = {one["metadata"]["name"]: one.get("usage") or {} for one in api.items(_METRICS)}
    except (NotFoundError, ClusterUnreachableError, RateLimitedError):
        # It is an extension of the API, which may be absent or down while the rest is well.
        measured = {}
    if measured:
        return Usage(source=MEASURED, nodes=dict(_measured(listed, measured)))
    pods = list(api.items("/api/v1/pods"))
    return Usage(source=RESERVED, nodes=dict(_reserved(listed, pods)))


def requests(pod: Object) -> Mapping[str, Decimal]:
    """Return what the scheduler reserves for a pod.

    That is the sum of its containers, or the largest of those that run first, and the sandbox.
    """
    spec = pod["spec"]
    reserved = {}
    for kind in ("cpu", "memory"):
        together = sum(
            (_request(one, kind) for one in spec.get("containers") or ()), start=Decimal(0)
        )
        first = max(
            (_request(one, kind) for one in spec.get("initContainers") or ()), default=Decimal(0)
        )
        reserved[kind] = max(together, first) + number((spec.get("overhead") or {}).get(kind))
    return reserved


def is_at_work(pod: Object) -> bool:
    """Whether a pod still holds what was reserved for it."""
    return (pod.get("status") or {}).get("phase") not in _ENDED


def _measured(
    nodes: Iterable[Object], measured: Mapping[str, Any]
) -> Iterable[tuple[str, NodeUsage]]:
    for node in nodes:
        name = node["metadata"]["name"]
        used = measured.get(name)
        if used is not None:
            cpu, memory = millicores(used.get("cpu")), mebibytes(used.get("memory"))
            yield name, _of(node, cpu, memory)


def _reserved(nodes: Iterable[Object], pods: Iterable[Object]) -> Iterable[tuple[str, NodeUsage]]:
    sums: dict[str, dict[str, Decimal]] = {}
    for pod in pods:
        where = pod["spec"].get("nodeName")
        if where and is_at_work(pod):
            held = sums.setdefault(where, {"cpu": Decimal(0), "memory": Decimal(0)})
            for kind, amount in requests(pod).items():
                held[kind] += amount
    for node in nodes:
        name = node["metadata"]["name"]
        held = sums.get(name, {})
        yield name, _of(node, millicores(held.get("cpu")), mebibytes(held.get("memory")))


def _of(node: Object, cpu: int, memory: int) -> NodeUsage:
    room = (node.get("status") or {}).get("allocatable") or {}
    return NodeUsage(
        cpu_millicores=cpu,
        cpu_capacity_millicores=millicores(room.get("cpu")),
        memory_mib=memory,
        memory_capacity_mib=mebibytes(room.get("memory")),
    )


def _request(container: Object, kind: str) -> Decimal:
    return number(((container.get("resources") or {}).get("requests") or {}).get(kind))
