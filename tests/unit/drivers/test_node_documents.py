"""Manifests say what nodes get, and each format of user data carries all of it."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.nodes import manifest
from jeroboam.drivers.nodes.cloud_config import HEADER, CloudConfig
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.nodes.ignition import Ignition
from jeroboam.drivers.nodes.manifest import File, NodeFiles
from jeroboam.errors import DriverContractError
from tests.unit.drivers.heat.nodes import DRIVERS, boot, files, units

BASE = {
    "words": {"@place@": "/somewhere"},
    "directories": [{"path": "@place@/kept", "mode": 0o700}],
    "files": [
        {"path": "@place@/one", "mode": 0o644, "content": "one"},
        {"path": "/masters", "mode": 0o600, "content": "one", "roles": ["master"]},
        {"path": "/empty", "mode": 0o644, "content": "nothing"},
        {"path": "/{name}/x", "mode": 0o644, "from": "text"},
        {"path": "/wanted", "mode": 0o644, "from": "text", "if": "one"},
        {"path": "/unwanted", "mode": 0o644, "from": "text", "if": "nothing"},
    ],
    "units": [
        {"name": "a.service", "enabled": True, "from": "unit"},
        {"name": "b.service", "masked": True, "if": "nothing"},
    ],
    "commands": [{"run": ["touch", "@place@/touched"]}],
}
OWN = {
    "include": ["base.yaml"],
    "words": {"@place@": "/elsewhere"},
    "files": [{"path": "/masters", "mode": 0o640, "content": "two"}],
    "units": [{"name": "b.service", "masked": True, "if": "one"}],
}
CONTENTS = {"one": "1 is at @place@", "two": "2", "nothing": "", "name": "called"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "base.yaml").write_text(yaml.safe_dump(BASE))
    (shared / "text").write_text("shared @place@")
    (shared / "unit").write_text("[Unit]\nDescription=@place@\n")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "nodes.yaml").write_text(yaml.safe_dump(OWN))
    return tmp_path


@pytest.fixture
def layered(folder: Path) -> Files:
    return Files((folder / "own", folder / "shared"))


def test_manifest_includes_another(layered: Files) -> None:
    """The including manifest's entries and words win over those of the included one."""
    node = manifest.read(layered, "worker", CONTENTS)
    assert {file.path: (file.mode, file.text) for file in node.files} == {
        "/elsewhere/one": (0o644, "1 is at /elsewhere"),
        "/masters": (0o640, "2"),
        "/called/x": (0o644, "shared /elsewhere"),
        "/wanted": (0o644, "shared /elsewhere"),
    }
    assert node.directories[0].path == "/elsewhere/kept"
    assert node.commands == (("touch", "/elsewhere/touched"),)
    first, second = node.units
    assert (first.enabled, first.text) == (True, "[Unit]\nDescription=/elsewhere\n")
    assert (second.name, second.masked) == ("b.service", True)


def test_roles_and_conditions(layered: Files) -> None:
    """Without the including one, files are for their roles and units for their conditions."""
    for role, expected in (("worker", set()), ("master", {"/masters"})):
        node = manifest.read(layered, role, CONTENTS, manifest="base.yaml")
        assert {file.path for file in node.files} & {"/masters", "/empty"} == expected
        assert [unit.name for unit in node.units] == ["a.service"]


def test_own_file_hides_the_shared_one(folder: Path, layered: Files) -> None:
    """A driver replaces a shared script by a file of the same name."""
    (folder / "own" / "text").write_text("my own")
    node = manifest.read(layered, "worker", CONTENTS)
    assert "my own" in {file.text for file in node.files}


def test_files_can_be_kept(folder: Path, layered: Files) -> None:
    """All files together, written to one folder, give the same nodes."""
    (folder / "own" / "text").write_text("my own")
    kept = folder / "kept"
    for name, text in layered.texts().items():
        (kept / name).parent.mkdir(parents=True, exist_ok=True)
        (kept / name).write_text(text)
    assert set(layered.names()) == {"base.yaml", "nodes.yaml", "text", "unit"}
    again = layered.at(kept)
    assert manifest.read(again, "master", CONTENTS) == manifest.read(layered, "master", CONTENTS)


@pytest.mark.parametrize("name", sorted(DRIVERS))
def test_kept_files_build_the_same_cluster(name: str, tmp_path: Path) -> None:
    """What is kept of a driver is all that its templates and nodes are made from."""
    definition = DRIVERS[name].definition
    for path, text in definition.files.texts().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    kept = definition.at(tmp_path)
    assert kept.load() == definition.load()
    assert kept.files.texts() == definition.files.texts()
    assert set(kept.load()[1]) == {"master.yaml", "node.yaml", "node_group.yaml"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"files": [{"path": "/x", "mode": 0o644, "content": "nonsense"}]}, "'nonsense'"),
        ({"files": [{"path": "/x", "mode": 0o644, "from": "gone"}]}, "no file gone"),
        ({"include": ["gone.yaml"]}, r"no file gone\.yaml"),
    ],
)
def test_manifest_that_asks_for_too_much(change: Any, words: str, tmp_path: Path) -> None:
    """A manifest that names what is not there breaks the contract, in words."""
    (tmp_path / "nodes.yaml").write_text(yaml.safe_dump(change))
    with pytest.raises(DriverContractError, match=words):
        manifest.read(Files((tmp_path,)), "master", {})


def test_what_a_format_cannot_express() -> None:
    """Ignition runs no commands, and cloud-init comes too late for the kernel's arguments."""
    with pytest.raises(DriverContractError, match="no commands"):
        Ignition("3.4.0").render(NodeFiles("master", commands=(("true",),)))
    with pytest.raises(DriverContractError, match="kernel"):
        CloudConfig().render(NodeFiles("master", kernel_arguments=("quiet",)))


@given(st.text(max_size=500))
def test_texts_arrive(text: str) -> None:
    """Whatever a file holds arrives unchanged in both formats, as YAML as well."""
    node = NodeFiles("worker", files=(File("/x", 0o600, text),))
    for document in (Ignition("3.4.0").render(node), CloudConfig().render(node)):
        assert files(boot(document)) == {"/x": text}
    cloud_config = CloudConfig().render(node)
    assert yaml.safe_load(cloud_config) == json.loads(cloud_config.removeprefix(HEADER))


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
def test_text_that_the_engine_puts_in(password: str) -> None:
    """A password of any printable characters survives both formats."""
    signal = json.dumps({"password": password})
    node = NodeFiles("worker", files=(File("/signal", 0o600, "__SIGNAL__"),))
    for document in (Ignition("3.4.0").render(node), CloudConfig().render(node)):
        found = files(boot(document, __SIGNAL__=signal))["/signal"]
        assert json.loads(found) == {"password": password}


def test_masked_units() -> None:
    """A unit that is masked is not enabled as well."""
    node = NodeFiles("worker", units=(manifest.Unit("x.timer", masked=True),))
    assert units(boot(Ignition("3.3.0").render(node)))["x.timer"]["mask"] is True
    document = CloudConfig().render(node)
    assert document.startswith(HEADER)
    assert "enable" not in document
    assert units(boot(document))["x.timer"]["mask"] is True
