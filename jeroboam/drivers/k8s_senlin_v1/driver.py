"""The driver; everything but its profile is shared by all drivers that make servers."""

from pathlib import Path

from jeroboam.drivers import k8s_ubuntu_v1, kubernetes, nodes
from jeroboam.drivers.base import Provides
from jeroboam.drivers.k8s_senlin_v1 import version
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.senlin import engine, profiles
from jeroboam.drivers.servers.driver import ServersDriver


class SenlinDriver(ServersDriver):
    """Virtual machines with Ubuntu, made by Senlin, set up by cloud-init and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu", coe="kubernetes"),)
    source = Files(
        tuple(
            Path(package).parent / "templates"
            for package in (__file__, *(one.__file__ for one in (k8s_ubuntu_v1, kubernetes, nodes)))
            if package
        )
    )

    def engine(self) -> engine.SenlinEngine:
        """Return Senlin."""
        return engine.SenlinEngine()

    def check_installation(self) -> None:
        """Check the profile."""
        profiles.read(self.source)
