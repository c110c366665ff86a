"""Which nodes of a swarm go, and how they are emptied first."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.nodes import choice
from jeroboam.drivers.swarm.monitor import RUNNING, reservations
from jeroboam.models import Node

MARK = "jeroboam.leaving"
"""The label on a node that Jeroboam has drained, and may open again."""


def orders(api: EngineApi, candidates: Sequence[Node]) -> Mapping[str, choice.Order]:
    """Return how much each node would be missed: broken and empty ones least."""
    known, tasks = _by_name(api), _moving(api)
    held = reservations(tasks)
    return {node.name: _order(known.get(node.name), tasks, held) for node in candidates}


def empty(api: EngineApi, nodes: Sequence[Node]) -> Mapping[str, str]:
    """Have tasks leave nodes and no more come; return what is still there, by node."""
    known = _by_name(api)
    leaving = {}
    for node in nodes:
        found = known.get(node.name)
        if found is None or not _is_ready(found):
            # It never joined, or is lost: its tasks run elsewhere already.
            continue
        if found["Spec"].get("Availability") != "drain":
            labels = {**(found["Spec"].get("Labels") or {}), MARK: "true"}
            _change(api, found, Availability="drain", Labels=labels)
        leaving[found["ID"]] = node.name
    left: dict[str, int] = {}
    for task in api.objects("/tasks"):
        name = leaving.get(task.get("NodeID") or "")
        if name and (task.get("Status") or {}).get("State") == "running":
            left[name] = left.get(name, 0) + 1
    return {name: f"{number} tasks are still running" for name, number in left.items()}


def reopen(api: EngineApi, nodes: Iterable[Node]) -> None:
    """Let tasks onto nodes again that Jeroboam has drained, and onto no others."""
    known = _by_name(api)
    for node in nodes:
        found = known.get(node.name)
        labels = dict((found or {"Spec": {}})["Spec"].get("Labels") or {})
        if found is not None and labels.pop(MARK, None):
            _change(api, found, Availability="active", Labels=labels)


def _change(api: EngineApi, node: Mapping[str, Any], **fields: Any) -> None:
    """Change what a node shall be; Docker refuses if somebody has changed it meanwhile."""
    path = f"/nodes/{node['ID']}/update?version={node['Version']['Index']}"
    api.send(path, {**node["Spec"], **fields})


def _by_name(api: EngineApi) -> dict[str, dict[str, Any]]:
    """Return the nodes by name; of doubles the one that is ready."""
    nodes = sorted(api.objects("/nodes"), key=_is_ready)
    return {(one.get("Description") or {}).get("Hostname") or "": one for one in nodes}


def _is_ready(node: Mapping[str, Any]) -> bool:
    return (node.get("Status") or {}).get("State") == "ready"


def _moving(api: EngineApi) -> list[dict[str, Any]]:
    """Return the tasks that would start elsewhere; a global service has one on each node."""
    everywhere = {
        one["ID"] for one in api.objects("/services") if "Global" in (one["Spec"].get("Mode") or {})
    }
    return [one for one in api.objects(RUNNING) if one.get("ServiceID") not in everywhere]


def _order(
    node: Mapping[str, Any] | None,
    tasks: Iterable[Mapping[str, Any]],
    held: Mapping[str, tuple[int, int]],
) -> choice.Order:
    if node is None:
        return (False, 0, 0, 0)
    number = sum(1 for one in tasks if one.get("NodeID") == node["ID"])
    return (_is_ready(node), number, *held.get(node["ID"], (0, 0)))
