"""Puts the newest image into Glance; run it as a module, with ``--help``."""

from jeroboam.drivers.images import registration
from jeroboam.drivers.images.ubuntu import Ubuntu
from jeroboam.drivers.k8s_senlin_v1 import version

SOURCE = Ubuntu()

if __name__ == "__main__":
    registration.main(version.Driver, SOURCE)
