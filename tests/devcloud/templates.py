"""Heat templates for the tests."""

from typing import Any

VERSION = "2021-04-16"


def _use(name: str) -> dict[str, str]:
    return {"get_resource": name}


def _server(name: str, network: dict[str, Any]) -> dict[str, Any]:
    call = {"get_attr": ["handle", "curl_cli"]}
    script = "#!/bin/sh\nCALL -d '{}'\n"
    return {
        "type": "OS::Nova::Server",
        "properties": {
            "name": name,
            "image": "fedora-coreos",
            "flavor": "m1.tiny",
            "networks": [network],
            "user_data_format": "RAW",
            "user_data": {"str_replace": {"template": script, "params": {"CALL": call}}},
        },
    }


def _condition(count: int, seconds: int, after: str) -> dict[str, Any]:
    properties = {"handle": _use("handle"), "count": count, "timeout": seconds}
    return {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "booted": {
            "type": "OS::Heat::WaitCondition",
            "depends_on": after,
            "properties": properties,
        },
    }


def node(name: str, seconds: int = 60) -> dict[str, Any]:
    """One server without a network, and a condition that waits so long for it."""
    server = _server(name, {"allocate_network": "none"})
    resources = {"server": server, **_condition(1, seconds, "server")}
    return {"heat_template_version": VERSION, "resources": resources}


def nodes(count: int, name: str = "node", **extra: Any) -> dict[str, Any]:
    """Servers on a network of their own, and a condition that waits for all of them."""
    group = {
        "type": "OS::Heat::ResourceGroup",
        "depends_on": "subnet",
        "properties": {
            "count": count,
            "resource_def": _server(f"{name}-%index%", {"network": _use("network")}),
        },
    }
    resources = {
        "network": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": _use("network"), "cidr": "10.0.0.0/24"},
        },
        "nodes": group,
        **_condition(count, 60, "nodes"),
    }
    outputs = {
        "addresses": {"value": {"get_attr": ["nodes", "first_address"]}},
        "data": {"value": {"get_attr": ["booted", "data"]}},
    }
    return {
        "heat_template_version": VERSION,
        "resources": resources | extra,
        "outputs": outputs,
    }


def empty() -> dict[str, Any]:
    """One resource that is there at once."""
    resource = {"type": "OS::Heat::TestResource", "properties": {"value": "x"}}
    return {"heat_template_version": VERSION, "resources": {"one": resource}}
