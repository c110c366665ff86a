"""Root causes are found in Heat's tree of failed resources."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat.failures import (
    MAX_TOTAL,
    bounded,
    explain,
    only_effects,
    root_causes,
    summary,
    unfinished,
)

ROOT = "root-id"
QUOTA = "Quota exceeded for instances: Requested 1, but already used 10 of 10 instances"


def failed(name: str, reason: str, *, stack: str, owns: str = "") -> dict[str, Any]:
    return {
        "resource_name": name,
        "resource_status": "CREATE_FAILED",
        "resource_status_reason": reason,
        "resource_type": "OS::X",
        "physical_resource_id": owns,
        "links": [
            {"rel": "self", "href": f"http://heat/v1/p/stacks/n/{stack}/resources/{name}"},
            {"rel": "stack", "href": f"http://heat/v1/p/stacks/n/{stack}"},
        ],
    }


TREE = [
    failed("masters", f"Forbidden: resources.masters: {QUOTA}", stack=ROOT, owns="group"),
    failed("0", f"Forbidden: resources[0]: {QUOTA}", stack="group", owns="master"),
    failed(
        "server",
        f"Forbidden: resources.server: {QUOTA} (HTTP 403) (Request-ID: req-1)",
        stack="master",
    ),
    failed("floating_ip", "CREATE aborted (Task create cancelled)", stack="master"),
]


def test_innermost_resource_is_the_cause() -> None:
    """The fault names the path to the resource and the service's reason, without the wrapping."""
    assert root_causes(ROOT, TREE) == {
        "masters.0.server": f"{QUOTA} (HTTP 403) (Request-ID: req-1)"
    }


def test_effects_count_if_there_is_nothing_else() -> None:
    """Aborted resources are shown when no cause is known."""
    assert root_causes(ROOT, TREE[3:]) == {"floating_ip": "CREATE aborted (Task create cancelled)"}


def test_nothing_failed() -> None:
    """Without failed resources there are no faults."""
    assert root_causes(ROOT, []) == {}


def test_nova_fault() -> None:
    """Nova's own text is taken out of Heat's sentence."""
    reason = (
        "ResourceInError: resources.server: Went to status ERROR due to "
        '"Message: No valid host was found. There are not enough hosts available., Code: 500"'
    )
    assert explain(reason) == "No valid host was found. There are not enough hosts available."


def test_wait_condition_timeout() -> None:
    """A time-out of the nodes says what to look at."""
    text = explain("WaitConditionTimeout: resources.ready: 0 of 1 received")
    assert "did not report in time (0 of 1 received)" in text
    assert "console log" in text


def test_wait_until_the_time_is_up() -> None:
    """A node that says nothing until the stack's time is up is the cause, not an effect."""
    words = 'CREATE aborted (Task create from HeatWaitCondition "ready_b" Stack "x" [1] Timed out)'
    links = [{"rel": "stack", "href": f"http://heat/stacks/demo/{ROOT}"}]
    records = [
        {
            "resource_name": name,
            "resource_type": kind,
            "resource_status_reason": words,
            "links": links,
            "physical_resource_id": name,
        }
        for name, kind in (("ready_b", "OS::Heat::WaitCondition"), ("other", "OS::Nova::Server"))
    ]
    faults = root_causes(ROOT, records)
    assert list(faults) == ["ready_b"]
    assert "did not report in time" in faults["ready_b"]


def test_only_effects() -> None:
    """Where all that failed was stopped, the cause is elsewhere."""
    assert only_effects({"a": "Stack UPDATE cancelled", "b": "CREATE aborted"})
    assert not only_effects({"a": "Stack UPDATE cancelled", "b": "no valid host"})
    assert only_effects({"a": "Operation cancelled"})
    assert not only_effects({"a": "Build of instance 1 aborted: The hypervisor is on fire."})


def test_wait_condition_failure() -> None:
    """What a node reported is shown."""
    text = explain("WaitConditionFailure: resources.ready: demo-master-0: no containerd")
    assert text == "A node reported that it could not be set up: demo-master-0: no containerd"


def test_unfinished() -> None:
    """When the time is up, the innermost resources still at work are named."""
    faults = unfinished(ROOT, TREE)
    assert set(faults) == {"masters.0.server", "masters.0.floating_ip"}
    assert "not ready when the time was up" in faults["masters.0.server"]


def test_secrets_are_removed() -> None:
    """A token in a reason does not get through."""
    token = "gAAAAABm" + "x" * 100
    assert token not in explain(f"Error: resources.x: failed with {token}")


def test_summary_merges_equal_reasons() -> None:
    """One line names the first place and counts the others."""
    assert summary({"a": "x", "b": "x"}) == "a (and 1 more): x"
    assert summary({"a": "x", "b": "y"}) == "a: x; 1 other causes, see faults"


@given(st.text(max_size=2000))
def test_explain_is_bounded(reason: str) -> None:
    """Any reason gives a text of bounded length."""
    assert len(explain(reason)) <= 300


@given(st.dictionaries(st.text(max_size=100), st.text(max_size=300), max_size=40))
def test_faults_are_bounded(faults: dict[str, str]) -> None:
    """Faults fit into a row, and those that are kept are unchanged."""
    kept = bounded(faults)
    assert sum(len(k.encode()) + len(v.encode()) for k, v in kept.items()) <= MAX_TOTAL
    assert kept.items() <= faults.items()
