"""What is decided of a cluster before any file is written: labels read, names resolved."""

from dataclasses import dataclass
from typing import Protocol

from jeroboam.drivers.kubernetes import labels
from jeroboam.drivers.labels import LabelTable
from jeroboam.drivers.nodes.plan import NodePlan
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup

NETWORK_DRIVERS = ("calico", "flannel")
DEFAULT_NETWORK_DRIVER = "flannel"
DEFAULT_API_PORT = 6443
CINDER = "cinder"
"""The volume driver of Kubernetes clusters; a template may also name none."""


class Planner(Protocol):
    """Reads clusters as one driver does."""

    def __call__(self, spec: ClusterSpec, group: NodeGroup | None = None) -> "KubernetesPlan":
        """Return the plan of a cluster, or of one group's nodes."""


@dataclass(frozen=True)
class KubernetesPlan(NodePlan):
    """A cluster's settings with all defaults filled in.

    Args:
        network_driver: ``calico`` or ``flannel``.
        pod_network: Addresses of the pods.
    """

    network_driver: str
    pod_network: str

    @classmethod
    def of(
        cls, spec: ClusterSpec, group: NodeGroup | None = None, table: LabelTable = labels.TABLE
    ) -> "KubernetesPlan":
        """Read a cluster's labels and template.

        Args:
            group: Whose labels override those of the cluster.
            table: The labels that the cluster's driver understands.

        Raises:
            InvalidRequestError: A label or the network driver is not understood.
        """
        values = table.read({**spec.labels, **(group.labels if group else {})})
        driver = spec.template.network_driver or DEFAULT_NETWORK_DRIVER
        if driver not in NETWORK_DRIVERS:
            raise InvalidRequestError(
                f"network_driver is '{driver}'; this driver knows {' and '.join(NETWORK_DRIVERS)}."
            )
        return cls(
            spec=spec,
            labels=values,
            network_driver=driver,
            pod_network=labels.pod_network(values, driver),
        )

    @property
    def coe_version(self) -> str:
        """The version of Kubernetes."""
        return str(self.labels["kube_tag"])

    @property
    def container_version(self) -> str | None:
        """The version of containerd, where it is not the image's own."""
        version = self.labels["containerd_version"]
        return str(version) if version else None

    @property
    def pod_range(self) -> str:
        """Addresses of the pods."""
        return self.pod_network

    @property
    def api_port(self) -> int:
        """The port of the API server."""
        return self.spec.template.apiserver_port or DEFAULT_API_PORT

    @property
    def image_prefix(self) -> str:
        """The registry of the cluster's own images, without a slash at the end."""
        return str(self.labels["container_infra_prefix"] or "").rstrip("/")

    @property
    def manifest_url(self) -> str:
        """Where the manifest of the network driver is."""
        tag = str(self.labels[f"{self.network_driver}_tag"])
        return str(self.labels[f"{self.network_driver}_manifest_url"]).replace("{tag}", tag)

    @property
    def manifest_sha256(self) -> str:
        """The manifest's checksum, if the user gave one."""
        return str(self.labels[f"{self.network_driver}_manifest_sha256"] or "")

    @property
    def metrics_server_url(self) -> str:
        """Where the manifest of metrics-server is; empty if it is not wanted."""
        if not self.labels["metrics_server_enabled"]:
            return ""
        tag = str(self.labels["metrics_server_tag"])
        return str(self.labels["metrics_server_manifest_url"]).replace("{tag}", tag)

    @property
    def has_cloud_provider(self) -> bool:
        """Whether the cluster has OpenStack's cloud controller manager."""
        return bool(self.labels["cloud_provider_enabled"])

    @property
    def has_cinder_csi(self) -> bool:
        """Whether the cluster has Cinder's CSI driver."""
        wanted = self.spec.template.volume_driver == CINDER
        return wanted and bool(self.labels["cinder_csi_enabled"])

    @property
    def needs_account(self) -> bool:
        """Whether programs in the cluster call the cloud."""
        return self.has_cloud_provider or self.has_cinder_csi

    @property
    def cloud_provider_url(self) -> str:
        """Where the manifests of the cloud controller manager are; empty if it is not wanted."""
        if not self.has_cloud_provider:
            return ""
        return self._manifests("cloud_provider_manifest_url", "cloud_provider_tag")

    @property
    def cinder_csi_url(self) -> str:
        """Where the manifests of Cinder's CSI driver are; empty if it is not wanted."""
        if not self.has_cinder_csi:
            return ""
        return self._manifests("cinder_csi_manifest_url", "cinder_csi_plugin_tag")

    def _manifests(self, url: str, tag: str) -> str:
        """Return the folder of manifests that a label names, for the release of another."""
        return str(self.labels[url]).replace("{tag}", str(self.labels[tag])).rstrip("/")

    @property
    def no_proxy(self) -> str:
        """The user's exceptions and all that is inside the cluster."""
        given = (self.spec.template.no_proxy or "").replace(" ", "")
        own = ["127.0.0.1", "localhost", ".svc", ".cluster.local"]
        own += [str(self.labels["service_cluster_ip_range"]), self.pod_network]
        if not self.spec.cluster.fixed_network:
            own.append(str(self.labels["fixed_subnet_cidr"]))
        return ",".join([*filter(None, given.split(",")), *own])
