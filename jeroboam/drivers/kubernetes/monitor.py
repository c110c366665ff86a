"""How a Kubernetes cluster is, component by component and node by node, and what it uses."""

from collections.abc import Iterable, Mapping

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.kubernetes import usage
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.drivers.kubernetes.objects import Object, is_ready, problems
from jeroboam.errors import JeroboamError
from jeroboam.models import Health, HealthStatus
from jeroboam.models.monitoring import Observation

API = "api"
OK = "ok"

_LONGEST_REASON = 200


def observe(address: str | None, secrets: ClusterSecrets, known: Health) -> Observation:
    """Add what the cluster says of itself to what is known of it.

    A node that is not ready makes the cluster ``UNHEALTHY``. An API that cannot be reached from
    here may well be reached by others: that is ``UNKNOWN``, with the reason.

    Args:
        known: For example what the cloud says of the servers.
    """
    try:
        with ClusterApi.of(address, secrets) as api:
            nodes = list(api.items("/api/v1/nodes"))
            reasons = {API: OK, **_of_nodes(nodes)}
            used = usage.read(api, nodes)
    except JeroboamError as error:
        reason = error.message[:_LONGEST_REASON]
        return Observation(health=_worse(known, HealthStatus.UNKNOWN, {API: reason}))
    bad = any(text != OK for text in reasons.values())
    status = HealthStatus.UNHEALTHY if bad else HealthStatus.HEALTHY
    return Observation(health=_worse(known, status, reasons), usage=used)


def _of_nodes(nodes: Iterable[Object]) -> Mapping[str, str]:
    return {node["metadata"]["name"]: _of_node(node) for node in nodes}


def _of_node(node: Object) -> str:
    found = problems(node)
    if not found and not is_ready(node):
        return "the kubelet has not reported yet"
    text = "; ".join(f"{kind}: {message}" for kind, message in found.items())
    return text[:_LONGEST_REASON] or OK


def _worse(known: Health, status: HealthStatus, reasons: Mapping[str, str]) -> Health:
    """Join two findings; of a node that both know, the one that complains is kept."""
    joined = {**known.reasons, **{key: text for key, text in reasons.items() if text != OK}}
    for key in reasons:
        joined.setdefault(key, OK)
    for worst in (HealthStatus.UNHEALTHY, HealthStatus.UNKNOWN):
        if worst in {known.status, status}:
            return Health(status=worst, reasons=joined)
    return Health(status=HealthStatus.HEALTHY, reasons=joined)
