"""What Heat shows of stacks of Magnum's drivers, as far as anybody looks at it."""

from collections.abc import Mapping
from typing import Any

UUID = "5d12f6fd-a196-4bf0-ae4c-1f639a523a52"
MAIN = "11111111-0000-4000-8000-000000000001"

PARAMETERS = {
    "cluster_uuid": UUID,
    "is_cluster_stack": "True",
    "master_flavor": "m1.medium",
    "minion_flavor": "m1.large",
    "master_image": "fedora-coreos",
    "minion_image": "fedora-coreos",
    "number_of_masters": "1",
    "number_of_minions": "3",
    "minions_to_remove": "[]",
    "ssh_key_name": "mine",
    "external_network": "public",
    "fixed_network": "",
    "kubernetes_port": "6443",
    "kube_tag": "v1.23.3-rancher1",
    "flannel_backend": "vxlan",
    "portal_network_cidr": "10.254.0.0/16",
    "dns_nameserver": "['8.8.8.8', '1.1.1.1']",
    "docker_volume_size": "0",
    "trustee_password": "******",
    "tls_disabled": "False",
}

OUTPUTS = {
    "api_address": "203.0.113.5",
    "kube_masters": ["203.0.113.6"],
    "kube_masters_private": ["10.0.0.6"],
    "kube_minions": ["203.0.113.7", "203.0.113.8", None],
    "kube_minions_private": ["10.0.0.7", "10.0.0.8", "10.0.0.9"],
}

DEFAULTS = {"kube_tag": "v1.18.16", "flannel_backend": "vxlan", "portal_network_cidr": "10.254/16"}


def stack(
    parameters: Mapping[str, Any] = PARAMETERS,
    outputs: Mapping[str, Any] = OUTPUTS,
    **fields: Any,
) -> dict[str, Any]:
    """Return the record of a stack."""
    return {
        "id": MAIN,
        "stack_name": "my-cluster-abcdefghijkl",
        "stack_status": "UPDATE_COMPLETE",
        "creation_time": "2021-03-04T05:06:07Z",
        "parameters": dict(parameters),
        "outputs": [{"output_key": key, "output_value": value} for key, value in outputs.items()],
        **fields,
    }


def template() -> dict[str, Any]:
    """Return the part of a template that says what holds where nothing is given."""
    return {"parameters": {name: {"default": value} for name, value in DEFAULTS.items()}}


def resource(
    name: str, holder: str, ident: str, kind: str = "kube.yaml", status: str = "CREATE_COMPLETE"
) -> dict[str, Any]:
    """Return the record of a resource in the stack ``holder``."""
    return {
        "resource_name": name,
        "resource_type": kind,
        "resource_status": status,
        "physical_resource_id": ident,
        "links": [{"rel": "stack", "href": f"http://heat/v1/p/stacks/name/{holder}"}],
    }


def nodes(group: str, *indexes: int, main: str = MAIN) -> list[dict[str, Any]]:
    """Return the resources of a group: its nested stack, those of its nodes, and their servers."""
    found = [resource(group, main, f"{group}-stack")]
    for index in indexes:
        nested = f"{group}-{index}-stack"
        found.append(resource(str(index), f"{group}-stack", nested))
        found.append(resource("kube-node", nested, f"{group}-{index}", "OS::Nova::Server"))
    return found
