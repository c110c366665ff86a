"""What is decided of a Mesos cluster before any file is written: labels read, quorum computed."""

from dataclasses import dataclass
from typing import ClassVar

from jeroboam.drivers.docker.plan import DockerPlan
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.mesos import labels
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup

NETWORK_DRIVER = "docker"
DEFAULT_API_PORT = 8443
MARATHON_PORT, MASTER_PORT, AGENT_PORT = 8080, 5050, 5051
_ZOOKEEPER_PORTS = (2181, 2888, 3888)
RESERVED_PORTS = frozenset({MARATHON_PORT, MASTER_PORT, AGENT_PORT, *_ZOOKEEPER_PORTS, 22})


@dataclass(frozen=True)
class MesosPlan(DockerPlan):
    """A cluster's settings with all defaults filled in.

    Args:
        tells_masters: Every node finds ZooKeeper by the addresses of all masters.
    """

    tells_masters: ClassVar[bool] = True

    @classmethod
    def of(
        cls, spec: ClusterSpec, group: NodeGroup | None = None, table: LabelTable = labels.TABLE
    ) -> "MesosPlan":
        """Read a cluster's labels and template.

        Args:
            group: Whose labels override those of the cluster.
            table: The labels that the cluster's driver understands.

        Raises:
            InvalidRequestError: A label or the network driver is not understood.
        """
        driver = spec.template.network_driver or NETWORK_DRIVER
        if driver != NETWORK_DRIVER:
            raise InvalidRequestError(
                f"network_driver is '{driver}'; Mesos has the tasks' network made by "
                f"{NETWORK_DRIVER}."
            )
        values = table.read({**spec.labels, **(group.labels if group else {})})
        return cls(spec=spec, labels=values)

    @property
    def coe_version(self) -> str:
        """The version of Mesos."""
        return str(self.labels["mesos_tag"])

    @property
    def api_port(self) -> int:
        """The port on which the masters serve Marathon and Mesos by TLS."""
        return self.spec.template.apiserver_port or DEFAULT_API_PORT

    @property
    def image_prefix(self) -> str:
        """The registry of the cluster's own images, without a slash at the end."""
        return str(self.labels["container_infra_prefix"] or "").rstrip("/")

    @property
    def quorum(self) -> int:
        """How many masters have to agree, in Mesos' log as in ZooKeeper."""
        return self.spec.masters.node_count // 2 + 1
