"""Heat templates for the tests."""

from typing import Any

VERSION = "2021-04-16"
CALL = {"get_attr": ["handle", "curl_cli"]}


def nodes(count: int = 1, name: str = "node", **extra: Any) -> dict[str, Any]:
    """Servers on a network of their own, and a condition that waits for all of them."""
    server = {
        "type": "OS::Nova::Server",
        "properties": {
            "name": f"{name}-%index%",
            "image": "fedora-coreos",
            "flavor": "m1.tiny",
            "networks": [{"network": {"get_resource": "network"}}],
            "user_data_format": "RAW",
            "user_data": {
                "str_replace": {"template": "#!/bin/sh\nCALL -d '{}'\n", "params": {"CALL": CALL}}
            },
        },
    }
    resources = {
        "network": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "network"}, "cidr": "10.0.0.0/24"},
        },
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "nodes": {
            "type": "OS::Heat::ResourceGroup",
            "depends_on": "subnet",
            "properties": {"count": count, "resource_def": server},
        },
        "booted": {
            "type": "OS::Heat::WaitCondition",
            "depends_on": "nodes",
            "properties": {"handle": {"get_resource": "handle"}, "count": count, "timeout": 60},
        },
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


def server(name: str) -> dict[str, Any]:
    """One server on a network of its own, without nesting."""
    template = nodes()
    resources = template["resources"]
    alone = resources["nodes"]["properties"]["resource_def"]
    alone["properties"] |= {"name": name, "user_data": ""}
    parts = {key: resources[key] for key in ("network", "subnet")}
    parts["server"] = alone | {"depends_on": "subnet"}
    return {"heat_template_version": VERSION, "resources": parts}


def empty(seconds: float = 0) -> dict[str, Any]:
    """A stack of one resource that takes so long to create."""
    properties = {"value": "x", "action_wait_secs": {"create": seconds}}
    resource = {"type": "OS::Heat::TestResource", "properties": properties}
    return {"heat_template_version": VERSION, "resources": {"one": resource}}
