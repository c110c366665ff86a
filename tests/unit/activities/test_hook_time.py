"""What counts against a hook's time-out, and what does not."""

import threading
import time
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.common import RetryPolicy
from temporalio.testing import ActivityEnvironment

from jeroboam.activities import hook_time
from jeroboam.activities.hook_time import MOST_LOST, HookTime, Spent
from jeroboam.errors import (
    CloudUnavailableError,
    DriverContractError,
    HookRejectedError,
    RateLimitedError,
    StoreUnavailableError,
)

POLICY = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(seconds=30))


class Attempt:
    """One attempt of a hook's activity, with what the earlier ones told."""

    def __init__(self, number: int = 1, *, told: Spent | None = None) -> None:
        self.heartbeats: list[Spent] = []
        self._environment = ActivityEnvironment()
        self._environment.on_heartbeat = self.heartbeats.append
        self._environment.info = replace(
            self._environment.info,
            attempt=number,
            heartbeat_details=[told.model_dump()] if told else [],
            retry_policy=POLICY,
        )

    async def make(self, error: Exception | None = None, *, seconds: float = 10) -> None:
        """Try a hook that ends at once, with or without an error."""

        def hook() -> None:
            if error:
                raise error

        async def run() -> None:
            clock = HookTime("Hook 'x'", seconds)
            with clock.told():
                await clock.call(hook)

        await self._environment.run(run)

    async def outside(self, error: Exception) -> None:
        """Fail before the hook is called."""

        async def run() -> None:
            with HookTime("Hook 'x'", 10).told():
                raise error

        await self._environment.run(run)

    async def hang(self, until: threading.Event, seconds: float) -> None:
        """Try a hook that does not end."""

        async def run() -> None:
            clock = HookTime("Hook 'x'", seconds)
            with clock.told():
                await clock.call(until.wait, 20)

        await self._environment.run(run)


@pytest.mark.parametrize(
    ("number", "error", "pause"),
    [
        (1, CloudUnavailableError("away"), 1),
        (4, CloudUnavailableError("away"), 8),
        (400, CloudUnavailableError("away"), 30),
        (1, RateLimitedError("slowly", 7), 7),
        (1, ValueError("defect"), 1),
    ],
)
async def test_the_pause_after_a_failure_counts(
    number: int, error: Exception, pause: float
) -> None:
    """The next attempt learns of it, and goes on counting from there."""
    attempt = Attempt(number, told=Spent(seconds=5))
    with pytest.raises(type(error)):
        await attempt.make(error, seconds=100)
    assert attempt.heartbeats[-1].lost == 0
    assert attempt.heartbeats[-1].seconds == pytest.approx(5 + pause, abs=0.5)


@pytest.mark.parametrize("error", [CloudUnavailableError("away"), ValueError("secret")])
async def test_no_attempt_follows_when_the_time_is_up(error: Exception) -> None:
    """The last failure is told at once; of a defect only the kind."""
    attempt = Attempt(4, told=Spent(seconds=7))
    with pytest.raises(DriverContractError) as caught:
        await attempt.make(error)
    assert "Hook 'x' did not succeed within 10 s. Last error: " in caught.value.message
    assert ("away" in caught.value.message) is isinstance(error, CloudUnavailableError)
    assert "secret" not in caught.value.message


async def test_no_hook_is_called_without_time() -> None:
    """As after an attempt that a stopping worker broke off when the time was up."""
    called = RuntimeError("It was called.")
    with pytest.raises(DriverContractError, match="did not end within 10 s"):
        await Attempt(2, told=Spent(seconds=10)).make(called)


async def test_a_refusal_is_told_as_it_is() -> None:
    """However late it comes."""
    attempt = Attempt(4, told=Spent(seconds=9.5))
    with pytest.raises(HookRejectedError):
        await attempt.make(HookRejectedError("no"))


async def test_what_fails_outside_of_the_hook_does_not_count() -> None:
    """A database that does not answer is no fault of the hook."""
    attempt = Attempt(2, told=Spent(seconds=3, lost=1))
    with pytest.raises(StoreUnavailableError):
        await attempt.outside(StoreUnavailableError("away"))
    assert attempt.heartbeats == [Spent(seconds=3, lost=1)]


async def test_a_hook_that_hangs_is_given_up() -> None:
    """Its thread goes on, and the attempt ends in time all the same."""
    attempt, released = Attempt(), threading.Event()
    began = time.monotonic()
    with pytest.raises(DriverContractError, match=r"Hook 'x' did not end within 0\.5 s\."):
        await attempt.hang(released, 0.5)
    assert time.monotonic() - began < 5
    released.set()


async def test_one_attempt_takes_only_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another attempt may end where this one hangs, if the time-out allows it."""
    monkeypatch.setattr(hook_time, "ATTEMPT_SECONDS", 0.3)
    attempt, released = Attempt(), threading.Event()
    with pytest.raises(CloudUnavailableError, match=r"did not end within 0\.3 s"):
        await attempt.hang(released, 10)
    assert attempt.heartbeats[-1].seconds == pytest.approx(1.3, abs=0.3)
    released.set()


@pytest.mark.parametrize("lost", [0, MOST_LOST - 1, MOST_LOST])
async def test_a_hook_that_ends_its_worker_is_given_up(lost: int) -> None:
    """Attempts of which nobody tells any more are bounded, and those before the last go on."""
    attempt = Attempt(3 + lost, told=Spent(seconds=3, lost=lost))
    if lost < MOST_LOST:
        await attempt.make()
        # For the next one, should this one be lost as well.
        assert attempt.heartbeats == [Spent(seconds=3, lost=lost + 1)]
        return
    with pytest.raises(DriverContractError, match=f"its worker was lost in {lost} attempts"):
        await attempt.make()


async def test_attempts_that_never_came_to_the_hook_do_not_count() -> None:
    """Workers that come and go, or a server that is away, are no fault of the hook."""
    attempt = Attempt(40, told=Spent(seconds=3, lost=1))
    await attempt.make()
    assert attempt.heartbeats[-1].lost == 2


async def test_a_first_attempt_that_tells_nothing_was_lost() -> None:
    """A quick hook shall cost no heartbeat, so the second attempt draws the conclusion."""
    first, second = Attempt(1), Attempt(2)
    await first.make()
    assert first.heartbeats == []
    await second.make()
    assert second.heartbeats == [Spent(lost=2)]
