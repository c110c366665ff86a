"""The driver; everything but its files is shared by all Kubernetes drivers on Heat."""

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_fedora_coreos_v1 import template_def, version
from jeroboam.drivers.nodes.ignition import Ignition


class FedoraCoreosDriver(KubernetesHeatDriver):
    """Virtual machines with Fedora CoreOS, set up by Ignition and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="fedora-coreos", coe="kubernetes"),)
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION
    document = Ignition("3.4.0")
