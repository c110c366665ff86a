"""What is decided of a Mesos cluster before any file is written: labels read, quorum computed."""

from dataclasses import dataclass
from typing import ClassVar

from jeroboam.drivers.docker.plan import DockerPlan

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
    network_words: ClassVar[str] = "Mesos has the tasks' network made by docker"

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
