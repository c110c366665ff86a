"""Regular looks at clusters."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models.monitoring import LONGEST_PAUSE, NodeUsage, Usage, pause

MINUTES = timedelta(minutes=5)
CHANCE = st.floats(0, 1)


@given(st.integers(0, 1000), CHANCE)
def test_a_pause_has_limits(failures: int, chance: float) -> None:
    """Never much shorter than the interval, never much longer than an hour."""
    found = pause(MINUTES, failures, chance)
    assert MINUTES * 0.9 <= found <= LONGEST_PAUSE * 1.11


@given(st.integers(0, 3))
def test_it_doubles_with_each_failure(failures: int) -> None:
    """Until it is an hour."""
    assert pause(MINUTES, failures, 0.5) == MINUTES * 2**failures


@given(CHANCE, CHANCE)
def test_clusters_do_not_keep_step(one: float, other: float) -> None:
    """Chance decides within a tenth."""
    difference = abs(pause(MINUTES, 0, one) - pause(MINUTES, 0, other))
    assert difference <= MINUTES * 0.2 + timedelta(microseconds=2)


def test_an_interval_longer_than_an_hour_stays() -> None:
    """The operator's word counts."""
    day = timedelta(days=1)
    assert pause(day, 5, 0.5) == day


def test_totals_are_sums() -> None:
    """Over all nodes."""
    one = NodeUsage(
        cpu_millicores=1, cpu_capacity_millicores=2, memory_mib=3, memory_capacity_mib=4
    )
    assert Usage(source="x", nodes={"a": one, "b": one}).total.model_dump() == {
        "cpu_millicores": 2,
        "cpu_capacity_millicores": 4,
        "memory_mib": 6,
        "memory_capacity_mib": 8,
    }
