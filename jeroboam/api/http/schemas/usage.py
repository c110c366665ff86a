"""What clusters use, on the wire."""

from collections.abc import Mapping

from jeroboam.api.http.schemas.base import ResponseModel, Timestamp
from jeroboam.models.monitoring import Monitored, NodeUsage


class NodeUsageBody(ResponseModel):
    """CPU in thousandths of a core and memory in MiB: in use, and there."""

    cpu_millicores: int
    cpu_capacity_millicores: int
    memory_mib: int
    memory_capacity_mib: int

    @classmethod
    def of(cls, usage: NodeUsage) -> "NodeUsageBody":
        """Return what one node uses, or all."""
        return cls(**usage.model_dump())


class UsageBody(ResponseModel):
    """What a cluster uses, as it was found last; ``null`` where nobody has found it out.

    ``source`` says whether the numbers are measured, or only reserved.
    """

    cluster_uuid: str
    checked_at: Timestamp | None
    next_check_at: Timestamp | None
    failures: int
    measured_at: Timestamp | None
    source: str | None
    total: NodeUsageBody | None
    nodes: Mapping[str, NodeUsageBody]

    @classmethod
    def of(cls, uuid: str, found: Monitored | None) -> "UsageBody":
        """Return the record of a cluster, which there may not be yet."""
        usage = found.usage if found else None
        nodes = usage.nodes if usage else {}
        return cls(
            cluster_uuid=uuid,
            checked_at=found.checked_at if found else None,
            next_check_at=found.next_at if found else None,
            failures=found.failures if found else 0,
            measured_at=found.usage_at if found else None,
            source=usage.source if usage else None,
            total=NodeUsageBody.of(usage.total) if usage else None,
            nodes={name: NodeUsageBody.of(one) for name, one in nodes.items()},
        )
