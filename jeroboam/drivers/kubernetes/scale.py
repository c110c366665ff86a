"""Which nodes of a cluster go, and how they are emptied first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.drivers.kubernetes.objects import Object, is_ready
from jeroboam.drivers.kubernetes.quantities import number
from jeroboam.drivers.kubernetes.selectors import selects
from jeroboam.drivers.kubernetes.usage import is_at_work, requests
from jeroboam.drivers.nodes import choice
from jeroboam.errors import ConflictError, NotFoundError, RateLimitedError
from jeroboam.models import Node

MARK = "jeroboam/leaving"
"""The annotation on a node that Jeroboam has closed, and may open again."""

_MIRROR = "kubernetes.io/config.mirror"
_LONGEST_REASON = 200


@dataclass(frozen=True)
class Standing:
    """How much would be disturbed if a node went; the smallest goes first.

    Args:
        guarded: Whether it has a pod that may not be evicted now.
        works: Whether its kubelet is ready.
        pods: How many pods would have to move.
        load: The larger share of CPU or memory that is reserved for these.
    """

    guarded: bool
    works: bool
    pods: int
    load: Decimal

    @property
    def order(self) -> choice.Order:
        """What nodes are sorted by: those that are broken and those that are empty go first."""
        return (self.guarded, self.works, self.pods > 0, float(self.load), self.pods)


def orders(api: ClusterApi, candidates: Sequence[Node]) -> Mapping[str, choice.Order]:
    """Return how much each node would be missed: those that disturb least are missed least."""
    known = {one["metadata"]["name"]: one for one in api.items("/api/v1/nodes")}
    pods = _by_node(api.items("/api/v1/pods"))
    budgets = [one for one in api.items("/apis/policy/v1/poddisruptionbudgets") if _used_up(one)]
    return {
        node.name: standing(known.get(node.name), pods.get(node.name, ()), budgets).order
        for node in candidates
    }


def standing(
    node: Object | None, pods: Iterable[Object], used_up: Sequence[Object] = ()
) -> Standing:
    """Return how much would be disturbed if a node went.

    Args:
        node: As the cluster has it; ``None`` if it does not.
        used_up: The disruption budgets that permit nothing now.
    """
    if node is None:
        return Standing(guarded=False, works=False, pods=0, load=Decimal(0))
    moving = [pod for pod in pods if moves(pod)]
    room = (node.get("status") or {}).get("allocatable") or {}
    return Standing(
        guarded=any(guards(budget, pod) for budget in used_up for pod in moving),
        works=is_ready(node),
        pods=len(moving),
        load=max(_share(moving, room, kind) for kind in ("cpu", "memory")),
    )


def moves(pod: Object) -> bool:
    """Whether a pod has to go elsewhere before its node goes.

    Pods of daemon sets and of the kubelet itself belong to their node.
    """
    meta = pod["metadata"]
    owners = {owner.get("kind") for owner in meta.get("ownerReferences") or ()}
    belongs = "DaemonSet" in owners or _MIRROR in (meta.get("annotations") or {})
    return not belongs and is_at_work(pod)


def guards(budget: Object, pod: Object) -> bool:
    """Whether a disruption budget is about a pod."""
    same = budget["metadata"]["namespace"] == pod["metadata"]["namespace"]
    labels = pod["metadata"].get("labels") or {}
    return same and selects((budget.get("spec") or {}).get("selector"), labels)


def close(api: ClusterApi, nodes: Iterable[Node]) -> tuple[str, ...]:
    """Have no more pods put onto nodes; return the names of those that the cluster has.

    A node that somebody else has closed stays theirs: it is not opened again later.
    """
    found = []
    for node in nodes:
        try:
            current = api.get(f"/api/v1/nodes/{node.name}")
        except NotFoundError:
            # It never joined, or somebody removed it: there is nothing to empty.
            continue
        if not (current.get("spec") or {}).get("unschedulable"):
            patch = {"metadata": {"annotations": {MARK: "true"}}, "spec": {"unschedulable": True}}
            api.merge(f"/api/v1/nodes/{node.name}", patch)
        found.append(node.name)
    return tuple(found)


def reopen(api: ClusterApi, nodes: Iterable[Node]) -> None:
    """Let pods onto nodes again that ``close`` has closed."""
    for node in nodes:
        try:
            current = api.get(f"/api/v1/nodes/{node.name}")
        except NotFoundError:
            continue
        if MARK in (current["metadata"].get("annotations") or {}):
            patch = {"metadata": {"annotations": {MARK: None}}, "spec": {"unschedulable": None}}
            api.merge(f"/api/v1/nodes/{node.name}", patch)


def empty(api: ClusterApi, nodes: Iterable[Node]) -> Mapping[str, str]:
    """Close nodes and evict their pods, once; return the pods that are still there, and why."""
    left: dict[str, str] = {}
    for name in close(api, nodes):
        works = is_ready(api.get(f"/api/v1/nodes/{name}"))
        for pod in api.items("/api/v1/pods", fieldSelector=f"spec.nodeName={name}"):
            left |= _evict(api, pod, works=works)
    return left


def _evict(api: ClusterApi, pod: Object, *, works: bool) -> Mapping[str, str]:
    meta = pod["metadata"]
    title = f"{meta['namespace']}/{meta['name']}"
    if not moves(pod):
        return {}
    if meta.get("deletionTimestamp"):
        # Nobody is there to end it on a node whose kubelet is gone.
        return {title: "it is ending"} if works else {}
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
        "deleteOptions": {"preconditions": {"uid": meta["uid"]}},
    }
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/eviction"
    try:
        api.create(path, eviction)
    except NotFoundError:
        return {}
    except (RateLimitedError, ConflictError) as error:
        return {title: error.message[:_LONGEST_REASON]}
    return {title: "it is ending"}


def _by_node(pods: Iterable[Object]) -> Mapping[str, list[Object]]:
    found: dict[str, list[Object]] = {}
    for pod in pods:
        found.setdefault(pod["spec"].get("nodeName") or "", []).append(pod)
    return found


def _used_up(budget: Object) -> bool:
    return not (budget.get("status") or {}).get("disruptionsAllowed")


def _share(pods: Iterable[Object], room: Object, kind: str) -> Decimal:
    there = number(room.get(kind))
    held = sum((requests(pod)[kind] for pod in pods), start=Decimal(0))
    return held / there if there else Decimal(0)
