"""Checks of a cluster's settings that need no cloud. Pure."""

import re
from collections.abc import Callable
from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

from jeroboam.drivers.kubernetes.moves import check_node_group
from jeroboam.drivers.kubernetes.plan import KubernetesPlan, Planner
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec
from jeroboam.models.cluster import MASTER

_PROXY = re.compile(r"https?://[^\s'\"\\]+")
_NO_PROXY = re.compile(r"[\w.,:/*\[\] -]*")
_REGISTRY = re.compile(r"[\w.-]+(?::\d+)?")
_STORAGE_DRIVERS = {None, "", "overlay", "overlay2"}
_SMALLEST_SERVICE_NETWORK = 28


def check(planner: Planner, spec: ClusterSpec) -> None:
    """Refuse what cannot become a cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    checks: tuple[Callable[[KubernetesPlan], None], ...] = (
        _check_networks,
        _check_where,
        _check_unsupported,
        _check_texts,
    )
    plan = planner(spec)
    for one in checks:
        one(plan)
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


def _check_where(plan: KubernetesPlan) -> None:
    """The template's networks must fit what is asked for."""
    cluster, template = plan.spec.cluster, plan.spec.template
    if cluster.fixed_subnet and not cluster.fixed_network:
        raise InvalidRequestError("fixed_subnet is set without fixed_network. Set both.")
    if cluster.master_lb_enabled and cluster.fixed_network and not cluster.fixed_subnet:
        raise InvalidRequestError(
            "A load balancer in an existing network needs to know the subnet. Set fixed_subnet."
        )
    public = cluster.floating_ip_enabled or plan.load_balancer_is_public
    if template.external_network_id:
        return
    if public:
        raise InvalidRequestError(
            "external_network_id is needed for floating IPs. Set it, or set floating_ip_enabled "
            "and the label master_lb_floating_ip_enabled to false."
        )
    if not cluster.fixed_network:
        raise InvalidRequestError(
            "Nodes in a network of their own reach the outside through external_network_id. "
            "Set it, or name an existing fixed_network."
        )


def _check_unsupported(plan: KubernetesPlan) -> None:
    """What the driver would have to ignore is refused instead."""
    template = plan.spec.template
    reasons: dict[str, Any] = {
        "tls_disabled": template.tls_disabled,
        "registry_enabled": template.registry_enabled,
        "volume_driver": template.volume_driver,
    }
    for field, value in reasons.items():
        if value:
            raise InvalidRequestError(
                f"{field} is {str(value).lower()}, which this driver cannot do. Leave it unset."
            )
    if template.docker_storage_driver not in _STORAGE_DRIVERS:
        raise InvalidRequestError(
            f"docker_storage_driver is '{template.docker_storage_driver}'; containerd uses "
            "overlay2. Set that or nothing."
        )


def _check_texts(plan: KubernetesPlan) -> None:
    """Texts that end up in files of the nodes must not break out of their place."""
    template = plan.spec.template
    patterns = {
        "http_proxy": (_PROXY, "a URL as http://proxy:3128"),
        "https_proxy": (_PROXY, "a URL as http://proxy:3128"),
        "no_proxy": (_NO_PROXY, "names and addresses separated by commas"),
        "insecure_registry": (_REGISTRY, "a host with an optional port"),
    }
    for field, (pattern, expected) in patterns.items():
        value = getattr(template, field)
        if value and not pattern.fullmatch(value):
            raise InvalidRequestError(f"{field} is '{value}'; expected {expected}.")


def _check_groups(planner: Planner, spec: ClusterSpec) -> None:
    """Each group needs a flavor and labels that fit; several masters need one address."""
    for group in spec.node_groups:
        if group.role == MASTER or group.is_default:
            planner(spec, group)
        else:
            check_node_group(planner, spec, group)
        if not group.flavor_id:
            raise InvalidRequestError(
                f"Node group {group.name} has no flavor. Set master_flavor_id and flavor_id."
            )
    if spec.masters.node_count > 1 and not spec.cluster.master_lb_enabled:
        raise InvalidRequestError(
            "Several masters need one address for all. Set master_lb_enabled, or master_count to 1."
        )
