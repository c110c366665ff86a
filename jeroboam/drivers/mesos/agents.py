"""The agents of a cluster as the leading master lists them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from jeroboam.drivers.docker.client import EngineApi
from jeroboam.errors import ClusterUnreachableError
from jeroboam.models import Node

SUMMARY = "/mesos/state-summary"

_TASKS = ("TASK_STAGING", "TASK_STARTING", "TASK_RUNNING", "TASK_KILLING")
_DRAINING = "AGENT_DRAINING"


@dataclass(frozen=True)
class Agent:
    """One agent.

    Args:
        address: At which the master reaches it, in the cluster's network.
        active: Whether it is connected.
        can_drain: Whether it understands to be drained: from Mesos 1.9.
        closed: Whether no more tasks come to it.
        drain: How it is drained, if it is.
        tasks: How many have not ended.
        cpus: What tasks hold, and what there is; memory in MiB.
    """

    id: str
    address: str
    active: bool
    can_drain: bool
    closed: bool
    drain: Mapping[str, Any]
    tasks: int
    cpus: tuple[float, float]
    memory: tuple[float, float]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read an agent as the master's summary shows it."""
        held, there = told.get("used_resources") or {}, told.get("resources") or {}
        return cls(
            id=str(told["id"]),
            address=_host(str(told.get("pid") or "")),
            active=bool(told.get("active")),
            can_drain=_DRAINING in (told.get("capabilities") or ()),
            closed=bool(told.get("deactivated")),
            drain=told.get("drain_info") or {},
            tasks=sum(int(told.get(state) or 0) for state in _TASKS),
            cpus=(float(held.get("cpus") or 0), float(there.get("cpus") or 0)),
            memory=(float(held.get("mem") or 0), float(there.get("mem") or 0)),
        )


def of_nodes(api: EngineApi, nodes: Iterable[Node]) -> Mapping[str, Agent]:
    """Return the agents of nodes by the nodes' names; one that has no agent is left out.

    Raises:
        ClusterUnreachableError: The master does not answer, or with something else.
    """
    summary = api.read(SUMMARY)
    told = summary.get("slaves") if isinstance(summary, dict) else None
    if not isinstance(told, list):
        raise ClusterUnreachableError("The master of Mesos answers with something else.")
    # Of two with one address, which a node has after it was set up anew, the one at work counts.
    agents = sorted(map(Agent.of, told), key=lambda one: one.active)
    by_address = {one.address: one for one in agents}
    return {
        node.name: by_address[address]
        for node in nodes
        for address in node.addresses
        if address in by_address
    }


def _host(process: str) -> str:
    """Return the host of a process' name, as in ``slave(1)@10.0.0.7:5051``."""
    return process.partition("@")[2].rpartition(":")[0].strip("[]")
