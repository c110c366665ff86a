"""What every driver can do whose clusters run Kubernetes, whatever engine builds them."""

from abc import abstractmethod
from typing import ClassVar

from jeroboam.drivers.base import (
    DriverContext,
    SupportsCloudAccount,
    SupportsHealth,
    SupportsMonitor,
)
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.kubernetes import account, cloud_conf, monitor, scale
from jeroboam.drivers.kubernetes.api import KUBERNETES_API
from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.nodes.drains import DrainsByApi, Scale
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.monitoring import Observation


class RunsKubernetes(SupportsHealth, SupportsCoeApi, SupportsMonitor, DrainsByApi):
    """To be derived from beside the engine's class; it asks the clusters' own API.

    A driver only has to tell by ``check_health`` what its engine knows of the machines.
    """

    scale: ClassVar[Scale] = scale

    @property
    def coe_api(self) -> CoeApi:
        """The routes about Kubernetes."""
        return KUBERNETES_API

    def monitor(self, context: DriverContext, spec: ClusterSpec) -> Observation:
        """Add what the cluster says of itself to what its engine knows."""
        known = self.check_health(context, spec)
        return monitor.observe(spec.cluster.api_address, context.read_secrets(), known)

    def api_of(self, context: DriverContext, spec: ClusterSpec) -> ClusterApi:
        """Return the API of Kubernetes."""
        return ClusterApi.of(spec.cluster.api_address, context.read_secrets())


class InstallsCloudPrograms(RunsKubernetes, SupportsCloudAccount):
    """To be derived from in place of the former by drivers that set up the clusters themselves."""

    @abstractmethod
    def plan(self, spec: ClusterSpec, group: NodeGroup | None = None) -> KubernetesPlan:
        """Read a cluster's labels and template."""

    def needs_cloud_account(self, spec: ClusterSpec) -> bool:
        """Return whether the cluster has a cloud controller manager or volumes of Cinder."""
        return self.plan(spec).needs_account

    def hand_over_account(self, context: DriverContext, spec: ClusterSpec) -> None:
        """Renew the Secret, and restart the pods that have read the former one."""
        secrets = context.read_secrets()
        text = cloud_conf.generate(self.plan(spec), secrets.account)
        with ClusterApi.of(spec.cluster.api_address, secrets) as api:
            account.hand_over(api, text)
