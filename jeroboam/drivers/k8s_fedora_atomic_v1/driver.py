"""The driver; everything but its files is shared by all Kubernetes drivers on Heat."""

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_fedora_atomic_v1 import template_def, version
from jeroboam.drivers.kubernetes import labels
from jeroboam.drivers.nodes.cloud_config import CloudConfig


class FedoraAtomicDriver(KubernetesHeatDriver):
    """Virtual machines with Fedora Atomic, set up by cloud-init and kubeadm."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="fedora-atomic", coe="kubernetes"),)
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION
    document = CloudConfig()
    labels = labels.FEDORA_ATOMIC
