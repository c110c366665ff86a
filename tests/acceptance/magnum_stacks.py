"""Stacks of the shape that Magnum's Heat drivers gave them, for a cloud with small machines.

Parameters, outputs, resource groups and nesting are those of ``k8s_fedora_coreos_v1`` up to Magnum
22; what the nodes were set up with is left out, since nobody looks at it from outside.
"""

import json
from typing import Any
from uuid import uuid4

from tests.devcloud.stacks import Stacks

VERSION = "2018-03-02"
KUBE_TAG = "v1.23.3-rancher1"

Template = dict[str, Any]


def _param(name: str) -> dict[str, str]:
    return {"get_param": name}


def _text(default: str | None = "") -> dict[str, Any]:
    return {"type": "string"} | ({} if default is None else {"default": default})


def _node(kind: str) -> Template:
    """Return the nested template of one node, as kubemaster.yaml and kubeminion.yaml are."""
    server, port = f"kube-{kind}", f"{kind}_eth0"
    return {
        "heat_template_version": VERSION,
        "parameters": {
            name: _text(None) for name in ("name", "image", "flavor", "network", "subnet", "tag")
        },
        "resources": {
            port: {
                "type": "OS::Neutron::Port",
                "properties": {
                    "network": _param("network"),
                    "fixed_ips": [{"subnet": _param("subnet")}],
                },
            },
            server: {
                "type": "OS::Nova::Server",
                "properties": {
                    "name": _param("name"),
                    "image": _param("image"),
                    "flavor": _param("flavor"),
                    "networks": [{"port": {"get_resource": port}}],
                },
            },
        },
        "outputs": {
            f"kube_{kind}_ip": {"value": {"get_attr": [port, "fixed_ips", 0, "ip_address"]}},
            f"kube_{kind}_external_ip": {
                "value": {"get_attr": [port, "fixed_ips", 0, "ip_address"]}
            },
            "OS::stack_id": {"value": {"get_resource": server}},
        },
    }


def _group(kind: str, count: str, condition: str, **more: Any) -> Template:
    network = {
        "if": ["create_cluster_resources", {"get_resource": "network"}, _param("fixed_network")]
    }
    subnet = {
        "if": ["create_cluster_resources", {"get_resource": "subnet"}, _param("fixed_subnet")]
    }
    name = {"master": "master", "minion": "node"}[kind]
    return {
        "type": "OS::Heat::ResourceGroup",
        "condition": condition,
        "properties": {
            "count": _param(count),
            "resource_def": {
                "type": f"kube{kind}.yaml",
                "properties": {
                    "name": {"list_join": ["-", [_param("OS::stack_name"), name, "%index%"]]},
                    "image": _param(f"{kind}_image"),
                    "flavor": _param(f"{kind}_flavor"),
                    "network": network,
                    "subnet": subnet,
                    "tag": _param(f"{kind}_kube_tag"),
                },
            },
            **more,
        },
    }


def cluster_template() -> Template:
    """Return the outermost template, which node groups have as well."""
    own = "create_cluster_resources"
    flag = {"type": "boolean", "default": False}
    texts = (
        *("master_role", "worker_role", "master_nodegroup_name", "worker_nodegroup_name"),
        *("ssh_key_name", "fixed_network", "fixed_subnet", "master_image", "minion_image"),
        *("discovery_url", "trust_id", "availability_zone", "container_infra_prefix"),
    )
    return {
        "heat_template_version": VERSION,
        "conditions": {
            own: {"equals": [_param("is_cluster_stack"), True]},
            "worker_only": {"or": [own, {"not": {"equals": [_param("worker_role"), ""]}}]},
        },
        "parameters": {
            **{name: _text() for name in texts},
            "is_cluster_stack": flag,
            "tls_disabled": flag,
            "cluster_uuid": _text(None),
            "external_network": _text(None),
            "master_flavor": _text("m1.small"),
            "minion_flavor": _text("m1.small"),
            "number_of_masters": {"type": "number", "default": 1},
            "number_of_minions": {"type": "number", "default": 1},
            "minions_to_remove": {"type": "comma_delimited_list", "default": []},
            "kubernetes_port": {"type": "number", "default": 6443},
            "dns_nameserver": {"type": "comma_delimited_list", "default": "8.8.8.8"},
            "network_driver": _text("flannel"),
            "docker_volume_size": {"type": "number", "default": 0},
            "kube_tag": _text("v1.18.16"),
            "master_kube_tag": _text("v1.18.16"),
            "minion_kube_tag": _text("v1.18.16"),
            "etcd_tag": _text("v3.4.6"),
            "trustee_password": {"type": "string", "hidden": True, "default": ""},
        },
        "resources": {
            "network": {"type": "OS::Neutron::Net", "condition": own},
            "subnet": {
                "type": "OS::Neutron::Subnet",
                "condition": own,
                "properties": {"network": {"get_resource": "network"}, "cidr": "10.0.0.0/24"},
            },
            "kube_masters": _group("master", "number_of_masters", own),
            "kube_minions": _group(
                *("minion", "number_of_minions", "worker_only"),
                removal_policies=[{"resource_list": _param("minions_to_remove")}],
            ),
        },
        "outputs": {
            "api_address": {
                "condition": own,
                "value": {"get_attr": ["kube_masters", "resource.0.kube_master_ip"]},
            },
            "kube_masters_private": {
                "condition": own,
                "value": {"get_attr": ["kube_masters", "kube_master_ip"]},
            },
            "kube_masters": {
                "condition": own,
                "value": {"get_attr": ["kube_masters", "kube_master_external_ip"]},
            },
            "kube_minions_private": {
                "condition": "worker_only",
                "value": {"get_attr": ["kube_minions", "kube_minion_ip"]},
            },
            "kube_minions": {
                "condition": "worker_only",
                "value": {"get_attr": ["kube_minions", "kube_minion_external_ip"]},
            },
        },
    }


FILES = {f"kube{kind}.yaml": json.dumps(_node(kind)) for kind in ("master", "minion")}


def create_cluster(stacks: Stacks, name: str, uuid: str, workers: int = 2) -> str:
    """Start what Magnum started for a cluster; return the stack's id."""
    parameters = {
        **_common(uuid),
        "is_cluster_stack": True,
        "master_role": "master",
        "worker_role": "worker",
        "master_nodegroup_name": "default-master",
        "worker_nodegroup_name": "default-worker",
        "number_of_minions": workers,
    }
    return _create(stacks, name, parameters)


def create_group(stacks: Stacks, name: str, group: str, uuid: str, main: str) -> str:
    """Start what Magnum started for a further node group of one node; return the stack's id."""
    known = stacks.resources(main, "physical_resource_id")
    parameters = {
        **_common(uuid),
        "is_cluster_stack": False,
        "worker_role": "worker",
        "worker_nodegroup_name": group,
        "number_of_minions": 1,
        "fixed_network": known["network"],
        "fixed_subnet": known["subnet"],
    }
    return _create(stacks, f"{name}-{group}", parameters)


def _common(uuid: str) -> dict[str, Any]:
    return {
        "cluster_uuid": uuid,
        "external_network": "public",
        "ssh_key_name": "demo",
        "master_image": "fedora-coreos",
        "minion_image": "fedora-coreos",
        "master_flavor": "m1.tiny",
        "minion_flavor": "m1.tiny",
        "kube_tag": KUBE_TAG,
        "master_kube_tag": KUBE_TAG,
        "minion_kube_tag": KUBE_TAG,
        "trustee_password": "of-the-trustee",
    }


def _create(stacks: Stacks, name: str, parameters: dict[str, Any]) -> str:
    full = f"{name}-{uuid4().hex[:12]}"
    return stacks.create(
        name, cluster_template(), files=FILES, parameters=parameters, stack_name=full
    )
