"""The nodes' systemd units are well formed and hang together."""

import re
from typing import Any

import pytest

from tests.unit.drivers.heat.clusters import make_spec
from tests.unit.drivers.heat.nodes import boot, documents, files, units

# What the units may say; systemd ignores what it does not know, so a slip would go unnoticed.
KNOWN = {
    "Unit": {
        "Description", "Documentation", "Wants", "Requires", "After", "Before",
        "ConditionPathExists", "StartLimitIntervalSec",
    },
    "Service": {
        "Type", "RemainAfterExit", "TimeoutStartSec", "ExecStart", "Environment",
        "EnvironmentFile", "Restart", "RestartSec",
    },
    "Install": {"WantedBy"},
}  # fmt: skip
OUTSIDE = {"network-online.target", "containerd.service", "multi-user.target"}


def parse(text: str) -> dict[str, dict[str, list[str]]]:
    sections: dict[str, dict[str, list[str]]] = {}
    section: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        if header := re.fullmatch(r"\[(\w+)\]", line):
            section = sections.setdefault(header[1], {})
        else:
            key, equals, value = line.partition("=")
            assert equals, line
            section.setdefault(key, []).append(value)
    return sections


def all_units(role: str) -> dict[str, dict[str, Any]]:
    return units(boot(documents(make_spec(template={"http_proxy": "http://p:1"}))[role]))


@pytest.mark.parametrize("role", ["master", "worker"])
def test_sections_and_keys(role: str) -> None:
    """Units and drop-ins have known sections and keys only."""
    for unit in all_units(role).values():
        texts = [unit["contents"]] if "contents" in unit else []
        texts += [dropin["contents"] for dropin in unit.get("dropins", ())]
        for text in texts:
            for section, keys in parse(text).items():
                assert set(keys) <= KNOWN[section], (unit["name"], keys)


@pytest.mark.parametrize("role", ["master", "worker"])
def test_units_are_complete(role: str) -> None:
    """Units of our own have a description, a command and a place in the boot, and are enabled."""
    for unit in all_units(role).values():
        assert unit["enabled"] is True
        if "contents" in unit:
            sections = parse(unit["contents"])
            assert sections["Unit"]["Description"]
            assert sections["Service"]["ExecStart"][0].startswith("/")
            assert sections["Install"]["WantedBy"] == ["multi-user.target"]


@pytest.mark.parametrize("role", ["master", "worker"])
def test_references_exist(role: str) -> None:
    """What a unit waits for, and the script that it runs, are on the same node."""
    document = boot(documents(make_spec())[role])
    known = set(units(document)) | OUTSIDE
    for unit in units(document).values():
        if "contents" not in unit:
            continue
        sections = parse(unit["contents"])
        for key in ("Wants", "Requires", "After", "Before"):
            for names in sections["Unit"].get(key, ()):
                assert set(names.split()) <= known
        command = sections["Service"]["ExecStart"][0]
        for script in re.findall(r"/usr/local/lib/jeroboam/\S+", command):
            assert script in files(document)


@pytest.mark.parametrize("role", ["master", "worker"])
def test_steps_never_give_up(role: str) -> None:
    """Steps that wait for others have no time limit of their own; Heat's is the one that counts."""
    for name, unit in all_units(role).items():
        if name.startswith("jeroboam-"):
            service = parse(unit["contents"])["Service"]
            assert service["Type"] == ["oneshot"]
            assert service["TimeoutStartSec"] == ["infinity"]


def test_pod_network_is_for_masters() -> None:
    """Workers do not apply manifests."""
    assert "jeroboam-network.service" in all_units("master")
    assert "jeroboam-network.service" not in all_units("worker")
