"""Puts the newest image into Glance; run it as a module, with ``--help``."""

from jeroboam.drivers.images import registration
from jeroboam.drivers.images.fedora_atomic import FedoraAtomic
from jeroboam.drivers.swarm_fedora_atomic_v1 import version

SOURCE = FedoraAtomic()

if __name__ == "__main__":
    registration.main(version.Driver, SOURCE)
