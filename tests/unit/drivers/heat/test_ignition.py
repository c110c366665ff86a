"""The Ignition documents are valid, fit into Nova and hold what each role needs."""

import base64
import json
import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.nodes import ignition
from jeroboam.drivers.nodes.placeholders import PATTERN
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud
from tests.unit.drivers.heat.accounts import CINDER, CLOUD_PROVIDER
from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import HEAT_VALUES, boot, decode, documents, files, units

# The part of Ignition's specification 3.4.0 that the driver uses, written down from its text.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["ignition"],
    "additionalProperties": False,
    "properties": {
        "ignition": {
            "type": "object",
            "required": ["version"],
            "additionalProperties": False,
            "properties": {"version": {"const": "3.4.0"}},
        },
        "kernelArguments": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"shouldExist": {"type": "array", "items": {"type": "string"}}},
        },
        "storage": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "directories": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["path"],
                        "additionalProperties": False,
                        "properties": {
                            "path": {"$ref": "#/$defs/path"},
                            "mode": {"$ref": "#/$defs/mode"},
                        },
                    },
                },
                "files": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["path"],
                        "additionalProperties": False,
                        "properties": {
                            "path": {"$ref": "#/$defs/path"},
                            "mode": {"$ref": "#/$defs/mode"},
                            "overwrite": {"type": "boolean"},
                            "contents": {
                                "type": "object",
                                "additionalProperties": False,
                                "properties": {
                                    "source": {"type": "string", "pattern": '^data:[^\\s"]*$'},
                                    "compression": {"enum": ["gzip"]},
                                },
                            },
                        },
                    },
                },
            },
        },
        "systemd": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "units": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "additionalProperties": False,
                        "properties": {
                            "name": {"type": "string", "pattern": "\\.service$"},
                            "enabled": {"type": "boolean"},
                            "contents": {"type": "string"},
                            "dropins": {
                                "type": "array",
                                "items": {
                                    "type": "object",
                                    "required": ["name", "contents"],
                                    "additionalProperties": False,
                                    "properties": {
                                        "name": {"type": "string", "pattern": "\\.conf$"},
                                        "contents": {"type": "string"},
                                    },
                                },
                            },
                        },
                    },
                }
            },
        },
    },
    "$defs": {
        "path": {"type": "string", "pattern": "^/[^{}]+$"},
        "mode": {"type": "integer", "minimum": 0, "maximum": 0o7777},
    },
}
SPECS = {
    "plain": make_spec(),
    "calico": make_spec(template={"network_driver": "calico"}),
    "everything": make_spec(
        masters=3,
        workers=3,
        name="A Cluster_with a long.name" * 5,
        master_lb_enabled=True,
        labels={
            "container_infra_prefix": "registry.example.org/kube/",
            "containerd_version": "2.2.0",
            "selinux_mode": "permissive",
            "kubelet_options": "--max-pods=50",
            "kubeapi_options": "--profiling=false --audit-log-path=-",
            "kubeproxy_options": "--proxy-mode=nftables",
            **CLOUD_PROVIDER,
        },
        template={
            "http_proxy": "http://proxy.example.org:3128",
            "https_proxy": "http://proxy.example.org:3128",
            "no_proxy": "10.0.0.0/8",
            "insecure_registry": "registry.example.org:5000",
            **CINDER,
        },
        group={"node_labels": {"a": "b"}},
    ),
}


def each(spec: ClusterSpec) -> dict[str, dict[str, Any]]:
    return {role: boot(document) for role, document in documents(spec).items()}


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
def test_documents_are_valid(spec: ClusterSpec) -> None:
    """After Heat's replacements both documents keep to the specification, with unique names."""
    for document in each(spec).values():
        jsonschema.validate(document, SCHEMA)
        paths = [entry["path"] for entry in document["storage"]["files"]]
        assert len(set(paths)) == len(paths)
        assert len(units(document)) == len(document["systemd"]["units"])


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
def test_nothing_is_left_to_replace(spec: ClusterSpec) -> None:
    """Heat's words stand only where Heat can see them, and it knows all of them."""
    for document in documents(spec).values():
        assert set(PATTERN.findall(document)) <= set(HEAT_VALUES)
        booted = boot(document)
        texts = [*files(booted).values(), *(u.get("contents", "") for u in units(booted).values())]
        assert not any(PATTERN.search(text) for text in texts)


@pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))
def test_documents_fit_into_nova(spec: ClusterSpec) -> None:
    """Nova takes 64 KiB after Base64."""
    for document in each(spec).values():
        assert len(base64.b64encode(json.dumps(document).encode())) < 65535


def test_templates_know_every_word() -> None:
    """Each of Heat's words is replaced by the template of the role whose document has it."""
    templates = FedoraCoreosDriver.definition.files
    for role, template in (("master", "master.yaml"), ("worker", "node.yaml")):
        words = set(PATTERN.findall(documents(SPECS["everything"])[role]))
        assert words <= set(PATTERN.findall(templates.read(template)))


def test_workers_hold_no_keys() -> None:
    """Private keys are for masters; workers check the API by the pin of its authority."""
    booted = each(make_spec())
    worker, master = files(booted["worker"]), files(booted["master"])
    assert not any("PRIVATE KEY" in text for text in worker.values())
    assert not any(path.startswith("/etc/jeroboam/pki") for path in worker)
    assert "sha256:" in worker["/etc/jeroboam/kubeadm-join.yaml"]
    assert sum("PRIVATE KEY" in text for text in master.values()) == 4
    assert master["/etc/jeroboam/pki/ca.key"] == secrets().kubernetes.private_key
    assert master["/etc/jeroboam/pki/sa.pub"].startswith("-----BEGIN PUBLIC KEY-----")


def test_secrets_are_for_root() -> None:
    """Whatever holds a secret can be read by root alone."""
    for document in each(SPECS["everything"]).values():
        for entry in document["storage"]["files"]:
            text = decode(entry["contents"])
            if re.search(f"PRIVATE KEY|{re.escape(secrets().bootstrap_token)}|pa%s5#", text):
                assert entry["mode"] == 0o600, entry["path"]


def test_units_hold_no_secrets() -> None:
    """Unit files can be read by everybody, so they hold no token and no key."""
    for document in documents(SPECS["everything"]).values():
        assert "__SIGNAL" not in json.dumps(json.loads(document)["systemd"])


def test_optional_files() -> None:
    """Proxies, registries and updates leave traces only where they are asked for."""
    plain, full = (files(each(SPECS[name])["worker"]) for name in ("plain", "everything"))
    registry = "/etc/containerd/certs.d/registry.example.org:5000/hosts.toml"
    assert registry in full
    assert not any("certs.d" in path for path in plain)
    assert "/etc/jeroboam/proxy.env" not in plain
    proxies = full["/etc/jeroboam/proxy.env"]
    assert "http_proxy=http://proxy.example.org:3128" in proxies
    assert "HTTPS_PROXY=" in proxies
    assert "no_proxy=10.0.0.0/8,127.0.0.1," in proxies
    assert ",10.254.0.0/16," in proxies
    assert ",10.0.0.4,10.0.0.5" in proxies
    assert "enabled = false" in plain["/etc/zincati/config.d/90-jeroboam.toml"]
    updating = files(each(make_spec(labels={"os_auto_update": "true"}))["worker"])
    assert "/etc/zincati/config.d/90-jeroboam.toml" not in updating


def test_dropins() -> None:
    """A containerd of one's own and proxies are drop-ins of the system's units."""
    unit = units(each(SPECS["everything"])["master"])["containerd.service"]
    assert [dropin["name"] for dropin in unit["dropins"]] == ["10-version.conf", "20-proxy.conf"]
    assert units(each(SPECS["plain"])["master"])["containerd.service"].get("dropins") is None


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [("enforcing", None), ("permissive", ["enforcing=0"]), ("disabled", ["selinux=0"])],
)
def test_selinux(mode: str, arguments: list[str] | None) -> None:
    """SELinux is set on the kernel's command line, before anything of the cluster runs."""
    document = each(make_spec(labels={"selinux_mode": mode}))["master"]
    assert document.get("kernelArguments", {}).get("shouldExist") == arguments


def test_no_workers() -> None:
    """A cluster without a group of workers still fills the parameter."""
    spec = make_spec()
    spec = spec.model_copy(update={"node_groups": (spec.masters,)})
    assert documents(spec)["worker"] == "{}"


def test_too_large() -> None:
    """What does not fit into Nova is refused before Nova does it."""
    spec = make_spec(labels={"kubeapi_options": "--x=" + "".join(map(str, range(12000)))})
    with pytest.raises(InvalidRequestError, match="too large"):
        FedoraCoreosDriver().facts(DriverContext("k", NoCloud(), secrets), spec, 60)


@given(st.text(max_size=2000))
def test_data_urls(text: str) -> None:
    """Whatever a file holds comes out of its data URL again, and no quote or blank is in it."""
    contents = ignition.data_url(text)
    assert decode(contents) == text
    assert re.fullmatch(r"data:[\w;,%~.+/=-]*", contents["source"])
