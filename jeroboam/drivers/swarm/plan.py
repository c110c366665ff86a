"""What is decided of a swarm before any file is written: labels read, names resolved."""

from dataclasses import dataclass

from jeroboam.drivers.docker.plan import DockerPlan
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.swarm import labels
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup

NETWORK_DRIVER = "docker"
DEFAULT_API_PORT = 2376
JOIN_PORT = 2378
"""Where managers hand workers their token."""

SWARM_PORT = 2377
_GOSSIP, _DATA_PATH = 7946, 4789
RESERVED_PORTS = frozenset({JOIN_PORT, SWARM_PORT, _GOSSIP, _DATA_PATH, 22})


@dataclass(frozen=True)
class SwarmPlan(DockerPlan):
    """A cluster's settings with all defaults filled in."""

    @classmethod
    def of(
        cls, spec: ClusterSpec, group: NodeGroup | None = None, table: LabelTable = labels.TABLE
    ) -> "SwarmPlan":
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
                f"network_driver is '{driver}'; a swarm brings its own network along, which is "
                f"called {NETWORK_DRIVER}."
            )
        values = table.read({**spec.labels, **(group.labels if group else {})})
        return cls(spec=spec, labels=values)

    @property
    def coe_version(self) -> str:
        """The version of Docker, of which Swarm is a part."""
        return self.container_version

    @property
    def api_port(self) -> int:
        """The port of Docker's API on the managers."""
        return self.spec.template.apiserver_port or DEFAULT_API_PORT

    @property
    def join_port(self) -> int:
        """The port on which managers hand workers their token."""
        return JOIN_PORT
