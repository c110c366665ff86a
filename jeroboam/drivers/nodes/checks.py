"""Checks of a cluster's settings that hold for every COE and need no cloud. Pure."""

import re

from jeroboam.drivers.nodes.plan import NodePlan
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, ClusterTemplate

_PROXY = re.compile(r"https?://[^\s'\"\\]+")
_NO_PROXY = re.compile(r"[\w.,:/*\[\] -]*")
_REGISTRY = re.compile(r"[\w.-]+(?::\d+)?")
_STORAGE_DRIVERS = {None, "", "overlay", "overlay2"}


def check_where(plan: NodePlan) -> None:
    """Check that the template's networks fit what is asked for.

    Raises:
        InvalidRequestError: With the field and what would be right.
    """
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


def check_unsupported(
    template: ClusterTemplate, engine: str, volume_driver: str | None = None
) -> None:
    """Check that nothing is asked for which would have to be ignored.

    Args:
        engine: What runs the containers, for the message.
        volume_driver: The only one that the COE has, if it has any.

    Raises:
        InvalidRequestError: With the field.
    """
    wishes = {
        "tls_disabled": template.tls_disabled,
        "registry_enabled": template.registry_enabled,
        "volume_driver": None if volume_driver else template.volume_driver,
    }
    for field, value in wishes.items():
        if value:
            raise InvalidRequestError(
                f"{field} is {str(value).lower()}, which this driver cannot do. Leave it unset."
            )
    if volume_driver and template.volume_driver not in {None, "", volume_driver}:
        raise InvalidRequestError(
            f"volume_driver is '{template.volume_driver}'; this driver knows {volume_driver}. Set "
            "that or nothing."
        )
    if template.docker_storage_driver not in _STORAGE_DRIVERS:
        raise InvalidRequestError(
            f"docker_storage_driver is '{template.docker_storage_driver}'; {engine} uses "
            "overlay2. Set that or nothing."
        )


def check_texts(template: ClusterTemplate) -> None:
    """Check that texts which end up in files of the nodes do not break out of their place.

    Raises:
        InvalidRequestError: With the field and what it should look like.
    """
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


def check_flavors(spec: ClusterSpec) -> None:
    """Check that each group has a flavor.

    Raises:
        InvalidRequestError: With the group.
    """
    for group in spec.node_groups:
        if not group.flavor_id:
            raise InvalidRequestError(
                f"Node group {group.name} has no flavor. Set master_flavor_id and flavor_id."
            )
