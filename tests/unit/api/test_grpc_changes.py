"""Streams of operations lose nothing, whatever is looked at, and wherever they break."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from jeroboam.api.grpc.changes import OperationChanges
from jeroboam.api.grpc.door import Answer, Request
from jeroboam.api.grpc.v1.operations_pb2 import Operation, OperationEvent, Step
from jeroboam.api.grpc.watching import Watching

NAMES = ("a", "b", "c")
STATES = ("PENDING", "RUNNING", "SUCCEEDED", "FAILED")

# Each transition changes some steps at once.
TRANSITIONS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(STATES), max_size=3),
    min_size=1,
    max_size=8,
)


def records(transitions: Sequence[dict[str, str]]) -> list[Operation]:
    """Return the record after each transition."""
    steps = {name: Step(name=name, state="PENDING") for name in NAMES}
    found = [Operation(uuid="o", state="PENDING", steps=list(steps.values()))]
    for seq, changed in enumerate(transitions, start=1):
        for name, state in changed.items():
            steps[name] = Step(name=name, state=state, seq=seq)
        found.append(Operation(uuid="o", state="RUNNING", seq=seq, steps=list(steps.values())))
    return found


def seen(events: Sequence[OperationEvent]) -> dict[str, Step]:
    """Return what a client knows of the steps that has seen some events."""
    known = {name: Step(name=name, state="PENDING") for name in NAMES}
    return known | {one.step.name: one.step for one in events if one.HasField("step")}


@given(transitions=TRANSITIONS, looks=st.sets(st.integers(0, 8)), broken=st.integers(0, 30))
def test_nothing_is_lost(transitions: list[dict[str, str]], looks: set[int], broken: int) -> None:
    """A client that saw any part of a stream and goes on after it knows the last state of all."""
    history = records(transitions)
    changes, events = OperationChanges(), list[OperationEvent]()
    for number, record in enumerate(history):
        if number in looks:
            events += changes.events(record)
    numbers = [one.seq for one in events]
    assert numbers == sorted(numbers)
    kept = events[:broken]
    rest = list(OperationChanges(kept[-1].seq if kept else 0).events(history[-1]))
    final = {step.name: step for step in history[-1].steps}
    assert seen([*kept, *rest]) == final
    told = [one.step.seq for one in rest if one.HasField("step")]
    assert told == sorted(told)


def test_a_remark_of_a_step_is_told() -> None:
    """What a running step tells of itself is news, though nothing was written by a transition."""
    running = Step(name="a", state="RUNNING", seq=1)
    changes = OperationChanges()
    list(changes.events(Operation(state="RUNNING", seq=1, steps=[running])))
    running.message = "2 of 3 nodes"
    (event,) = changes.events(Operation(state="RUNNING", seq=1, steps=[running]))
    assert (event.step.message, event.seq) == ("2 of 3 nodes", 1)
    assert list(changes.events(Operation(state="RUNNING", seq=1, steps=[running]))) == []


class SilentCalls:
    """An application in which nothing happens for some looks."""

    def __init__(self, looks: int) -> None:
        self.looks = looks

    async def ask(self, context: Any, request: Request) -> Answer:
        del context, request
        self.looks -= 1
        state = "RUNNING" if self.looks > 0 else "SUCCEEDED"
        return Answer(200, {}, {"uuid": "o", "state": state, "seq": 4}, "user")


async def test_silence_is_broken() -> None:
    """When nothing happens for long, an event says that the stream is alive."""
    calls: Any = SilentCalls(4)
    watching = Watching(calls, look_seconds=0.001, keep_alive_seconds=0.0)
    context: Any = None
    events = [one async for one in watching.operation(context, "/v1/operations/o", 0)]
    assert [one.state for one in events] == [*["RUNNING"] * 4, "SUCCEEDED"]
    assert [one.ended for one in events] == [*[False] * 4, True]
    assert {one.seq for one in events} == {4}
