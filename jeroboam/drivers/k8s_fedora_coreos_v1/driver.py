"""The driver; everything but its template is shared by all Kubernetes drivers on Heat."""

from collections.abc import Sequence

from jeroboam.drivers.base import Provides
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_fedora_coreos_v1 import template_def, version


class FedoraCoreosDriver(KubernetesHeatDriver):
    """Virtual machines with Fedora CoreOS, set up by Ignition and kubeadm."""

    name = version.Driver
    version = version.version
    definition = template_def.DEFINITION
    group_definition = template_def.GROUP_DEFINITION

    @property
    def provides(self) -> Sequence[Provides]:
        """The one kind of cluster."""
        return (Provides(server_type="vm", os="fedora-coreos", coe="kubernetes"),)
