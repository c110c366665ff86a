"""What is decided of a cluster whose nodes run Docker."""

from abc import ABC
from dataclasses import dataclass

from jeroboam.drivers.nodes.plan import NodePlan


@dataclass(frozen=True)
class DockerPlan(NodePlan, ABC):
    """A cluster's settings with all defaults filled in."""

    @property
    def container_version(self) -> str:
        """The version of Docker."""
        return str(self.labels["docker_version"])

    @property
    def no_proxy(self) -> str:
        """The user's exceptions and the network of the nodes."""
        given = (self.spec.template.no_proxy or "").replace(" ", "")
        own = ["127.0.0.1", "localhost"]
        if not self.spec.cluster.fixed_network:
            own.append(str(self.labels["fixed_subnet_cidr"]))
        return ",".join([*filter(None, given.split(",")), *own])
