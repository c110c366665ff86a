"""The driver; everything but its playbooks is shared by all drivers that make servers."""

from pathlib import Path

from jeroboam.drivers.ansible import engine, installation
from jeroboam.drivers.base import Provides
from jeroboam.drivers.k8s_ansible_v1 import version
from jeroboam.drivers.servers import files
from jeroboam.drivers.servers.driver import ServersDriver


class AnsibleDriver(ServersDriver):
    """Virtual machines with Ubuntu, made by Ansible, set up by cloud-init and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu", coe="kubernetes"),)
    source = files.on_ubuntu(Path(__file__).parent / "templates")

    def engine(self) -> engine.AnsibleEngine:
        """Return Ansible."""
        return engine.AnsibleEngine()

    def check_installation(self) -> None:
        """Check that Ansible, its collection and the playbooks are there."""
        installation.check()
        for name in engine.PLAYBOOKS:
            self.source.read(name)
