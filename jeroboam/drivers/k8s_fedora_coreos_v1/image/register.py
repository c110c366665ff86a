"""Puts the newest image into Glance; run it as a module, with ``--help``."""

from jeroboam.drivers.images import registration
from jeroboam.drivers.images.fedora_coreos import FedoraCoreos
from jeroboam.drivers.k8s_fedora_coreos_v1 import version

SOURCE = FedoraCoreos()

if __name__ == "__main__":
    registration.main(version.Driver, SOURCE)
