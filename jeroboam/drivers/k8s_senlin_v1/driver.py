"""The driver; everything but its profile is shared by all drivers that make servers."""

from pathlib import Path

from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess, Provides, SupportsOwnerPreparation
from jeroboam.drivers.k8s_senlin_v1 import version
from jeroboam.drivers.senlin import acquaintance, engine, profiles
from jeroboam.drivers.servers import files
from jeroboam.drivers.servers.driver import ServersDriver


class SenlinDriver(ServersDriver, SupportsOwnerPreparation):
    """Virtual machines with Ubuntu, made by Senlin, set up by cloud-init and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu", coe="kubernetes"),)
    source = files.on_ubuntu(Path(__file__).parent / "templates")

    def engine(self) -> engine.SenlinEngine:
        """Return Senlin."""
        return engine.SenlinEngine()

    def prepare_owner(self, cloud: CloudAccess, owner: Session) -> None:
        """Introduce the owner to Senlin."""
        acquaintance.introduce(cloud, owner)

    def check_installation(self) -> None:
        """Check the profile."""
        profiles.read(self.source)
