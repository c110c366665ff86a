"""What is decided of a cluster before any file is written, whatever its COE. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.models import ClusterSpec, NodeGroup


@dataclass(frozen=True)
class NodePlan(ABC):
    """A cluster's settings with all defaults filled in; each COE adds its own.

    Args:
        labels: Typed label values.
    """

    spec: ClusterSpec
    labels: Mapping[str, Any]

    @property
    @abstractmethod
    def coe_version(self) -> str:
        """The version of the COE."""

    @property
    @abstractmethod
    def api_port(self) -> int:
        """The port of the COE's API."""

    @property
    def container_version(self) -> str | None:
        """The version of the container runtime, where it was ordered."""
        return None

    @property
    def pod_range(self) -> str:
        """Addresses that nodes use beside their own; empty if there are none."""
        return ""

    @property
    def workers(self) -> NodeGroup | None:
        """The default worker group, if the cluster has one."""
        return next((group for group in self.spec.workers if group.is_default), None)

    def image_of(self, group: NodeGroup) -> str:
        """Return the image of a group's nodes."""
        return group.image_id or self.spec.template.image_id

    @property
    def worker_flavor(self) -> str | None:
        """The flavor of workers; a cluster without any still fills the template's parameter."""
        return (self.workers or self.spec.masters).flavor_id

    @property
    def load_balancer_is_public(self) -> bool:
        """Whether the API's load balancer gets a floating IP."""
        wish = self.labels["master_lb_floating_ip_enabled"]
        cluster = self.spec.cluster
        return cluster.master_lb_enabled and (cluster.floating_ip_enabled if wish is None else wish)

    @property
    def balancing(self) -> str:
        """How the load balancer chooses a master; OVN can do one way only, the others cannot."""
        only_way = "SOURCE_IP_PORT" if self.labels["octavia_provider"] == "ovn" else "ROUND_ROBIN"
        return str(self.labels["octavia_lb_algorithm"] or only_way)
