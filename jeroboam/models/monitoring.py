"""What regular looks at clusters find: health, and what their nodes use."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from pydantic import Field

from jeroboam.models.base import Model
from jeroboam.models.cluster import Health

LONGEST_PAUSE = timedelta(hours=1)
"""A cluster that cannot be reached is looked at at least so often."""

MOST_DOUBLINGS = 10


class NodeUsage(Model):
    """What one node has, and what of it is in use; CPU in thousandths of a core, memory in MiB."""

    cpu_millicores: int
    cpu_capacity_millicores: int
    memory_mib: int
    memory_capacity_mib: int


class Usage(Model):
    """What the nodes of a cluster use.

    Args:
        source: Where the numbers come from, in words: what is measured, or what is only reserved.
    """

    source: str
    nodes: Mapping[str, NodeUsage] = Field(default_factory=dict)

    @property
    def total(self) -> NodeUsage:
        """The sums over all nodes."""
        nodes = self.nodes.values()
        return NodeUsage(
            cpu_millicores=sum(node.cpu_millicores for node in nodes),
            cpu_capacity_millicores=sum(node.cpu_capacity_millicores for node in nodes),
            memory_mib=sum(node.memory_mib for node in nodes),
            memory_capacity_mib=sum(node.memory_capacity_mib for node in nodes),
        )


class Observation(Model):
    """What one look at a cluster found.

    Args:
        usage: ``None`` where it cannot be told.
    """

    health: Health
    usage: Usage | None = None


class Monitored(Model):
    """What is recorded of the looks at a cluster.

    Args:
        failures: How many looks in a row found nothing out.
        next_at: When it is looked at again.
        usage: What the last look that found it out has found.
    """

    cluster_id: str
    checked_at: datetime
    next_at: datetime
    failures: int = 0
    usage: Usage | None = None
    usage_at: datetime | None = None


def pause(interval: timedelta, failures: int, chance: float) -> timedelta:
    """Return how long to wait for the next look.

    It doubles with each failure in a row. No two clusters keep step: it is up to a tenth shorter
    or longer.

    Args:
        chance: A random number from 0 to 1.
    """
    longest = max(LONGEST_PAUSE, interval)
    doubled = min(interval * (1 << min(failures, MOST_DOUBLINGS)), longest)
    return doubled * (0.9 + 0.2 * chance)
