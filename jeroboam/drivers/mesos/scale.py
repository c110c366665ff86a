"""Which agents of Mesos go, and how they are emptied first.

An agent is emptied by Mesos' own draining, which agents understand from Mesos 1.9: nothing new is
offered of it, its tasks are killed in their own grace period, and Marathon starts them elsewhere.
"""

from collections.abc import Iterable, Mapping, Sequence

from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.mesos import agents
from jeroboam.drivers.mesos.agents import Agent
from jeroboam.drivers.nodes import choice
from jeroboam.models import Node

CALLS = "/mesos/api/v1"

GRACE_NANOSECONDS = 300_000_014_131
"""How long a task may take to end. The odd number is the mark of Jeroboam's drains, which may be
ended again: Mesos keeps nothing else that a caller tells."""


def orders(api: EngineApi, candidates: Sequence[Node]) -> Mapping[str, choice.Order]:
    """Return how much each agent would be missed: lost and empty ones least."""
    found = agents.of_nodes(api, candidates)
    return {node.name: _order(found.get(node.name)) for node in candidates}


def empty(api: EngineApi, nodes: Sequence[Node]) -> Mapping[str, str]:
    """Have tasks leave agents and no more come; return what is still there, by node."""
    left = {}
    for name, agent in agents.of_nodes(api, nodes).items():
        if not agent.active or not agent.can_drain:
            # It is lost, or of a Mesos that cannot: its tasks start elsewhere when it has gone.
            continue
        if not agent.drain:
            wish = {"max_grace_period": {"nanoseconds": GRACE_NANOSECONDS}}
            _call(api, "drain_agent", agent, **wish)
        if agent.tasks:
            left[name] = f"{agent.tasks} tasks have not ended"
    return left


def reopen(api: EngineApi, nodes: Iterable[Node]) -> None:
    """Let tasks onto agents again that Jeroboam has drained, and onto no others."""
    for agent in agents.of_nodes(api, nodes).values():
        asked = (agent.drain.get("config") or {}).get("max_grace_period") or {}
        if int(asked.get("nanoseconds") or 0) == GRACE_NANOSECONDS:
            _call(api, "reactivate_agent", agent)


def _call(api: EngineApi, name: str, agent: Agent, **arguments: object) -> None:
    body = {"type": name.upper(), name: {"agent_id": {"value": agent.id}, **arguments}}
    api.send(CALLS, body)


def _order(agent: Agent | None) -> choice.Order:
    if agent is None:
        return (False,)
    return (agent.active, agent.tasks, agent.cpus[0], agent.memory[0])
