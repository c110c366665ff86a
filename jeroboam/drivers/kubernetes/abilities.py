"""What every driver can do whose clusters run Kubernetes, whatever engine builds them."""

from collections.abc import Mapping, Sequence

from jeroboam.drivers.base import DriverContext, SupportsDrain, SupportsHealth, SupportsMonitor
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.kubernetes import monitor, scale
from jeroboam.drivers.kubernetes.api import KUBERNETES_API
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.models import ClusterSpec, Node, NodeGroup
from jeroboam.models.monitoring import Observation


class RunsKubernetes(SupportsHealth, SupportsCoeApi, SupportsMonitor, SupportsDrain):
    """To be derived from beside the engine's class; it asks the clusters' own API.

    A driver only has to tell by ``check_health`` what its engine knows of the machines.
    """

    @property
    def coe_api(self) -> CoeApi:
        """The routes about Kubernetes."""
        return KUBERNETES_API

    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        """Add what the cluster says of itself to what its engine knows."""
        known = self.check_health(context, spec)
        return monitor.observe(spec.cluster.api_address, context.read_secrets(), known)

    def choose_removals(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        count: int,
        named: Sequence[Node],
    ) -> Sequence[Node]:
        """Take broken and empty nodes first, then the least loaded; guarded ones last."""
        with _api(context, spec) as api:
            return scale.choose(api, group.nodes, count, named)

    def drain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> Mapping[str, str]:
        """Cordon the nodes, and evict their pods as far as disruption budgets permit."""
        with _api(context, spec) as api:
            return scale.empty(api, nodes)

    def undrain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Uncordon what Jeroboam has cordoned."""
        with _api(context, spec) as api:
            scale.reopen(api, nodes)


def _api(context: DriverContext, spec: ClusterSpec) -> ClusterApi:
    return ClusterApi.of(spec.cluster.api_address, context.read_secrets())
