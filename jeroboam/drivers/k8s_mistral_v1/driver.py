"""The driver; everything but its workbook is shared by all drivers that make servers."""

from pathlib import Path

from jeroboam.drivers import k8s_ubuntu_v1, kubernetes, nodes
from jeroboam.drivers.base import Provides
from jeroboam.drivers.k8s_mistral_v1 import version
from jeroboam.drivers.mistral import engine
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.servers.driver import ServersDriver


class MistralDriver(ServersDriver):
    """Virtual machines with Ubuntu, made by Mistral, set up by cloud-init and kubeadm."""

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

    def engine(self) -> engine.MistralEngine:
        """Return Mistral."""
        return engine.MistralEngine()

    def check_installation(self) -> None:
        """Check the workbook."""
        engine.workbook(self.source)
