"""The driver; everything but its files is shared by all Mesos drivers on Heat."""

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.mesos.driver import MesosHeatDriver
from jeroboam.drivers.mesos_ubuntu_v1 import template_def, version
from jeroboam.drivers.nodes.cloud_config import CloudConfig


class MesosUbuntuDriver(MesosHeatDriver):
    """Virtual machines with Ubuntu, set up by cloud-init."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu", coe="mesos"),)
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION
    document = CloudConfig()
