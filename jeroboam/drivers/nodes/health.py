"""How a cluster is: its servers as Nova has them, its components as they answer."""

from collections.abc import Callable, Mapping, Sequence

from jeroboam.errors import CloudUnavailableError, NotFoundError
from jeroboam.models import ClusterOutputs, ClusterSpec, Health, HealthStatus, Node

LONGEST_REASON = 200

Components = Mapping[str, tuple[HealthStatus, str]]
"""What was found of each component, and the reason; ``ok`` if all is well."""

_ACTIVE = "ACTIVE"


def checked(
    spec: ClusterSpec,
    observe: Callable[[], ClusterOutputs],
    components: Callable[[ClusterOutputs], Components],
) -> Health:
    """Return the health of a cluster, of which the cloud and then the cluster itself are asked.

    Args:
        observe: Asks the cloud for the servers.
        components: Asks the cluster, of which the cloud has told this.
    """
    try:
        outputs = observe()
    except (CloudUnavailableError, NotFoundError) as error:
        recorded = tuple(node for group in spec.node_groups for node in group.nodes)
        return silent(error.message, recorded)
    listed = tuple(node for group in outputs.nodes.values() for node in group)
    return summary(components(outputs), listed)


def summary(components: Components, nodes: Sequence[Node]) -> Health:
    """Return the health of a cluster.

    A node that Nova does not call ACTIVE, or a component that says that it is not well, make the
    cluster ``UNHEALTHY``. What cannot be reached from here may well be reached by others: that is
    ``UNKNOWN``.
    """
    reasons = {name: reason for name, (_, reason) in components.items()}
    reasons |= {node.name: _of_node(node) for node in nodes}
    statuses = {status for status, _ in components.values()} | {_status_of(one) for one in nodes}
    for status in (HealthStatus.UNHEALTHY, HealthStatus.UNKNOWN):
        if status in statuses:
            return Health(status=status, reasons=reasons)
    return Health(status=HealthStatus.HEALTHY, reasons=reasons)


def silent(reason: str, nodes: Sequence[Node] = ()) -> Health:
    """Return the health of a cluster whose cloud does not answer."""
    reasons = {"cloud": reason[:LONGEST_REASON], **{node.name: "not known" for node in nodes}}
    return Health(status=HealthStatus.UNKNOWN, reasons=reasons)


def _status_of(node: Node) -> HealthStatus:
    return HealthStatus.HEALTHY if node.status == _ACTIVE else HealthStatus.UNHEALTHY


def _of_node(node: Node) -> str:
    return "ok" if node.status == _ACTIVE else f"the server is {node.status}"
