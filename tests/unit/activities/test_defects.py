"""How often a defect is retried."""

from jeroboam.activities import defects
from jeroboam.activities.defects import DEFECT_ATTEMPTS, Defects


def test_the_last_attempt_is_the_last_defect() -> None:
    """Only defects count, each activity for itself, and a hopeless one begins anew."""
    counted = Defects()
    verdicts = [counted.is_hopeless("run", "1") for _ in range(DEFECT_ATTEMPTS)]
    assert verdicts == [False] * (DEFECT_ATTEMPTS - 1) + [True]
    assert not counted.is_hopeless("run", "1")
    assert not counted.is_hopeless("run", "2")
    assert not counted.is_hopeless("another run", "1")


def test_the_count_is_bounded() -> None:
    """A worker that lives for ever does not remember all that was ever retried."""
    counted = Defects()
    for number in range(defects.MOST_COUNTED + 10):
        counted.is_hopeless("run", str(number))
    assert len(counted._counts) == defects.MOST_COUNTED
