"""Rules for faults, apart from the services that obey them."""

import time
from pathlib import Path

import pytest

from devcloud import Fault, UsageError
from devcloud.faults import FaultFile


@pytest.fixture
def rules(tmp_path: Path) -> FaultFile:
    return FaultFile(tmp_path / "faults.json")


def test_without_rules_nothing_happens(rules: FaultFile) -> None:
    """A missing file means no faults."""
    assert rules.rules() == []
    assert rules.fire("server", name="a") == []


def test_only_the_nth_match_fires(rules: FaultFile) -> None:
    """A rule for the second server leaves the first and the third alone."""
    rules.add(Fault(target="server", action="fail", nth=2, count=1))
    assert [bool(rules.fire("server", name="a")) for _ in range(3)] == [False, True, False]


def test_count_limits_how_often_a_rule_fires(rules: FaultFile) -> None:
    """Without a count a rule applies for ever, with one it wears off."""
    rules.add(Fault(target="api", action="fail", service="heat", count=2))
    hits = [bool(rules.fire("api", service="heat", method="GET", path="/")) for _ in range(3)]
    assert hits == [True, True, False]


def test_patterns_select_servers_by_name(rules: FaultFile) -> None:
    """Other servers neither fail nor count."""
    rules.add(Fault(target="server", action="fail", name="*-worker-?"))
    assert rules.fire("server", name="k8s-master-0") == []
    assert rules.fire("server", name="k8s-worker-0")
    assert rules.rules()[0].matches == 1


def test_requests_are_selected_by_service_method_and_path(rules: FaultFile) -> None:
    """All three have to agree."""
    rules.add(Fault(target="api", action="drop", service="heat", method="POST", path="/stacks$"))
    assert rules.fire("api", service="heat", method="POST", path="/v1/p/stacks")
    assert not rules.fire("api", service="heat", method="GET", path="/v1/p/stacks")
    assert not rules.fire("api", service="heat", method="POST", path="/v1/p/stacks/s")
    assert not rules.fire("api", service="nova", method="POST", path="/v1/p/stacks")


def test_a_rule_ends_at_its_time(rules: FaultFile) -> None:
    """A rule whose time is over does nothing."""
    rules.add(Fault(target="node", action="drop", until=time.time() - 1))
    assert rules.fire("node", name="a") == []


def test_processes_share_rules_and_counts(rules: FaultFile, tmp_path: Path) -> None:
    """What one process adds or counts, another one sees at once."""
    other = FaultFile(tmp_path / "faults.json")
    assert other.rules() == []
    rules.add(Fault(target="node", action="drop", nth=2, count=1))
    assert not other.fire("node", name="a")
    assert rules.fire("node", name="a")


def test_one_rule_can_be_removed(rules: FaultFile) -> None:
    """The others stay."""
    first = rules.add(Fault(target="node", action="drop"))
    second = rules.add(Fault(target="server", action="fail"))
    assert rules.clear(first.id) == 1
    assert [rule.id for rule in rules.rules()] == [second.id]
    assert rules.clear() == 1
    assert rules.rules() == []


@pytest.mark.parametrize(
    "values",
    [
        {"target": "server", "action": "drop"},
        {"target": "disk", "action": "fail"},
        {"target": "api", "action": "fail"},
        {"target": "api", "action": "fail", "service": "heat", "status": 200},
        {"target": "api", "action": "fail", "service": "heat", "path": "("},
        {"target": "node", "action": "delay"},
        {"target": "node", "action": "drop", "nth": 0},
    ],
)
def test_rules_that_mean_nothing_are_refused(values: dict[str, object]) -> None:
    """A typing error in a test shows at once, not as a fault that never comes."""
    with pytest.raises(UsageError):
        Fault(**values)  # type: ignore[arg-type]
