"""The parts that read what a Kubernetes cluster says."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.kubernetes.names import checked
from jeroboam.drivers.kubernetes.objects import EventView, NodeView, WorkloadView, problems
from jeroboam.drivers.kubernetes.quantities import mebibytes, millicores, number
from jeroboam.drivers.kubernetes.usage import requests
from jeroboam.errors import InvalidRequestError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        ("250m", Decimal("0.25")),
        ("1.5Gi", Decimal("1.5") * 2**30),
        ("123456789n", Decimal("0.123456789")),
        ("2e3", 2000),
        ("1k", 1000),
        ("16331752Ki", 16331752 * 1024),
        (None, 0),
        ("", 0),
        ("many", 0),
        ("1.2.3", 0),
    ],
)
def test_quantities_are_read(text: object, value: object) -> None:
    """As Kubernetes writes them; what cannot be read counts nothing."""
    assert number(text) == value


@given(st.integers(0, 10**9))
def test_units_agree(amount: int) -> None:
    """A thousand millicores are a core, 1024 Ki are a Mi."""
    assert millicores(f"{amount}m") == amount
    assert mebibytes(f"{amount * 1024}Ki") == amount


@pytest.mark.parametrize("name", ["web", "web.v1", "a-b", "x" * 253])
def test_names_pass(name: str) -> None:
    """Those that Kubernetes has."""
    assert checked("deployment", name) == name


@pytest.mark.parametrize("name", ["", "-a", "a/b", "..", "a..b", "A", "a?b", "a%2fb", "x" * 254])
def test_other_names_do_not(name: str) -> None:
    """They could lead a path elsewhere."""
    with pytest.raises(InvalidRequestError, match="deployment"):
        checked("deployment", name)


def test_a_node_that_has_said_nothing_can_be_read() -> None:
    """Every field but the name may be absent."""
    node = NodeView.of({"metadata": {"name": "one"}})
    assert (node.ready, node.cpu_millicores, node.roles, node.version) == (False, 0, (), None)


def test_conditions_that_should_not_be_are_problems() -> None:
    """``Ready`` has to be true, the others not."""
    conditions = [
        {"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"},
        {"type": "MemoryPressure", "status": "False"},
        {"type": "DiskPressure", "status": "True", "message": "disk is full"},
        {"type": "OfSomebody", "status": "True"},
    ]
    found = problems({"status": {"conditions": conditions}})
    assert found == {"Ready": "NodeStatusUnknown", "DiskPressure": "disk is full"}


@pytest.mark.parametrize(
    ("moments", "at"),
    [
        ({"lastTimestamp": "2026-01-02T03:04:05Z"}, "2026-01-02T03:04:05+00:00"),
        (
            {"lastTimestamp": None, "eventTime": "2026-01-02T03:04:06.5Z"},
            "2026-01-02T03:04:06.500000+00:00",
        ),
        (
            {"series": {"lastObservedTime": "2026-01-02T03:04:07Z", "count": 4}},
            "2026-01-02T03:04:07+00:00",
        ),
    ],
    ids=["old", "new", "series"],
)
def test_events_of_all_forms_have_a_time(moments: dict[str, Any], at: str) -> None:
    """The fields have changed their names over the years."""
    event = EventView.of({"metadata": {"namespace": "n"}, **moments})
    assert event.at is not None
    assert event.at.isoformat() == at
    assert event.count == (4 if "series" in moments else 1)


def test_a_daemon_set_is_counted_too() -> None:
    """Its numbers have other names."""
    status = {"desiredNumberScheduled": 3, "numberReady": 2, "updatedNumberScheduled": 1}
    found = {"metadata": {"namespace": "n", "name": "d"}, "status": status}
    view = WorkloadView.of("DaemonSet", found)
    assert (view.desired, view.ready, view.updated) == (3, 2, 1)


def test_what_a_pod_reserves() -> None:
    """All containers together, or the one that runs first if that is larger; and the sandbox."""

    def container(cpu: str) -> dict[str, Any]:
        return {"resources": {"requests": {"cpu": cpu}}}

    spec = {
        "containers": [container("100m"), container("200m"), {}],
        "initContainers": [container("500m")],
        "overhead": {"cpu": "50m"},
    }
    assert requests({"spec": spec})["cpu"] == Decimal("0.55")
