"""How a swarm is: whether Docker answers, and whether the managers see each other."""

from collections.abc import Collection
from typing import Any

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker.client import OK, EngineApi, Found, unknown
from jeroboam.drivers.nodes.health import LONGEST_REASON, Components
from jeroboam.errors import JeroboamError
from jeroboam.models import HealthStatus

API, SWARM = "api", "swarm"


def components(
    api_address: str | None, secrets: ClusterSecrets, names: Collection[str]
) -> Components:
    """Ask Docker on a manager whether it is there, and how it sees the swarm.

    Args:
        names: The cluster's nodes; of others that the swarm remembers nothing is wanted.
    """
    if not api_address:
        reason = "the address of the API is not known"
        return {API: (HealthStatus.UNKNOWN, reason), SWARM: (HealthStatus.UNKNOWN, reason)}
    try:
        with EngineApi.of(api_address, secrets) as api:
            return {API: api.probe("/_ping"), SWARM: _swarm(api, names)}
    except JeroboamError as error:
        return {API: unknown(error), SWARM: unknown(error)}


def _swarm(api: EngineApi, names: Collection[str]) -> Found:
    try:
        nodes = api.objects("/nodes")
    except JeroboamError as error:
        return unknown(error)
    known = {name: one for one in nodes if (name := _name(one)) in names and _up(one)}
    lost = sorted(set(names) - set(known))
    if not lost:
        return OK
    reason = f"the swarm does not reach {', '.join(lost)}"
    return HealthStatus.UNHEALTHY, reason[:LONGEST_REASON]


def _name(node: dict[str, Any]) -> str:
    return str((node.get("Description") or {}).get("Hostname") or "")


def _up(node: dict[str, Any]) -> bool:
    """Whether a node is ready and, as a manager, has a say."""
    ready = (node.get("Status") or {}).get("State") == "ready"
    manager = node.get("ManagerStatus")
    return ready and (manager is None or manager.get("Reachability") == "reachable")
