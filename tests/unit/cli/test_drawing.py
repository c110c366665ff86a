"""What a terminal gets while somebody watches."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from jeroboam.cli.client.drawing import Drawing, around_work
from jeroboam.cli.client.progress import Operation, Step
from tests.unit.cli.records import look, step


def drawn(operation: Operation, *, height: int = 0, unicode: bool = True, trouble: str = "") -> str:
    """Return the picture as text."""
    console = Console(file=io.StringIO(), width=100, record=True)
    drawing = Drawing(unicode=unicode, height=height)
    console.print(drawing.of(operation, trouble=trouble))
    return console.export_text()


@pytest.mark.parametrize("unicode", [True, False])
def test_each_step_is_a_line(*, unicode: bool) -> None:
    """Every step has a line with its mark, its time and what there is to say about it."""
    picture = drawn(
        look(
            10,
            "RUNNING",
            step("Before reboot: hook dns", "WARNED", started=0, ended=1, error="no answer"),
            step("Reboot a", "SUCCEEDED", started=1, ended=3, result="a is up"),
            step("Reboot b", "RUNNING", started=3, attempts=2, message="Nova is away"),
            step("Reboot c"),
        ),
        unicode=unicode,
    )
    head, hook, first, second, third = picture.splitlines()
    assert head.split() == ["soft", "reboot", "of", "demo", "RUNNING", "10", "s"]
    assert "no answer" in hook
    assert first.startswith("✔" if unicode else "+")
    assert "2 s" in first
    assert "7 s" in second
    assert "attempt 2: Nova is away" in second
    assert third.rstrip().endswith("Reboot c")
    assert unicode or picture.isascii()


def test_a_failed_operation_says_why() -> None:
    """The reason stands below the steps, whole, however long it is."""
    reason = "No valid host was found. " * 10
    picture = drawn(look(5, "FAILED", step("Reboot a", "FAILED", started=1), reason=reason))
    assert " ".join(picture.split()).endswith(reason.strip())


def test_trouble_stands_below() -> None:
    """While the API is away the last that is known stays, with a remark."""
    picture = drawn(look(5, "RUNNING", step("Reboot a")), trouble="The API does not answer")
    assert picture.splitlines()[-1].strip() == "The API does not answer"


def test_names_are_no_markup() -> None:
    """Square brackets in a name are shown as they are."""
    assert "[bold]x[/]" in drawn(look(5, "RUNNING", step("[bold]x[/]")))


def test_a_long_list_is_cut_around_the_work() -> None:
    """More steps than lines: those at work are shown, and how many are not."""
    steps = [step(f"Reboot {n}", "SUCCEEDED", started=0, ended=1) for n in range(40)]
    steps += [
        step("Reboot 40", "RUNNING", started=1),
        *(step(f"Reboot {n}") for n in range(41, 90)),
    ]
    picture = drawn(look(5, "RUNNING", *steps), height=20)
    assert len(picture.splitlines()) < 20
    assert "Reboot 40 " in picture
    assert "more before" in picture
    assert "more to come" in picture


@given(
    done=st.integers(0, 60),
    working=st.booleans(),
    waiting=st.integers(0, 60),
    room=st.integers(3, 30),
)
def test_the_cut(done: int, *, working: bool, waiting: int, room: int) -> None:
    """It fits the room, leaves nothing unaccounted, and holds the first step that is not done."""
    states = ["SUCCEEDED"] * done + ["RUNNING"] * working + ["PENDING"] * waiting
    steps = [Step(str(place), state) for place, state in enumerate(states)]
    above, shown, below = around_work(steps, room)
    assert above + len(shown) + below == len(steps)
    assert list(shown) == steps[above : above + len(shown)]
    assert len(shown) + bool(above) + bool(below) <= room
    if working or waiting:
        assert any(one.state != "SUCCEEDED" for one in shown)
        assert shown[0].name == "0" or steps[done] in shown
