"""What the agents of Mesos use: the master tells what tasks hold, and measures nothing."""

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.mesos import agents
from jeroboam.drivers.mesos.agents import Agent
from jeroboam.drivers.mesos.leader import leading
from jeroboam.errors import JeroboamError
from jeroboam.models import ClusterSpec, Health
from jeroboam.models.monitoring import NodeUsage, Observation, Usage

HELD = "resources of tasks: reserved, as the master of Mesos counts them"

_THOUSAND = 1000


def observe(spec: ClusterSpec, secrets: ClusterSecrets, known: Health) -> Observation:
    """Add what tasks hold to what is known of a cluster.

    Args:
        known: What its cloud and its masters say of it.
    """
    nodes = [node for group in spec.workers for node in group.nodes]
    try:
        with leading(spec, secrets) as api:
            found = agents.of_nodes(api, nodes)
    except JeroboamError:
        # The health tells already why it does not answer.
        return Observation(health=known)
    usage = {name: _usage(agent) for name, agent in found.items() if agent.active}
    return Observation(health=known, usage=Usage(source=HELD, nodes=usage))


def _usage(agent: Agent) -> NodeUsage:
    (cpu, cpus), (memory, memories) = agent.cpus, agent.memory
    return NodeUsage(
        cpu_millicores=round(cpu * _THOUSAND),
        cpu_capacity_millicores=round(cpus * _THOUSAND),
        memory_mib=round(memory),
        memory_capacity_mib=round(memories),
    )
