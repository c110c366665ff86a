"""The driver; it differs from k8s_ubuntu_v1 only by what its nodes are set up from."""

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.kubernetes import labels
from jeroboam.drivers.nodes.cloud_config import CloudConfig

from . import template_def, version


class K8sHardenedV1Driver(KubernetesHeatDriver):
    """Virtual machines with Ubuntu whose kernel and log-ins are hardened."""

    name = version.Driver
    version = version.version
    provides = (Provides(server_type="vm", os="ubuntu-hardened", coe="kubernetes"),)
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION
    document = CloudConfig()
    labels = labels.UBUNTU
