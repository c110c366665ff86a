"""The list of steps: what is done, what is at work, and how long each has taken."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum


class State(Enum):
    """How a step stands."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    WARNED = "warned"
    FAILED = "failed"


@dataclass
class Step:
    """One line of the list.

    Attributes:
        title: What is done.
        level: 1 for what is part of the step above.
        detail: How far it is, or what came of it.
        seconds: How long it took, if somebody else measured that.
    """

    title: str
    level: int = 0
    state: State = State.WAITING
    detail: str = ""
    started: float | None = None
    ended: float | None = None
    seconds: float | None = None

    @property
    def elapsed(self) -> float | None:
        """Seconds so far, or in all; None before it has begun."""
        if self.seconds is not None:
            return self.seconds
        if self.started is None:
            return None
        return (self.ended or time.time()) - self.started


Listener = Callable[[Step], None]


@dataclass
class Board:
    """All steps, in order.

    Attributes:
        started: When it all began, by the clock on the wall.
    """

    started: float = field(default_factory=time.time)
    steps: list[Step] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.time() - self.started

    def add(self, title: str, *, level: int = 0) -> Step:
        """Put a step at the end of the list."""
        step = Step(title, level)
        self.steps.append(step)
        return step

    def update(self, step: Step, state: State | None = None, detail: str | None = None) -> None:
        """Change a step and tell everyone, unless nothing changes."""
        before = (step.state, step.detail)
        if state is not None and state is not step.state:
            self._turn(step, state)
        if detail is not None:
            step.detail = detail
        if before != (step.state, step.detail):
            for listener in self.listeners:
                listener(step)

    @contextmanager
    def working(self, step: Step) -> Iterator[Step]:
        """Time a step; what it raises makes it failed."""
        self.update(step, State.WORKING)
        try:
            yield step
        except asyncio.CancelledError:
            # Something else failed, and its line says so.
            self.update(step, State.WARNED, "stopped")
            raise
        except BaseException:
            self.update(step, State.FAILED)
            raise
        if step.state is State.WORKING:
            self.update(step, State.DONE)

    @staticmethod
    def _turn(step: Step, state: State) -> None:
        step.state = state
        now = time.time()
        if step.started is None:
            step.started = now
        if state not in {State.WAITING, State.WORKING}:
            step.ended = now
