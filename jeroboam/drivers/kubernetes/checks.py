"""Checks of a cluster's settings that need no cloud. Pure."""

from ipaddress import IPv4Network
from itertools import combinations

from jeroboam.drivers.kubernetes.moves import check_node_group
from jeroboam.drivers.kubernetes.plan import CINDER, KubernetesPlan, Planner
from jeroboam.drivers.nodes.checks import (
    check_flavors,
    check_texts,
    check_unsupported,
    check_where,
)
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec
from jeroboam.models.cluster import MASTER

_SMALLEST_SERVICE_NETWORK = 28


def check(planner: Planner, spec: ClusterSpec) -> None:
    """Refuse what cannot become a cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    plan = planner(spec)
    _check_networks(plan)
    check_where(plan)
    check_unsupported(spec.template, "containerd", CINDER)
    check_texts(spec.template)
    _check_groups(planner, spec)


def _check_networks(plan: KubernetesPlan) -> None:
    """Nodes, pods and services must not share addresses."""
    pods = "calico_ipv4pool" if plan.network_driver == "calico" else "flannel_network_cidr"
    names = [pods, "service_cluster_ip_range"]
    if not plan.spec.cluster.fixed_network:
        names.append("fixed_subnet_cidr")
    for one, other in combinations(names, 2):
        if IPv4Network(plan.labels[one]).overlaps(IPv4Network(plan.labels[other])):
            raise InvalidRequestError(
                f"Labels {one} ({plan.labels[one]}) and {other} ({plan.labels[other]}) overlap. "
                "Choose networks that have no address in common."
            )
    if IPv4Network(plan.labels["service_cluster_ip_range"]).prefixlen > _SMALLEST_SERVICE_NETWORK:
        raise InvalidRequestError(
            "Label service_cluster_ip_range is too small; use a /28 or larger."
        )
    length = plan.labels["flannel_network_subnetlen"]
    if plan.network_driver == "flannel" and IPv4Network(plan.pod_network).prefixlen >= length:
        raise InvalidRequestError(
            f"Label flannel_network_subnetlen is {length}, which is no part of "
            f"flannel_network_cidr ({plan.pod_network}). Use a larger number."
        )


def _check_groups(planner: Planner, spec: ClusterSpec) -> None:
    """Each group needs a flavor and labels that fit; several masters need one address."""
    for group in spec.node_groups:
        if group.role == MASTER or group.is_default:
            planner(spec, group)
        else:
            check_node_group(planner, spec, group)
    check_flavors(spec)
    if spec.masters.node_count > 1 and not spec.cluster.master_lb_enabled:
        raise InvalidRequestError(
            "Several masters need one address for all. Set master_lb_enabled, or master_count to 1."
        )
