"""Names of steps."""

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.models import Action, BackendCall, Method, PlanStep
from jeroboam.models.step_names import LONGEST_NOUN, shortened, told_apart


def pair(name: str, undo: tuple[PlanStep, ...] = ()) -> tuple[PlanStep, ...]:
    call = BackendCall(method=Method.REBOOT_NODES, submitted_by=name)
    return (
        PlanStep(name=name, action=Action.SUBMIT, call=call, undo=undo),
        PlanStep(name=f"Wait: {name}", action=Action.WAIT, call=call),
    )


def submitters(steps: tuple[PlanStep, ...]) -> list[str]:
    return [step.call.submitted_by for step in steps if step.call]


@given(st.text())
def test_a_noun_is_short_and_on_one_line(noun: str) -> None:
    """However long a name is, its step's name fits, and its beginning can be read."""
    short = shortened(noun)
    assert len(short) <= LONGEST_NOUN
    assert short.splitlines() in ([], [short])


@given(st.text("abc", max_size=LONGEST_NOUN))
def test_a_short_noun_stays(noun: str) -> None:
    """A name that fits is left as it is."""
    assert shortened(noun) == noun


@given(st.lists(st.sampled_from(["a", "a (2)", "b"]), max_size=6))
def test_names_become_unique_and_first_ones_stay(names: list[str]) -> None:
    """Each name is there once afterwards; the first of each keeps it; the order stays."""
    steps = tuple(PlanStep(name=name, action=Action.RUN_HOOK) for name in names)
    (apart,) = told_apart(steps)
    found = [step.name for step in apart]
    assert len(set(found)) == len(found)
    assert all(new.startswith(old) for old, new in zip(names, found, strict=True))
    assert told_apart(apart) == (apart,)


def test_a_wait_follows_its_submission() -> None:
    """Each wait names its own submission, whatever that is called now."""
    (apart,) = told_apart((*pair("x"), *pair("x")))
    assert submitters(apart) == ["x", "x", "x (2)", "x (2)"]
    assert [step.name for step in apart] == ["x", "Wait: x", "x (2)", "Wait: x (2)"]


def test_roll_backs_are_told_apart_too() -> None:
    """Steps of roll-backs and of other groups share the names with all others."""
    first, second = pair("x", undo=pair("back")), pair("y", undo=pair("back"))
    apart, others = told_apart((*first, *second), pair("y"))
    assert submitters(apart[0].undo) == ["back", "back"]
    assert submitters(apart[2].undo) == ["back (2)", "back (2)"]
    assert submitters(others) == ["y (2)", "y (2)"]
