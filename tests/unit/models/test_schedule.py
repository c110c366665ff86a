"""Schedules as values: their words, their ids, what they choose."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import OperationKind
from jeroboam.models.schedule import (
    RunState,
    Schedule,
    Selector,
    operation_uuid,
    run_uuid,
)
from jeroboam.models.scheduled_wire import Order, Totals

words = st.sampled_from(["a", "b", "c"])
label_maps = st.dictionaries(words, words, max_size=3)


def a_schedule(**fields: object) -> Schedule:
    values = {
        "name": "nightly",
        "project_id": "p1",
        "user_id": "u1",
        "kind": OperationKind.SOFT_REBOOT,
        "cron": "0 3 * * *",
    }
    return Schedule.model_validate(values | fields)


@given(label_maps, label_maps)
def test_selector(wanted: Mapping[str, str], has: Mapping[str, str]) -> None:
    """A selector fits labels among which are all that it names, with the same values."""
    expected = all(has.get(name) == value for name, value in wanted.items())
    assert Selector(labels=wanted).fits(has) is expected
    assert Selector(labels=has).fits(has)
    assert Selector().fits(has)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (Selector(), "all clusters"),
        (Selector(driver="heat"), "clusters of driver heat"),
        (
            Selector(project_id="p", labels={"b": "2", "a": "1"}),
            "clusters of project p, label a=1, label b=2",
        ),
    ],
)
def test_selector_in_words(selector: Selector, expected: str) -> None:
    """People can read what a selector chooses."""
    assert selector.words == expected


def test_words() -> None:
    """People can read what a schedule does, and when."""
    schedule = a_schedule(cluster_id="c1")
    assert schedule.words == "soft reboot: cluster c1"
    assert schedule.times == "cron '0 3 * * *' UTC"
    assert schedule.temporal_id == "schedule/p1/nightly"
    by_calendar = a_schedule(cron=None, calendar={"hour": "3", "month": "jan"})
    assert by_calendar.times == "calendar hour 3, month jan UTC"
    assert by_calendar.calendars[0].month == (1,)


def test_order() -> None:
    """A run's order is what the schedule says, and whether it was paused then."""
    order = Order.of(a_schedule(selector=Selector(driver="d"), max_parallel=3, paused=True))
    assert (order.kind, order.max_parallel, order.was_paused) == (
        OperationKind.SOFT_REBOOT,
        3,
        True,
    )
    assert order.selector == Selector(driver="d")


@given(st.lists(st.sampled_from([RunState.SUCCEEDED, RunState.FAILED, RunState.SKIPPED])))
def test_totals(states: list[RunState]) -> None:
    """Totals count each outcome once."""
    totals = Totals()
    for state in states:
        totals = totals.plus(state)
    for state in (RunState.SUCCEEDED, RunState.FAILED, RunState.SKIPPED):
        assert getattr(totals, state.lower()) == states.count(state)


@given(st.lists(st.tuples(words, words, words), min_size=2, max_size=20, unique=True))
def test_uuids(keys: list[tuple[str, str, str]]) -> None:
    """Schedule, run and cluster make a uuid, always the same and never that of others."""
    operations = [operation_uuid(*key) for key in keys]
    assert operations == [operation_uuid(*key) for key in keys]
    everything = [*operations, *(run_uuid(*key) for key in keys)]
    assert len(set(everything)) == len(everything)


def test_ended() -> None:
    """An outcome is final unless it waits or has started."""
    assert [state for state in RunState if not state.ended] == [RunState.WAITING, RunState.STARTED]
