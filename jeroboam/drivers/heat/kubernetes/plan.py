"""What is decided of a cluster before any file is written: labels read, names resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.drivers.heat.kubernetes import labels
from jeroboam.drivers.heat.template_definition import default_workers
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup

NETWORK_DRIVERS = ("calico", "flannel")
DEFAULT_NETWORK_DRIVER = "flannel"
DEFAULT_API_PORT = 6443


@dataclass(frozen=True)
class KubernetesPlan:
    """A cluster's settings with all defaults filled in.

    Args:
        labels: Typed label values.
        network_driver: ``calico`` or ``flannel``.
        pod_network: Addresses of the pods.
    """

    spec: ClusterSpec
    labels: Mapping[str, Any]
    network_driver: str
    pod_network: str

    @classmethod
    def of(cls, spec: ClusterSpec, group: NodeGroup | None = None) -> "KubernetesPlan":
        """Read a cluster's labels and template.

        Args:
            group: Whose labels override those of the cluster.

        Raises:
            InvalidRequestError: A label or the network driver is not understood.
        """
        values = labels.TABLE.read({**spec.labels, **(group.labels if group else {})})
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
    def workers(self) -> NodeGroup | None:
        """The default worker group, if the cluster has one."""
        return default_workers(self.spec)

    def image_of(self, group: NodeGroup) -> str:
        """Return the image of a group's nodes."""
        return group.image_id or self.spec.template.image_id

    @property
    def worker_flavor(self) -> str | None:
        """The flavor of workers; a cluster without any still fills the template's parameter."""
        return (self.workers or self.spec.masters).flavor_id

    @property
    def coe_version(self) -> str:
        """The version of Kubernetes."""
        return str(self.labels["kube_tag"])

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
    def load_balancer_is_public(self) -> bool:
        """Whether the API's load balancer gets a floating IP."""
        wish = self.labels["master_lb_floating_ip_enabled"]
        cluster = self.spec.cluster
        return cluster.master_lb_enabled and (cluster.floating_ip_enabled if wish is None else wish)

    @property
    def balancing(self) -> str:
        """How the load balancer chooses a master; OVN can do one way only, the others cannot."""
        only_way = "SOURCE_IP_PORT" if self.labels["octavia_provider"] == "ovn" else "ROUND_ROBIN"
        return str(self.labels["octavia_lb_algorithm"] or only_way)

    @property
    def no_proxy(self) -> str:
        """The user's exceptions and all that is inside the cluster."""
        given = (self.spec.template.no_proxy or "").replace(" ", "")
        own = ["127.0.0.1", "localhost", ".svc", ".cluster.local"]
        own += [str(self.labels["service_cluster_ip_range"]), self.pod_network]
        if not self.spec.cluster.fixed_network:
            own.append(str(self.labels["fixed_subnet_cidr"]))
        return ",".join([*filter(None, given.split(",")), *own])
