"""A stack's state means one thing for each operation."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.base import Phase, Progress, Watch
from jeroboam.drivers.heat.phases import (
    StackState,
    engines_changed_at,
    parse_time,
    progress,
)
from jeroboam.drivers.heat.tags import group_tag
from jeroboam.models import Method

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
CREATE, DELETE = Method.CREATE_CLUSTER, Method.DELETE_CLUSTER
ACTIONS = ("CREATE", "UPDATE", "DELETE", "ROLLBACK", "RESUME", "CHECK")
STATES = ("IN_PROGRESS", "COMPLETE", "FAILED")


def stack(
    status: str,
    reason: str = "",
    acted_at: datetime | None = NOON,
    tags: tuple[str, ...] = ("jeroboam", "c", "key"),
) -> StackState:
    return StackState(id="1", name="s", status=status, reason=reason, acted_at=acted_at, tags=tags)


def watch(method: Method, node_group: str | None = None) -> Watch:
    return Watch(
        cluster_id="c",
        project_id="p",
        trust_id="t",
        backend_id="1",
        method=method,
        key="key",
        node_group=node_group,
    )


def told(found: StackState | None, method: Method, changed_at: datetime | None = None) -> Progress:
    return progress([found] if found else [], watch(method), changed_at)


@pytest.mark.parametrize(
    ("status", "method", "phase"),
    [
        ("CREATE_IN_PROGRESS", CREATE, Phase.RUNNING),
        ("UPDATE_IN_PROGRESS", CREATE, Phase.RUNNING),
        ("CREATE_COMPLETE", CREATE, Phase.DONE),
        ("UPDATE_COMPLETE", CREATE, Phase.DONE),
        ("CREATE_FAILED", CREATE, Phase.FAILED),
        ("UPDATE_FAILED", CREATE, Phase.FAILED),
        ("DELETE_COMPLETE", CREATE, Phase.GONE),
        ("DELETE_IN_PROGRESS", DELETE, Phase.RUNNING),
        ("DELETE_FAILED", DELETE, Phase.FAILED),
        ("DELETE_COMPLETE", DELETE, Phase.GONE),
        ("CREATE_COMPLETE", DELETE, Phase.INTERRUPTED),
        ("CREATE_IN_PROGRESS", DELETE, Phase.INTERRUPTED),
    ],
)
def test_phase(status: str, method: Method, phase: Phase) -> None:
    """Each status has its phase; a delete that Heat knows nothing of has to be repeated."""
    assert told(stack(status), method).phase is phase


def test_missing_stack() -> None:
    """A stack that is not there is gone, for every call."""
    assert {told(None, one).phase for one in Method} == {Phase.GONE}


@pytest.mark.parametrize(
    "reason",
    [
        "Engine went down during stack CREATE",
        "Worker went down during resource CREATE",
        "Resource UPDATE failed: resources.security: Stack UPDATE cancelled",
    ],
)
def test_heat_says_that_it_broke_off(reason: str) -> None:
    """Heat's own words for a lost engine, or an overtaken change, are no verdict."""
    assert told(stack("CREATE_FAILED", reason), CREATE).phase is Phase.INTERRUPTED


def test_a_cancellation_is_obeyed() -> None:
    """A stack that somebody cancelled by hand is not asked for again."""
    cancelled = stack("CREATE_FAILED", "Stack CREATE cancelled")
    assert told(cancelled, CREATE).phase is Phase.FAILED


def test_engine_started_during_the_action() -> None:
    """A stack in progress that is older than the youngest engine has been lost."""
    for seconds, phase in ((1, Phase.INTERRUPTED), (-1, Phase.RUNNING)):
        changed = NOON + timedelta(seconds=seconds)
        assert told(stack("CREATE_IN_PROGRESS"), CREATE, changed).phase is phase
        assert told(stack("DELETE_IN_PROGRESS"), DELETE, changed).phase is phase


def test_finished_stacks_are_not_interrupted() -> None:
    """A restart of Heat does not matter to stacks at rest."""
    later = NOON + timedelta(days=1)
    assert told(stack("CREATE_COMPLETE"), CREATE, later).phase is Phase.DONE
    assert told(stack("CREATE_FAILED", "no host"), CREATE, later).phase is Phase.FAILED


def test_resumed_stack_runs() -> None:
    """After it was submitted again, the stack counts as running: its update is the younger."""
    record: dict[str, Any] = {"id": "1", "stack_status": "UPDATE_IN_PROGRESS", "tags": ["key"]}
    record |= {
        "tags": ["key"],
        "creation_time": "2026-01-02T11:00:00Z",
        "updated_time": "2026-01-02T12:00:00Z",
    }
    restarted = NOON - timedelta(minutes=1)
    assert told(StackState.of(record), CREATE, restarted).phase is Phase.RUNNING


@given(
    st.sampled_from([f"{a}_{s}" for a, s in product(ACTIONS, STATES)]),
    st.sampled_from(list(Method)),
    st.text(max_size=3000),
)
def test_message_is_one_short_line(status: str, method: Method, reason: str) -> None:
    """Every state has a message of bounded length, and a failure names its reason."""
    found = told(stack(status, reason), method)
    assert 0 < len(found.message) <= 500
    if found.phase is Phase.FAILED and 0 < len(reason) < 400:
        assert reason in found.message


def engine(status: str, created: str, updated: str = "2026-01-02T12:00:00.5") -> dict[str, Any]:
    return {
        "status": status,
        "created_at": created,
        "updated_at": updated,
        "report_interval": 60,
    }


def test_engines() -> None:
    """The last start counts, and of a lost engine the latest moment at which it can have lived."""
    assert engines_changed_at([]) is None
    up = engine("up", "2026-01-02T10:00:00.0")
    assert engines_changed_at([up]) == NOON - timedelta(hours=2)
    lost = engine("down", "2026-01-02T09:00:00")
    assert engines_changed_at([up, lost]) == NOON + timedelta(seconds=60.5)


@pytest.mark.parametrize("value", [None, "", "soon", 5])
def test_no_time(value: object) -> None:
    """What is no time is taken for unknown."""
    assert parse_time(value) is None


CHANGES = [one for one in Method if not one.removes and one is not Method.CREATE_NODE_GROUP]


@pytest.mark.parametrize("method", CHANGES)
@pytest.mark.parametrize("status", ["CREATE_COMPLETE", "UPDATE_IN_PROGRESS", "UPDATE_FAILED"])
def test_call_that_never_arrived(method: Method, status: str) -> None:
    """A stack without the key of the call says nothing about it: it has to be submitted."""
    other = stack(status, tags=("jeroboam", "c", "another key"))
    assert told(other, method).phase is Phase.INTERRUPTED


def of_group(status: str, *, key: str = "key", group: str = "g") -> StackState:
    return stack(status, tags=("jeroboam", "c", group_tag(group), key))


def test_group_and_cluster_are_told_apart() -> None:
    """A call about a group with a stack of its own is answered by that stack alone."""
    stacks = [stack("UPDATE_FAILED"), of_group("UPDATE_COMPLETE"), of_group("X", group="h")]
    for method in (Method.UPDATE_CLUSTER, Method.UPGRADE_NODE_GROUP, Method.CREATE_NODE_GROUP):
        assert progress(stacks, watch(method, "g")).phase is Phase.DONE
    assert progress(stacks, watch(Method.UPDATE_CLUSTER, "default")).phase is Phase.FAILED
    assert progress(stacks, watch(Method.CREATE_CLUSTER)).phase is Phase.FAILED


def test_group_that_is_not_there() -> None:
    """A group without a stack is gone, however well its cluster is."""
    for method in (Method.CREATE_NODE_GROUP, Method.DELETE_NODE_GROUP):
        assert progress([stack("CREATE_COMPLETE")], watch(method, "g")).phase is Phase.GONE


@pytest.mark.parametrize(
    ("groups", "cluster", "phase"),
    [
        (["DELETE_IN_PROGRESS"], "CREATE_COMPLETE", Phase.RUNNING),
        (["DELETE_FAILED", "DELETE_IN_PROGRESS"], "CREATE_COMPLETE", Phase.RUNNING),
        (["DELETE_FAILED"], "CREATE_COMPLETE", Phase.FAILED),
        (["CREATE_COMPLETE"], "CREATE_COMPLETE", Phase.INTERRUPTED),
        ([], "UPDATE_COMPLETE", Phase.INTERRUPTED),
        ([], "DELETE_IN_PROGRESS", Phase.RUNNING),
        (["DELETE_COMPLETE"], "DELETE_COMPLETE", Phase.GONE),
    ],
)
def test_cluster_is_gone_with_its_last_stack(groups: list[str], cluster: str, phase: Phase) -> None:
    """The stacks of groups go first; when they are gone, the cluster's is asked to go."""
    stacks = [stack(cluster), *(of_group(status) for status in groups)]
    assert progress(stacks, watch(Method.DELETE_CLUSTER)).phase is phase


@given(
    st.lists(st.sampled_from([f"{a}_{s}" for a, s in product(ACTIONS, STATES)]), max_size=4),
    st.sampled_from(list(Method)),
)
def test_nothing_ends_while_something_runs(statuses: list[str], method: Method) -> None:
    """Of all stacks that a call is about, none may be at work when it counts as over."""
    stacks = [of_group(status) for status in statuses]
    found = progress(stacks, watch(method, "g"))
    running = [one for one in stacks if one.running]
    if found.phase in {Phase.DONE, Phase.FAILED}:
        assert not running
    assert (found.phase is Phase.GONE) == all(one.deleted for one in stacks)
