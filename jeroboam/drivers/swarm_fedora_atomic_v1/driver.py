"""The driver; everything but its files is shared by all Swarm drivers on Heat."""

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.swarm.driver import SwarmHeatDriver
from jeroboam.drivers.nodes.cloud_config import CloudConfig
from jeroboam.drivers.swarm_fedora_atomic_v1 import template_def, version

_OS = "fedora-atomic"


class SwarmFedoraAtomicDriver(SwarmHeatDriver):
    """Virtual machines with Fedora Atomic, set up by cloud-init; Magnum knows both COE names."""

    name = version.Driver
    version = version.version
    provides = (
        Provides(server_type="vm", os=_OS, coe="swarm-mode"),
        Provides(server_type="vm", os=_OS, coe="swarm"),
    )
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION
    document = CloudConfig()
