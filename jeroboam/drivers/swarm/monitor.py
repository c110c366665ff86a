"""What the nodes of a swarm use: Docker tells what is reserved for tasks, and measures nothing."""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.errors import JeroboamError
from jeroboam.models import Health
from jeroboam.models.monitoring import NodeUsage, Observation, Usage

RESERVED = "task reservations: reserved, since a swarm measures nothing"
RUNNING = f"/tasks?{urlencode({'filters': json.dumps({'desired-state': ['running']})})}"

_MILLION, _MEBIBYTE = 1_000_000, 1 << 20


def observe(address: str | None, secrets: ClusterSecrets, known: Health) -> Observation:
    """Add what is reserved to what is known of a cluster.

    Args:
        known: What its cloud and its managers say of it.
    """
    try:
        with EngineApi.of(address, secrets) as api:
            return Observation(health=known, usage=read(api))
    except JeroboamError:
        # The health tells already why it does not answer.
        return Observation(health=known)


def read(api: EngineApi) -> Usage:
    """Return what is reserved on the nodes that are ready.

    Raises:
        ClusterUnreachableError: Docker does not answer.
    """
    held = reservations(api.objects(RUNNING))
    nodes = [
        one for one in api.objects("/nodes") if (one.get("Status") or {}).get("State") == "ready"
    ]
    return Usage(
        source=RESERVED,
        nodes={
            one["Description"]["Hostname"]: _usage(one, held.get(one["ID"], (0, 0)))
            for one in nodes
        },
    )


def reservations(tasks: Iterable[Mapping[str, Any]]) -> Mapping[str, tuple[int, int]]:
    """Return the billionths of a core and the bytes that tasks hold, by the id of their node."""
    held: dict[str, tuple[int, int]] = {}
    for task in tasks:
        node = task.get("NodeID")
        if node:
            cpu, memory = held.get(node, (0, 0))
            wish = ((task.get("Spec") or {}).get("Resources") or {}).get("Reservations") or {}
            cpu += wish.get("NanoCPUs") or 0
            memory += wish.get("MemoryBytes") or 0
            held[node] = cpu, memory
    return held


def _usage(node: Mapping[str, Any], held: tuple[int, int]) -> NodeUsage:
    room = (node.get("Description") or {}).get("Resources") or {}
    cpu, memory = held
    return NodeUsage(
        cpu_millicores=cpu // _MILLION,
        cpu_capacity_millicores=(room.get("NanoCPUs") or 0) // _MILLION,
        memory_mib=memory // _MEBIBYTE,
        memory_capacity_mib=(room.get("MemoryBytes") or 0) // _MEBIBYTE,
    )
