"""The driver; everything but its workbook is shared by all drivers that make servers."""

from pathlib import Path

from jeroboam.drivers.base import Provides
from jeroboam.drivers.k8s_mistral_v1 import version
from jeroboam.drivers.mistral import engine
from jeroboam.drivers.servers import files
from jeroboam.drivers.servers.driver import ServersDriver


class MistralDriver(ServersDriver):
    """Virtual machines with Ubuntu, made by Mistral, set up by cloud-init and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu", coe="kubernetes"),)
    source = files.on_ubuntu(Path(__file__).parent / "templates")

    def engine(self) -> engine.MistralEngine:
        """Return Mistral."""
        return engine.MistralEngine()

    def check_installation(self) -> None:
        """Check the workbook."""
        engine.workbook(self.source)
