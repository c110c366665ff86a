"""What callers read of a cluster's Kubernetes objects: the few fields that people look for."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Self

from jeroboam.drivers.kubernetes.quantities import mebibytes, millicores
from jeroboam.models import Model

Object = Mapping[str, Any]

_ROLE = "node-role.kubernetes.io/"
_SUSPECT = {"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}


class NodeView(Model):
    """A node as its cluster sees it.

    Args:
        schedulable: Whether new pods may go there.
        problems: Conditions that should not be, with their messages.
    """

    name: str
    ready: bool
    schedulable: bool
    roles: tuple[str, ...]
    version: str | None
    addresses: tuple[str, ...]
    cpu_millicores: int
    memory_mib: int
    problems: Mapping[str, str]
    created_at: datetime | None

    @classmethod
    def of(cls, node: Object) -> Self:
        """Read a node."""
        meta, spec, status = _parts(node)
        labels = meta.get("labels") or {}
        allocatable = status.get("allocatable") or {}
        return cls(
            name=meta["name"],
            ready=is_ready(node),
            schedulable=not spec.get("unschedulable", False),
            roles=tuple(sorted(one.removeprefix(_ROLE) for one in labels if one.startswith(_ROLE))),
            version=(status.get("nodeInfo") or {}).get("kubeletVersion") or None,
            addresses=tuple(one["address"] for one in status.get("addresses") or ()),
            cpu_millicores=millicores(allocatable.get("cpu")),
            memory_mib=mebibytes(allocatable.get("memory")),
            problems=problems(node),
            created_at=meta.get("creationTimestamp"),
        )


class EventView(Model):
    """Something that happened in a cluster."""

    at: datetime | None
    type: str
    reason: str
    message: str
    kind: str
    namespace: str
    name: str
    count: int

    @classmethod
    def of(cls, event: Object) -> Self:
        """Read an event, of the old form or the new."""
        about = event.get("involvedObject") or {}
        series = event.get("series") or {}
        meta = event["metadata"]
        moments = (
            series.get("lastObservedTime"),
            event.get("lastTimestamp"),
            event.get("eventTime"),
            meta.get("creationTimestamp"),
        )
        return cls(
            at=next((moment for moment in moments if moment), None),
            type=event.get("type") or "Normal",
            reason=event.get("reason") or "",
            message=event.get("message") or "",
            kind=about.get("kind") or "",
            namespace=about.get("namespace") or meta.get("namespace") or "",
            name=about.get("name") or "",
            count=series.get("count") or event.get("count") or 1,
        )


class WorkloadView(Model):
    """A deployment, stateful set or daemon set, with the numbers of its pods."""

    kind: str
    namespace: str
    name: str
    desired: int
    ready: int
    updated: int

    @classmethod
    def of(cls, kind: str, workload: Object) -> Self:
        """Read one; a daemon set has other names for the same."""
        meta, spec, status = _parts(workload)
        if kind == "DaemonSet":
            desired = status.get("desiredNumberScheduled", 0)
            ready, updated = status.get("numberReady", 0), status.get("updatedNumberScheduled", 0)
        else:
            desired = spec.get("replicas", 1)
            ready, updated = status.get("readyReplicas", 0), status.get("updatedReplicas", 0)
        return cls(
            kind=kind,
            namespace=meta["namespace"],
            name=meta["name"],
            desired=desired,
            ready=ready,
            updated=updated,
        )


def is_ready(node: Object) -> bool:
    """Whether a node's kubelet says that it is ready, and has said so lately."""
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in _conditions(node)
    )


def problems(node: Object) -> Mapping[str, str]:
    """Return the conditions of a node that should not be."""
    return {
        condition["type"]: condition.get("message") or condition.get("reason") or "yes"
        for condition in _conditions(node)
        if (condition["type"] == "Ready" and condition.get("status") != "True")
        or (condition["type"] in _SUSPECT and condition.get("status") == "True")
    }


def count_phases(pods: Iterable[Object]) -> Mapping[str, int]:
    """Return how many pods there are of each phase."""
    counted: dict[str, int] = {}
    for pod in pods:
        phase = (pod.get("status") or {}).get("phase") or "Unknown"
        counted[phase] = counted.get(phase, 0) + 1
    return counted


def _conditions(node: Object) -> Iterable[Object]:
    return (node.get("status") or {}).get("conditions") or ()


def _parts(found: Object) -> tuple[Object, Object, Object]:
    return found["metadata"], found.get("spec") or {}, found.get("status") or {}
