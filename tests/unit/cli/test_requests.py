"""The requests that commands build, and the words of refusals."""

import pytest

from jeroboam.cli.client import cluster_commands as commands
from jeroboam.cli.client import operation_commands, schedule_commands
from jeroboam.cli.client.api import message_of
from jeroboam.cli.client.connection import versioned
from jeroboam.cli.client.problems import UsageError
from jeroboam.cli.client.progress import ENDED
from jeroboam.models import OperationKind, OperationState
from jeroboam.models.schedule import SCHEDULABLE


def test_what_is_not_given_is_not_sent() -> None:
    """Fields that nobody named are left to the service."""
    assert commands.resize("c", 3).body == {"node_count": 3}
    assert commands.upgrade("c", "t").body == {"cluster_template": "t"}


def test_all_at_once() -> None:
    """``--batch-size all`` is sent as null, which is not the same as leaving it out."""
    request = commands.rebuild("c", node=["a"], batch_size="all")
    assert request.body == {"nodes": ["a"], "batch_size": None}
    assert request.path == ("clusters", "c", "actions", "rebuild")


@pytest.mark.parametrize(("hard", "kind"), [(False, "soft"), (True, "hard")])
def test_reboots(*, hard: bool, kind: str) -> None:
    """A reboot says how."""
    request = commands.reboot("c", hard=hard, node_group=["g1", "g2"], batch_size="2")
    assert request.body == {"node_groups": ["g1", "g2"], "batch_size": 2, "type": kind}


@pytest.mark.parametrize("text", ["0", "-1", "", "ALL", "1.5", "many"])
def test_wrong_batch_sizes(text: str) -> None:
    """A batch size that is none is refused before anything is sent."""
    with pytest.raises(UsageError, match="a number from 1 on, or 'all'"):
        commands.rebuild("c", batch_size=text)


def test_a_removal_asks() -> None:
    """Both removals ask first, and the one by force says what it leaves."""
    assert commands.delete("c").question == "Remove cluster c with all it has?"
    assert "left behind" in (commands.delete("c", force=True).question or "")
    assert commands.delete("c").query == {"force": None}


@pytest.mark.parametrize(
    ("endpoint", "base"),
    [
        ("http://api:9511/v1", "http://api:9511/v1"),
        ("http://api:9511/v1/", "http://api:9511/v1"),
        ("http://api:9511", "http://api:9511/v1"),
        ("https://cloud/container-infra", "https://cloud/container-infra/v1"),
    ],
)
def test_endpoints(endpoint: str, base: str) -> None:
    """An endpoint may lack the version, as a hand-written override often does."""
    assert versioned(endpoint) == base


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"errors": [{"detail": "No such\ncluster."}]}, "No such cluster."),
        (
            {"errors": [{"description": "No version 9.9."}]},
            "No version 9.9.",
        ),
        (
            {"error": {"message": "Who are you?"}},
            "Who are you?",
        ),
        (
            {
                "errors": [
                    {"detail": "Busy.", "operation": {"uuid": "o1", "kind": "x", "step": None}}
                ]
            },
            "Busy. Look on: jeroboam operation watch o1",
        ),
        ({"errors": [{"detail": ""}]}, ""),
        ({"errors": []}, ""),
        (["no object"], ""),
        (None, ""),
    ],
)
def test_refusals(body: object, message: str) -> None:
    """Magnum's, Keystone's and the microversions' errors are one line; anything else is none."""
    assert message_of(body) == message


def test_what_is_completed() -> None:
    """The shell completes the kinds and states that the service knows."""
    assert list(OperationKind) == operation_commands.KINDS
    assert list(SCHEDULABLE) == schedule_commands.KINDS
    assert [state.lower() for state in OperationState] == operation_commands.STATES


def test_ended_states() -> None:
    """The client knows the same ends of an operation as the service."""
    assert {state.value for state in OperationState if not state.active} == ENDED
