"""The units of nodes with Docker are well formed and hang together."""

import re

import pytest

from tests.unit.drivers.docker.clusters import DRIVERS, document
from tests.unit.drivers.heat.nodes import files, units
from tests.unit.drivers.heat.test_units import parse

KNOWN = {
    "Unit": {
        "Description", "Documentation", "Wants", "Requires", "After", "Before", "Conflicts",
        "StartLimitIntervalSec",
    },
    "Service": {
        "Type", "RemainAfterExit", "TimeoutStartSec", "ExecStart", "Environment",
        "EnvironmentFile", "Restart", "RestartSec", "RuntimeMaxSec", "StandardOutput", "Delegate",
        "KillMode", "LimitNOFILE", "TasksMax",
    },
    "Install": {"WantedBy"},
}  # fmt: skip
OUTSIDE = {"network-online.target", "docker.socket"}
NODES = [(coe, role) for coe in sorted(DRIVERS) for role in ("master", "worker")]


@pytest.mark.parametrize(("coe", "role"), NODES)
def test_units_hang_together(coe: str, role: str) -> None:
    """All keys are known, all units and scripts that are named are on the same node."""
    found = document(coe, role, template={"http_proxy": "http://p:1"})
    known = set(units(found)) | OUTSIDE
    for name, unit in units(found).items():
        if unit.get("mask"):
            continue
        assert unit["enabled"] is True
        for text in [unit["contents"], *(one["contents"] for one in unit.get("dropins", ()))]:
            for section, keys in parse(text).items():
                assert set(keys) <= KNOWN[section], (name, keys)
        sections = parse(unit["contents"])
        for key in ("Wants", "Requires", "After", "Before", "Conflicts"):
            for listed in sections["Unit"].get(key, ()):
                assert set(listed.split()) <= known, name
        scripts = re.findall(r"/usr/local/lib/jeroboam/\S+", unit["contents"])
        assert all(script in files(found) for script in scripts)
        assert sections["Install"]["WantedBy"] == ["multi-user.target"]


@pytest.mark.parametrize(("coe", "role"), NODES)
def test_no_word_is_left(coe: str, role: str) -> None:
    """Heat knows all the words that a node's files hold, and each manifest those of its texts."""
    found = document(coe, role)
    texts = [*files(found).values(), *(unit.get("contents", "") for unit in units(found).values())]
    for text in texts:
        assert not re.search(r"__[A-Z_]+__|@\w+@", text)


@pytest.mark.parametrize(
    ("coe", "name"), [("swarm", "rpm-ostreed-automatic.timer"), ("mesos", "apt-daily.timer")]
)
def test_systems_update_themselves_on_request(coe: str, name: str) -> None:
    """A system does not update itself, unless its label says so."""
    assert units(document(coe, "worker"))[name]["mask"] is True
    wanted = document(coe, "worker", labels={"os_auto_update": "true"})
    assert name not in units(wanted)
