"""Bodies about schedules, and schedules in words."""

from typing import Any

import pytest

from jeroboam.cli.client import schedule_requests as requests
from jeroboam.cli.client.problems import UsageError

NOBODY: dict[str, Any] = {
    "cluster": None,
    "everything": False,
    "project": None,
    "driver": None,
    "label": None,
}
NO_INPUT: dict[str, Any] = {"node": None, "node_group": None, "batch_size": None, "template": None}


@pytest.mark.parametrize(
    ("options", "body"),
    [
        ({"cluster": "demo"}, {"cluster_id": "demo"}),
        ({"everything": True}, {"selector": {}}),
        ({"driver": "fake"}, {"selector": {"driver": "fake"}}),
        (
            {"project": "p", "label": ["a=1", "b=2"]},
            {"selector": {"project_id": "p", "labels": {"a": "1", "b": "2"}}},
        ),
    ],
)
def test_targets(options: dict[str, Any], body: dict[str, Any]) -> None:
    """One cluster, or all that fit; all must be said, since it is a lot."""
    assert requests.target_body(**{**NOBODY, **options}) == body


@pytest.mark.parametrize(
    "options", [{}, {"cluster": "c", "everything": True}, {"cluster": "c", "label": ["a=1"]}]
)
def test_unclear_targets(options: dict[str, Any]) -> None:
    """Neither or both is refused."""
    with pytest.raises(UsageError, match="Say which clusters"):
        requests.target_body(**{**NOBODY, **options})


def test_times() -> None:
    """A cron expression, or fields of the wall clock with hyphens or underscores."""
    cron = requests.times_body(cron="0 3 * * *", at=None, time_zone=None, end="2027-01-01")
    assert cron == {"cron": "0 3 * * *", "end_at": "2027-01-01T00:00:00+00:00"}
    fields = ["hour=3", "day-of-week=sat,sun"]
    assert requests.times_body(cron=None, at=fields, time_zone="Europe/Berlin") == {
        "calendar": {"hour": "3", "day_of_week": "sat,sun"},
        "time_zone": "Europe/Berlin",
    }


@pytest.mark.parametrize(("cron", "at"), [(None, None), (None, []), ("0 3 * * *", ["hour=3"])])
def test_unclear_times(cron: str | None, at: list[str] | None) -> None:
    """Neither or both is refused, with an example of each."""
    with pytest.raises(UsageError, match="either --cron"):
        requests.times_body(cron=cron, at=at, time_zone=None)


@pytest.mark.parametrize(
    ("kind", "options", "body"),
    [
        ("rebuild", {}, {}),
        ("soft_reboot", {"batch_size": "all"}, {"batch_size": None}),
        ("hard_reboot", {"node": ["a"], "batch_size": "2"}, {"nodes": ["a"], "batch_size": 2}),
        ("check_health", {}, {}),
        ("upgrade", {"template": "t"}, {"cluster_template": "t"}),
        (
            "upgrade",
            {"template": "t", "batch_size": "3"},
            {"cluster_template": "t", "max_batch_size": 3},
        ),
    ],
)
def test_parameters(kind: str, options: dict[str, Any], body: dict[str, Any]) -> None:
    """Each kind of operation has its own input."""
    assert requests.parameters_body(kind, **{**NO_INPUT, **options}) == body


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("upgrade", {}, "An upgrade needs --template."),
        ("upgrade", {"template": "t", "node": ["a"]}, "--node does not go with upgrade."),
        ("upgrade", {"template": "t", "batch_size": "all"}, "takes a number as --batch-size"),
        ("soft_reboot", {"template": "t"}, "--template does not go with soft reboot."),
    ],
)
def test_wrong_parameters(kind: str, options: dict[str, Any], words: str) -> None:
    """What does not go with the kind is refused before anything is sent."""
    with pytest.raises(UsageError, match=words):
        requests.parameters_body(kind, **{**NO_INPUT, **options})


def test_limits() -> None:
    """Lengths of time have units; what is not given is the service's to decide."""
    none = {"jitter": None, "catchup": None, "wait": None, "max_parallel": None}
    assert requests.limits_body(**none) == {}
    assert requests.limits_body(jitter="2m", catchup="4h", wait="0m", max_parallel=3) == {
        "jitter_seconds": 120,
        "catchup_minutes": 240,
        "wait_minutes": 0,
        "max_parallel": 3,
    }


@pytest.mark.parametrize(
    ("fields", "target"),
    [
        ({"cluster_id": "c"}, "cluster c"),
        ({"selector": {}}, "all clusters"),
        (
            {"selector": {"project_id": "p", "driver": "fake", "labels": {"a": "1"}}},
            "clusters of project p, driver fake, label a=1",
        ),
    ],
)
def test_targets_in_words(fields: dict[str, Any], target: str) -> None:
    """A list shows whom a schedule concerns."""
    times = {"cron": None, "calendar": {"hour": "3", "minute": "30"}, "time_zone": "UTC"}
    told = requests.in_words({"cluster_id": None, "selector": None, **times, **fields})
    assert told["target"] == target
    assert told["times"] == "hour=3 minute=30 UTC"
