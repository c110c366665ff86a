"""Which changes of a living cluster are possible, and why the others are not. Pure."""

import re
from typing import NamedTuple

from jeroboam.drivers.kubernetes.plan import DEFAULT_NETWORK_DRIVER, KubernetesPlan, Planner
from jeroboam.drivers.nodes import moves
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

OLDEST_NODES = 3
"""By how many minor versions Kubernetes lets nodes be older than the control plane."""

_DIGITS = re.compile(r"\d+")

# What a cluster got when it was built and an upgrade cannot change.
FIXED_LABELS = (
    *("fixed_subnet_cidr", "service_cluster_ip_range", "ssh_allowed_cidrs"),
    *("flannel_network_cidr", "flannel_network_subnetlen", "flannel_backend"),
    *("calico_ipv4pool", "calico_ipv4pool_ipip"),
    *("boot_volume_size", "boot_volume_type", "etcd_volume_size", "etcd_volume_type"),
    *("docker_volume_type", "availability_zone", "server_group_policy"),
    *("octavia_provider", "octavia_lb_algorithm", "octavia_lb_healthcheck"),
    *("master_lb_floating_ip_enabled", "master_lb_allowed_cidrs"),
    *("csi_cinder_availability_zone", "csi_cinder_reclaim_policy"),
    *("csi_cinder_volume_binding_mode", "csi_cinder_fstype", "csi_cinder_allow_volume_expansion"),
)

# What a node group may have otherwise than its cluster; the rest holds for all nodes.
OF_GROUPS = frozenset(
    {
        *("kube_tag", "kube_binaries_url", "container_infra_prefix", "kubelet_options"),
        *("crictl_tag", "crictl_url", "cni_plugins_tag", "cni_plugins_url"),
        *("containerd_version", "containerd_url", "containerd_tarball_sha256"),
        *("containerd_tarball_url", "runc_version", "runc_url", "runc_sha256"),
        *("availability_zone", "server_group_policy", "boot_volume_size", "boot_volume_type"),
        *("docker_volume_type", "min_node_count", "max_node_count"),
        *("selinux_mode", "os_auto_update"),
    }
)


class Version(NamedTuple):
    """A version of Kubernetes, without what follows the three numbers."""

    major: int
    minor: int
    patch: int

    @classmethod
    def of(cls, tag: str) -> "Version":
        """Read a tag as ``v1.37.1``."""
        major, minor, patch = (int(number) for number in _DIGITS.findall(tag)[:3])
        return cls(major, minor, patch)

    def __str__(self) -> str:
        return f"v{self.major}.{self.minor}.{self.patch}"


def version_of(plan: Planner, spec: ClusterSpec, group: NodeGroup) -> Version:
    """Return the version that a group's nodes are set up with."""
    return Version.of(plan(spec, group).coe_version)


def check_upgrade(plan: Planner, spec: ClusterSpec, target: ClusterSpec) -> None:
    """Refuse a move that would break the cluster or that nobody would carry out.

    Raises:
        InvalidRequestError: With what stands in the way and what is possible.
    """
    moves.check_kind(spec, target, DEFAULT_NETWORK_DRIVER)
    _check_cloud_programs(plan(spec), plan(target))
    moves.check_fixed_labels(plan, spec, target, FIXED_LABELS)
    before = {group.uuid: group for group in spec.node_groups}
    for group in target.node_groups:
        if group.uuid in before:
            old = before[group.uuid]
            _check_step(group.name, version_of(plan, spec, old), version_of(plan, target, group))
    _check_skew(plan, target)
    if moves.masters_move(spec, target):
        check_masters_can_be_replaced(plan, target, "Upgrading")


def check_masters_can_be_replaced(plan: Planner, spec: ClusterSpec, what: str) -> None:
    """Refuse to set the control plane up anew where that would lose the cluster's state.

    Raises:
        InvalidRequestError: With what to do instead.
    """
    masters = spec.masters
    if masters.node_count == 1 and not plan(spec, masters).labels["etcd_volume_size"]:
        raise InvalidRequestError(
            f"{what} the only master would lose the state of the cluster, because etcd keeps it "
            "on the master's own disk. Resize the masters to 3 first (with a load balancer), or "
            "build clusters with the label etcd_volume_size."
        )
    if masters.node_count == 2:  # noqa: PLR2004 - of two members of etcd, none may be away
        raise InvalidRequestError(
            f"{what} one of two masters would stop etcd, which needs both. Resize the masters to "
            "3 first."
        )


def check_resize(spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
    """Refuse sizes of a control plane that etcd could not bear.

    Raises:
        InvalidRequestError: With what is possible.
    """
    if group.role != MASTER:
        return
    if node_count < group.node_count:
        raise InvalidRequestError(
            f"The control plane cannot shrink from {group.node_count} to {node_count} masters: "
            "each of them is a member of etcd, which counts members that are gone when it looks "
            "for a majority. Build a new cluster to get fewer masters."
        )
    if node_count % 2 == 0:
        raise InvalidRequestError(
            f"{node_count} masters are no better than {node_count - 1}, because etcd needs a "
            f"majority. Choose {node_count - 1} or {node_count + 1}."
        )
    if node_count > 1 and not spec.cluster.master_lb_enabled:
        raise InvalidRequestError(
            "Several masters need a load balancer, and this cluster was built without one. Build "
            "a new cluster with master_lb_enabled."
        )


def check_node_group(plan: Planner, spec: ClusterSpec, group: NodeGroup) -> None:
    """Refuse a group that cannot be a part of the cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    moves.check_node_group(plan, spec, group, OF_GROUPS)
    _check_skew(plan, spec)


def _check_cloud_programs(old: KubernetesPlan, new: KubernetesPlan) -> None:
    """What calls the cloud is installed when a cluster is founded, and so is its account."""
    for program, has, would_have in (
        ("a cloud controller manager", old.has_cloud_provider, new.has_cloud_provider),
        ("Cinder's CSI driver", old.has_cinder_csi, new.has_cinder_csi),
    ):
        if has != would_have:
            raise InvalidRequestError(
                f"The cluster {'has' if has else 'lacks'} {program} and would "
                f"{'lose' if has else 'get'} it, which an upgrade cannot change. Choose a template "
                "that has the same volume_driver, and the same labels cloud_provider_enabled and "
                "cinder_csi_enabled."
            )


def _check_step(name: str, old: Version, new: Version) -> None:
    """Kubernetes goes up by one minor version at a time, and never down."""
    following = f"v{old.major}.{old.minor + 1}"
    possible = f"Possible are {old} or later of v{old.major}.{old.minor}, and {following}."
    if new < old:
        raise InvalidRequestError(
            f"Node group {name} has Kubernetes {old} and cannot go down to {new}. {possible}"
        )
    if new.major != old.major or new.minor > old.minor + 1:
        raise InvalidRequestError(
            f"Node group {name} has Kubernetes {old} and cannot go to {new} in one step, because "
            f"no minor version may be left out. {possible}"
        )


def _check_skew(plan: Planner, target: ClusterSpec) -> None:
    """No node may be newer than the control plane, nor much older."""
    masters = version_of(plan, target, target.masters)
    for group in target.workers:
        version = version_of(plan, target, group)
        if version[:2] > masters[:2]:
            raise InvalidRequestError(
                f"Node group {group.name} would have Kubernetes {version}, newer than the "
                f"control plane's {masters}. Upgrade the masters first."
            )
        if version.minor < masters.minor - OLDEST_NODES:
            raise InvalidRequestError(
                f"Node group {group.name} would have Kubernetes {version}, too old for the control "
                f"plane's {masters}. Upgrade the node group to "
                f"v{masters.major}.{masters.minor - OLDEST_NODES} or later first."
            )
