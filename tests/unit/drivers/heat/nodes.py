"""Renders a node's first boot as Heat would, and reads documents of both formats."""

import base64
import gzip
import json
from typing import Any
from urllib.parse import unquote

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_coreos_v1.driver import CoreosDriver
from jeroboam.drivers.k8s_fedora_atomic_v1.driver import FedoraAtomicDriver
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.k8s_ubuntu_v1.driver import UbuntuDriver
from jeroboam.drivers.nodes.cloud_config import HEADER, UNITS, CloudConfig
from jeroboam.drivers.nodes.ignition import Ignition
from jeroboam.models import ClusterSpec
from tests.fakes import NoCloud
from tests.unit.drivers.heat.accounts import with_account
from tests.unit.drivers.heat.clusters import secrets

DRIVERS: dict[str, type[KubernetesHeatDriver]] = {
    driver.name: driver
    for driver in (CoreosDriver, FedoraAtomicDriver, FedoraCoreosDriver, UbuntuDriver)
}
SIGNAL = json.dumps(
    {
        "auth_url": "http://keystone:5000/v3/",
        "username": "demo-ready_handle",
        "user_id": "u5e4",
        "password": "pa%s5#&^!",
        "project_id": "p40j",
        "alarm_url": "http://heat:8004/v1/p/stacks/demo-x/1/resources/ready_handle/signal",
    }
)

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
    "__SIGNAL__": SIGNAL,
}


def documents(
    spec: ClusterSpec, driver: type[KubernetesHeatDriver] = FedoraCoreosDriver
) -> dict[str, str]:
    """Return the user data that the driver gives to Heat."""
    made = driver()
    read = with_account if made.needs_cloud_account(spec) else secrets
    context = DriverContext("c:o:s", NoCloud(), read)
    facts = made.facts(context, spec, 60)
    return {role: facts[f"{role}_setup"].user_data for role in ("master", "worker")}


def boot(document: str, **values: str) -> dict[str, Any]:
    """Return the document after Heat's replacements, parsed."""
    escapes = CloudConfig.escapes if document.startswith(HEADER) else Ignition.escapes
    for word, value in {**HEAT_VALUES, **values}.items():
        written = value
        if word == "__SIGNAL__":
            written = "".join(escapes.get(letter, letter) for letter in value)
        document = document.replace(word, written)
    parsed: dict[str, Any] = json.loads(document.removeprefix(HEADER))
    return parsed


def files(document: dict[str, Any]) -> dict[str, str]:
    """Return the texts of all files by path, without units."""
    if "storage" in document:
        return {entry["path"]: decode(entry["contents"]) for entry in document["storage"]["files"]}
    return {path: text for path, text in _written(document).items() if not path.startswith(UNITS)}


def modes(document: dict[str, Any]) -> dict[str, int]:
    """Return the modes of all files by path."""
    if "storage" in document:
        return {entry["path"]: entry["mode"] for entry in document["storage"]["files"]}
    return {entry["path"]: int(entry["permissions"], 8) for entry in document["write_files"]}


def units(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return all units by name, in Ignition's words."""
    if "systemd" in document:
        return {unit["name"]: unit for unit in document["systemd"]["units"]}
    found: dict[str, dict[str, Any]] = {}
    for verb, told in (("enable", "enabled"), ("mask", "mask")):
        for command in document["runcmd"]:
            if command[0].endswith("systemctl") and command[1] == verb:
                for name in command[2:]:
                    if name != "--now":
                        found.setdefault(name, {"name": name})[told] = True
    for path, text in _written(document).items():
        unit, _, dropin = path.removeprefix(f"{UNITS}/").partition(".d/")
        if not path.startswith(UNITS):
            continue
        if dropin:
            found[unit].setdefault("dropins", []).append({"name": dropin, "contents": text})
        else:
            found[unit]["contents"] = text
    return found


def decode(contents: dict[str, str]) -> str:
    """Return what a data URL holds."""
    header, _, data = contents["source"].partition(",")
    assert header in {"data:", "data:;base64"}
    raw = base64.b64decode(data) if header.endswith("base64") else unquote(data).encode()
    return (gzip.decompress(raw) if contents.get("compression") else raw).decode()


def _written(document: dict[str, Any]) -> dict[str, str]:
    """Return the texts of all files that cloud-init writes."""
    return {
        entry["path"]: gzip.decompress(base64.b64decode(entry["content"])).decode()
        if entry.get("encoding") == "gz+b64"
        else entry["content"]
        for entry in document["write_files"]
    }
