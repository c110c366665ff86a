"""The driver; everything but its profile is shared by all drivers that make servers."""

from pathlib import Path

from jeroboam.drivers.base import Provides
from jeroboam.drivers.k8s_senlin_v1 import version
from jeroboam.drivers.senlin import engine, profiles
from jeroboam.drivers.servers import files
from jeroboam.drivers.servers.driver import ServersDriver


class SenlinDriver(ServersDriver):
    """Virtual machines with Ubuntu, made by Senlin, set up by cloud-init and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu", coe="kubernetes"),)
    source = files.on_ubuntu(Path(__file__).parent / "templates")

    def engine(self) -> engine.SenlinEngine:
        """Return Senlin."""
        return engine.SenlinEngine()

    def check_installation(self) -> None:
        """Check the profile."""
        profiles.read(self.source)
