"""What crosses the wire to Temporal for the regular looks at clusters."""

from jeroboam.models.base import Model

MONITOR_WORKFLOW = "Monitor"


class MonitorRequest(Model):
    """The input of one look at one cluster.

    Args:
        queue: The task queue of the driver's own workers; ``None`` if any worker may look.
    """

    cluster_id: str
    queue: str | None = None


class Due(Model):
    """The clusters that are to be looked at now."""

    clusters: tuple[MonitorRequest, ...]
