"""The driver; everything but its files is shared by all Kubernetes drivers on Heat."""

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_coreos_v1 import template_def, version
from jeroboam.drivers.kubernetes import labels
from jeroboam.drivers.nodes.ignition import Ignition


class CoreosDriver(KubernetesHeatDriver):
    """Virtual machines with Flatcar, set up by Ignition and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (
        Provides(server_type="vm", os="coreos", coe="kubernetes"),
        Provides(server_type="vm", os="flatcar", coe="kubernetes"),
    )
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION
    document = Ignition("3.3.0")
    labels = labels.FLATCAR
