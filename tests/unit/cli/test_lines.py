"""What a pipe gets while somebody watches: a line per change, and nothing else."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.cli.client.lines import changes
from jeroboam.cli.client.progress import Operation
from tests.unit.cli.records import look, record, step

UNKNOWN = "\N{REPLACEMENT CHARACTER}"


def told(*looks: Operation) -> list[str]:
    """Return the lines that a sequence of looks makes."""
    before: Operation | None = None
    lines: list[str] = []
    for one in looks:
        lines += changes(before, one)
        before = one
    return lines


def test_an_operation_from_its_acceptance_to_its_end() -> None:
    """Each change of a step or of the operation is one line with its own time, in order."""
    lines = told(
        look(0, "PENDING"),
        look(1, "RUNNING", step("Reboot a", "RUNNING", started=1), step("Wait: Reboot a")),
        look(
            9,
            "RUNNING",
            step("Reboot a", "SUCCEEDED", started=1, ended=3),
            step("Wait: Reboot a", "RUNNING", started=3),
        ),
        look(
            75,
            "SUCCEEDED",
            step("Reboot a", "SUCCEEDED", started=1, ended=3),
            step("Wait: Reboot a", "SUCCEEDED", started=3, ended=74, result="a is up"),
            ended_at=look(75).at.isoformat(),
        ),
    )
    assert lines == [
        "soft reboot of demo: operation 5d9f0f2c-0000-4000-8000-000000000001",
        "[     1 s] soft reboot of demo: RUNNING",
        "[     1 s] RUNNING    Reboot a",
        "[     3 s] SUCCEEDED  Reboot a (2 s)",
        "[     3 s] RUNNING    Wait: Reboot a",
        "[    74 s] SUCCEEDED  Wait: Reboot a (1 min 11 s): a is up",
        "[    75 s] soft reboot of demo: SUCCEEDED after 1 min 15 s",
    ]


def test_news_of_a_step_at_work() -> None:
    """A new attempt or a new remark of a running step is a line; the same again is none."""
    running = {"started": 1.0, "attempts": 1}
    lines = told(
        look(1, "RUNNING", step("Wait", "RUNNING", **running)),
        look(5, "RUNNING", step("Wait", "RUNNING", started=1, attempts=2, message="Nova is away")),
        look(6, "RUNNING", step("Wait", "RUNNING", started=1, attempts=2, message="Nova is away")),
    )
    assert lines[3:] == ["[     5 s] RUNNING    Wait: attempt 2: Nova is away"]


def test_old_news() -> None:
    """What a step told on its way is not told again with its end."""
    lines = told(
        look(2, "RUNNING", step("Wait", "RUNNING", started=1, message="rebooting")),
        look(5, "RUNNING", step("Wait", "SUCCEEDED", started=1, ended=4, message="rebooting")),
    )
    assert lines[2:] == [
        "[     1 s] RUNNING    Wait: rebooting",
        "[     4 s] SUCCEEDED  Wait (3 s)",
    ]


def test_a_failure_and_its_roll_back() -> None:
    """The reason is told when the roll-back begins, and again with the end."""
    failed = step("Resize", "FAILED", started=1, ended=4, error="quota of cores exceeded")
    lines = told(
        look(1, "RUNNING", step("Resize", "RUNNING", started=1)),
        look(
            4,
            "COMPENSATING",
            failed,
            step("Return", "RUNNING", started=4, undoes=True),
            reason="quota of cores exceeded",
        ),
        look(
            9,
            "FAILED",
            failed,
            step("Return", "SUCCEEDED", started=4, ended=8, undoes=True),
            reason="quota of cores exceeded",
        ),
    )
    assert lines[3:] == [
        "[     4 s] soft reboot of demo: COMPENSATING: quota of cores exceeded",
        "[     4 s] FAILED     Resize (3 s): quota of cores exceeded",
        "[     4 s] RUNNING    Return",
        "[     8 s] SUCCEEDED  Return (4 s)",
        "[     9 s] soft reboot of demo: FAILED after 9 s: quota of cores exceeded",
    ]


def test_who_comes_late_is_told_everything() -> None:
    """The first look tells all that has happened, and does not repeat what is still to come."""
    lines = told(look(60, "RUNNING", step("a", "SUCCEEDED", started=1, ended=2), step("b")))
    assert [line.split()[-3] for line in lines[2:]] == ["a"]
    assert lines[2].startswith("[     2 s]")


def test_what_others_wrote_stays_on_its_line() -> None:
    """A message with line ends and escape sequences is one line that a terminal does not obey."""
    nasty = step("Hook", "FAILED", started=1, ended=2, error="no\n\n\x1b[2Jreally\x07")
    *_, line = told(look(2, "RUNNING", nasty))
    assert line.endswith(
        "FAILED     Hook (1 s): no \N{REPLACEMENT CHARACTER}[2Jreally\N{REPLACEMENT CHARACTER}"
    )


STATES = st.sampled_from(["PENDING", "RUNNING", "SUCCEEDED", "FAILED", "WARNED", "CANCELLED"])


@given(st.lists(st.lists(STATES, min_size=3, max_size=3), min_size=1, max_size=8))
def test_each_change_is_told_once(history: list[list[str]]) -> None:
    """Whatever the sequence, the number of step lines is the number of changes."""
    looks = [
        look(place, "RUNNING", *(step(f"step-{n}", state) for n, state in enumerate(states)))
        for place, states in enumerate(history)
    ]
    columns = list(zip(*([["PENDING"] * 3, *history]), strict=True))
    expected = sum(
        before != after for column in columns for before, after in itertools.pairwise(column)
    )
    assert sum("step-" in line for line in told(*looks)) == expected


def test_a_clock_that_is_wrong() -> None:
    """Times before the operation's acceptance count as its beginning."""
    lines = list(changes(None, Operation.of(record("RUNNING"), look(-30).at)))
    assert lines[1] == "[     0 s] soft reboot of demo: RUNNING"
