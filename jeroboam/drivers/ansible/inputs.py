"""What a playbook gets to know. Pure but for the token."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.drivers.servers import tokens
from jeroboam.drivers.servers.rules import OWN_GROUP

CLOUD = "jeroboam"
_SERVICES = ("compute", "network", "image")
_EVERYTHING_OUT = [{"direction": "egress", "ether_type": version} for version in ("IPv4", "IPv6")]


def variables(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a playbook: an order, with rules as Ansible's module wants them."""
    groups = [
        {
            **one,
            "incomplete": bool(one["rules"]),
            "rules": [*_EVERYTHING_OUT, *(_rule(rule, one["name"]) for rule in one["rules"])],
        }
        for one in order.get("security_groups") or ()
        if isinstance(one, Mapping)
    ]
    given = {**order, "security_groups": groups} if groups else dict(order)
    nodes = {one["name"]: one for one in order.get("servers") or order.get("nodes") or ()}
    return {"wanted": given, "wished": nodes}


@dataclass(frozen=True)
class Credentials:
    """What a playbook has of the owner's rights: a token, which it cannot renew.

    The catalogue is left out: a token of a trust cannot be exchanged for another.

    Args:
        clouds: The text of ``clouds.yaml``.
        variables: For calls that no module makes.
        seconds: How long they are good for.
    """

    clouds: str
    variables: Mapping[str, str]
    seconds: int

    def __repr__(self) -> str:
        return "Credentials(...)"


def credentials(cloud: CloudAccess, owner: Session) -> Credentials:
    """Return the owner's rights, as long as they can be had."""
    seconds = tokens.renew(owner)
    with translate_cloud_errors("Keystone"):
        endpoints = {
            service: owner.get_endpoint(
                service_type=service, region_name=cloud.region, interface=cloud.interface
            )
            for service in _SERVICES
        }
        keystone = cloud.service_session().get_endpoint(
            service_type="identity", region_name=cloud.region, interface=cloud.interface
        )
        token = owner.get_token()
    overrides = {f"{name}_endpoint_override": url for name, url in endpoints.items() if url}
    entry = {
        "auth_type": "admin_token",
        "auth": {"endpoint": keystone, "token": token},
        "region_name": cloud.region,
        **overrides,
    }
    return Credentials(
        clouds=json.dumps({"clouds": {CLOUD: entry}}),
        variables={"token": str(token), "compute": str(endpoints["compute"])},
        seconds=seconds,
    )


def _rule(rule: Mapping[str, Any], group: str) -> dict[str, Any]:
    given = {name: value for name, value in rule.items() if name != OWN_GROUP}
    remote = {"remote_group": group} if rule.get(OWN_GROUP) else {}
    return {"direction": "ingress", "ether_type": "IPv4", **given, **remote}
