"""What is decided of a swarm before any file is written: labels read, names resolved."""

from dataclasses import dataclass
from typing import ClassVar

from jeroboam.drivers.docker.plan import DockerPlan

DEFAULT_API_PORT = 2376
JOIN_PORT = 2378
"""Where managers hand workers their token."""

SWARM_PORT = 2377
_GOSSIP, _DATA_PATH = 7946, 4789
RESERVED_PORTS = frozenset({JOIN_PORT, SWARM_PORT, _GOSSIP, _DATA_PATH, 22})


@dataclass(frozen=True)
class SwarmPlan(DockerPlan):
    """A cluster's settings with all defaults filled in."""

    network_words: ClassVar[str] = "a swarm brings its own network along, which is called docker"

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
