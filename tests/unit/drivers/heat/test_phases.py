"""A stack's state means one thing for each operation."""

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.base import Phase
from jeroboam.drivers.heat.phases import (
    StackState,
    engines_changed_at,
    parse_time,
    progress,
)
from jeroboam.models import Method

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
CREATE, DELETE = Method.CREATE_CLUSTER, Method.DELETE_CLUSTER
ACTIONS = ("CREATE", "UPDATE", "DELETE", "ROLLBACK", "RESUME", "CHECK")
STATES = ("IN_PROGRESS", "COMPLETE", "FAILED")


def stack(status: str, reason: str = "", acted_at: datetime | None = NOON) -> StackState:
    return StackState(id="1", name="s", status=status, reason=reason, acted_at=acted_at)


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
    assert progress(stack(status), method).phase is phase


def test_missing_stack() -> None:
    """A stack that is not there is gone, for every call."""
    assert {progress(None, one).phase for one in Method} == {Phase.GONE}


@pytest.mark.parametrize(
    "reason", ["Engine went down during stack CREATE", "Worker went down during resource CREATE"]
)
def test_heat_says_that_it_broke_off(reason: str) -> None:
    """Heat's own words for a lost engine mean an interruption, not a verdict."""
    assert progress(stack("CREATE_FAILED", reason), CREATE).phase is Phase.INTERRUPTED


def test_engine_started_during_the_action() -> None:
    """A stack in progress that is older than the youngest engine has been lost."""
    for seconds, phase in ((1, Phase.INTERRUPTED), (-1, Phase.RUNNING)):
        changed = NOON + timedelta(seconds=seconds)
        assert progress(stack("CREATE_IN_PROGRESS"), CREATE, changed).phase is phase
        assert progress(stack("DELETE_IN_PROGRESS"), DELETE, changed).phase is phase


def test_finished_stacks_are_not_interrupted() -> None:
    """A restart of Heat does not matter to stacks at rest."""
    later = NOON + timedelta(days=1)
    assert progress(stack("CREATE_COMPLETE"), CREATE, later).phase is Phase.DONE
    assert progress(stack("CREATE_FAILED", "no host"), CREATE, later).phase is Phase.FAILED


def test_resumed_stack_runs() -> None:
    """After it was submitted again, the stack counts as running: its update is the younger."""
    record = {"id": "1", "stack_status": "UPDATE_IN_PROGRESS"}
    record |= {"creation_time": "2026-01-02T11:00:00Z", "updated_time": "2026-01-02T12:00:00Z"}
    restarted = NOON - timedelta(minutes=1)
    assert progress(StackState.of(record), CREATE, restarted).phase is Phase.RUNNING


@given(
    st.sampled_from([f"{a}_{s}" for a, s in product(ACTIONS, STATES)]),
    st.sampled_from(list(Method)),
    st.text(max_size=3000),
)
def test_message_is_one_short_line(status: str, method: Method, reason: str) -> None:
    """Every state has a message of bounded length, and a failure names its reason."""
    found = progress(stack(status, reason), method)
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
