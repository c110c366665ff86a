"""How far a call is by what Senlin tells, and what its profiles hold."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from jeroboam.drivers.base import Phase
from jeroboam.drivers.k8s_senlin_v1.driver import SenlinDriver
from jeroboam.drivers.nodes.files import Files
from jeroboam.drivers.senlin import profiles
from jeroboam.drivers.senlin.network import Place
from jeroboam.drivers.senlin.poller import made
from jeroboam.drivers.senlin.records import MARK, NODE, Record
from jeroboam.errors import DriverContractError

RECORD = Record(id="r", cluster="uuid", project="p", call="key", wanted=("m-0", "w-0"))
LEAVING = Record(id="r", cluster="uuid", project="p", call="key", leaving=("id-w-1",))


def node(name: str, status: str, reason: str = "") -> Mapping[str, Any]:
    metadata = {MARK: "uuid", NODE: name}
    return {"id": f"id-{name}", "status": status, "status_reason": reason, "metadata": metadata}


@pytest.mark.parametrize(
    ("master", "worker", "phase"),
    [
        ("ACTIVE", "ACTIVE", Phase.DONE),
        ("ACTIVE", "CREATING", Phase.RUNNING),
        ("ERROR", "INIT", Phase.RUNNING),
        ("ERROR", "ACTIVE", Phase.FAILED),
    ],
)
def test_nodes_are_made(master: str, worker: str, phase: Phase) -> None:
    """A failure is told when all other nodes are done, and not before."""
    nodes = [node("m-0", master, "Quota exceeded"), node("w-0", worker)]
    found = made(RECORD, nodes, [], [])
    assert found.phase is phase
    assert found.faults == ({"m-0": "Quota exceeded"} if phase is Phase.FAILED else {})


def test_a_node_that_somebody_removed_is_missing() -> None:
    assert made(RECORD, [node("m-0", "ACTIVE")], [], []).phase is Phase.INTERRUPTED


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ("READY", Phase.RUNNING),
        ("RUNNING", Phase.RUNNING),
        ("FAILED", Phase.FAILED),
        ("SUCCEEDED", Phase.FAILED),
    ],
)
def test_nodes_go(status: str, phase: Phase) -> None:
    """What is still there when the action has ended stays there."""
    action = {"status": status, "status_reason": "it is locked"}
    found = made(LEAVING, [node("w-1", "ERROR")], [], [action])
    assert found.phase is phase
    assert ("it is locked" in found.message) == (phase is Phase.FAILED)


def test_nodes_have_gone() -> None:
    assert made(LEAVING, [], [], []).phase is Phase.DONE


def test_secrets_in_a_reason_are_not_told() -> None:
    reason = "X-Auth-Token: gAAAAABm" + "x" * 40
    found = made(RECORD, [node("m-0", "ERROR", reason), node("w-0", "ACTIVE")], [], [])
    assert "gAAAA" not in f"{found.message} {found.faults}"


def test_a_record_is_read_as_it_was_written() -> None:
    begun = RECORD.begun(["x-1"])
    profile = {"id": "r", "project": "p", "metadata": RECORD.metadata()}
    assert Record.of(profile).metadata() == RECORD.metadata()
    assert (begun.call, begun.wanted, begun.names) == ("", (), ("x-1",))


@pytest.mark.parametrize("metadata", [None, {}, {"other": "note"}])
def test_other_profiles_hold_no_record(metadata: Mapping[str, Any] | None) -> None:
    assert Record.of({"id": "r", "metadata": metadata}).cluster == ""


def test_a_profile_is_of_one_server() -> None:
    """It has the server's port and, in its user data, the addresses; what is None is left out."""
    server = {
        "name": "c-worker-1",
        "index": "1",
        "image": "i",
        "flavor": "f",
        "group": "g",
        "key_name": None,
        "zone": None,
        "metadata": {"a": "b"},
    }
    text = (
        "__NODE_NAME__ __NODE_ADDRESS__ __PUBLIC_ADDRESS__ __API_ADDRESS__ __API_PUBLIC_ADDRESS__"
    )
    order = {"user_data": {"g": text}, "api_node": "c-master-0", "servers": [server]}
    places = {
        "c-worker-1": Place("port", "10.0.0.7"),
        "c-master-0": Place("other", "10.0.0.5", "172.24.0.9"),
    }
    common = profiles.read(SenlinDriver.source)
    spec = profiles.of_server(common, order, server, places)
    properties = spec["properties"]
    assert properties["user_data"] == "c-worker-1 10.0.0.7 127.0.0.1 10.0.0.5 172.24.0.9"
    assert properties["networks"] == [{"port": "port"}]
    assert not {"key_name", "availability_zone"} & set(properties)
    assert "user_data" not in profiles.of_groups(common, order)["properties"]


@pytest.mark.parametrize("text", ["type: os.heat.stack\n", "- 1\n", "a: [\n"])
def test_a_file_that_is_no_profile_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "profile.yaml").write_text(text)
    with pytest.raises(DriverContractError, match=r"profile\.yaml"):
        profiles.read(Files((tmp_path,)))
