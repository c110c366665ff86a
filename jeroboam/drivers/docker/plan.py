"""What is decided of a cluster whose nodes run Docker."""

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar, Self

from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.nodes.plan import NodePlan
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup

NETWORK_DRIVER = "docker"


@dataclass(frozen=True)
class DockerPlan(NodePlan, ABC):
    """A cluster's settings with all defaults filled in.

    Args:
        network_words: Why there is no other network driver, for messages.
    """

    network_words: ClassVar[str]

    @classmethod
    def of(cls, spec: ClusterSpec, group: NodeGroup | None, table: LabelTable) -> Self:
        """Read a cluster's labels and template.

        Args:
            group: Whose labels override those of the cluster.
            table: The labels that the cluster's driver understands.

        Raises:
            InvalidRequestError: A label or the network driver is not understood.
        """
        driver = spec.template.network_driver or NETWORK_DRIVER
        if driver != NETWORK_DRIVER:
            raise InvalidRequestError(f"network_driver is '{driver}'; {cls.network_words}.")
        values = table.read({**spec.labels, **(group.labels if group else {})})
        return cls(spec=spec, labels=values)

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
