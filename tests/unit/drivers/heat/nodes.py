"""Renders a node's first boot as Heat would, and reads Ignition documents."""

import base64
import gzip
import json
from typing import Any
from urllib.parse import quote, unquote

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud
from tests.unit.drivers.heat.clusters import secrets

# What the templates put in for one node.
HEAT_VALUES = {
    "__NODE_NAME__": "demo-0123456789ab-master-0",
    "__NODE_INDEX__": "0",
    "__NODE_ADDRESS__": "10.0.0.5",
    "__PUBLIC_ADDRESS__": "127.0.0.1",
    "__API_ADDRESS__": "10.0.0.4",
    "__API_PUBLIC_ADDRESS__": "172.24.0.9",
    "__ETCD_VOLUME__": "",
    "__STORAGE_VOLUME__": "",
    "__SIGNAL__": quote(
        json.dumps(
            {
                "auth_url": "http://keystone:5000/v3/",
                "username": "demo-ready_handle",
                "user_id": "u5e4",
                "password": "pa%s5#&^!",
                "project_id": "p40j",
                "alarm_url": "http://heat:8004/v1/p/stacks/demo-x/1/resources/ready_handle/signal",
            }
        )
    ),
}


def documents(spec: ClusterSpec) -> dict[str, str]:
    """Return the Ignition documents that the driver gives to Heat."""
    context = DriverContext("c:o:s", NoCloud(), secrets)
    facts = FedoraCoreosDriver().facts(context, spec, 60)
    return {role: facts[f"{role}_setup"].user_data for role in ("master", "worker")}


def boot(document: str, **values: str) -> dict[str, Any]:
    """Return the document after Heat's replacements, parsed."""
    for word, value in {**HEAT_VALUES, **values}.items():
        document = document.replace(word, value)
    parsed: dict[str, Any] = json.loads(document)
    return parsed


def files(document: dict[str, Any]) -> dict[str, str]:
    """Return the texts of all files by path."""
    return {entry["path"]: decode(entry["contents"]) for entry in document["storage"]["files"]}


def units(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return all units by name."""
    return {unit["name"]: unit for unit in document["systemd"]["units"]}


def decode(contents: dict[str, str]) -> str:
    """Return what a data URL holds."""
    header, _, data = contents["source"].partition(",")
    assert header in {"data:", "data:;base64"}
    raw = base64.b64decode(data) if header.endswith("base64") else unquote(data).encode()
    return (gzip.decompress(raw) if contents.get("compression") else raw).decode()
