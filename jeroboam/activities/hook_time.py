"""The time-out of a hook: it counts what attempts use up, and nothing else.

What counts is the time of the attempts that ended on a living worker, and the pause after one that
failed. An outage of the workers, of Temporal or of the database is no fault of the hook and does
not count; an attempt that was lost with its worker while it ran the hook does not either, but only
so many are made. One that was lost before that says nothing about the hook.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import structlog
from temporalio import activity

from jeroboam.activities import threads
from jeroboam.errors import (
    CloudUnavailableError,
    DriverContractError,
    JeroboamError,
    RateLimitedError,
)
from jeroboam.models import Model

T = TypeVar("T")

ATTEMPT_SECONDS = 180.0
"""The longest that one attempt may take; while time is left another one follows it."""

MOST_LOST = 5
"""In how many attempts the worker may be lost: a hook that ends its worker must end itself."""

SENDING_SECONDS = 0.1
"""What a heartbeat gets to reach the server before the hook may end its worker."""

log = structlog.get_logger(__name__)


class Spent(Model):
    """What earlier attempts tell the next one; Temporal keeps it with the heartbeats.

    Args:
        seconds: How much of the time-out they used up.
        lost: How many of them ran the hook and did not end on a living worker.
    """

    seconds: float = 0.0
    lost: int = 0


class HookTime:
    """The time of the hook that the running activity tries.

    Args:
        who: The hook, as users know it.
        seconds: Its time-out, for all attempts together.
    """

    def __init__(self, who: str, seconds: float) -> None:
        info = activity.info()
        # Only a lost attempt tells nothing at all, and the first one sends no heartbeat before it.
        unknown = Spent(lost=1 if info.attempt > 1 else 0)
        details = info.heartbeat_details
        self._spent = Spent.model_validate(details[0]) if details else unknown
        self._lost = self._spent.lost
        self._who = who
        self._seconds = seconds
        self._began: float | None = None

    @contextmanager
    def told(self) -> Iterator[None]:
        """Tell the next attempt about this one if it fails, whatever it fails by."""
        try:
            yield
        except BaseException:
            self._count(0.0)
            self._spent = self._spent.model_copy(update={"lost": self._lost})
            activity.heartbeat(self._spent)
            raise

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return what the hook returns.

        Raises:
            DriverContractError: Its time is up.
            JeroboamError: What it raises, or that the attempt takes too long.
        """
        left = self._seconds - self._spent.seconds
        if left <= 0:
            raise self._over("end", "Its last attempt was broken off.")
        await self._announce()
        within = min(ATTEMPT_SECONDS, left)
        self._began = time.monotonic()
        try:
            return await threads.call(function, *arguments, details=self._spent, within=within)
        except threads.StillRunning:
            error = CloudUnavailableError(f"{self._who} did not end within {within:g} s.")
            if self._is_worth_a_pause(error):
                raise error from None
            raise self._over("end", "It may still be running on the worker.") from None
        except JeroboamError as error:
            if error.retryable and not self._is_worth_a_pause(error):
                raise self._over("succeed", f"Last error: {error.message}") from error
            raise
        except Exception as error:
            if self._is_worth_a_pause(error):
                raise
            # Its text may hold anything, so it goes to the log only, as that of any defect.
            log.exception("activity_defect")
            last = f"Last error: {type(error).__name__}. The worker's log has more."
            raise self._over("succeed", last) from None

    def _is_worth_a_pause(self, error: Exception) -> bool:
        """Count the pause that follows an error; return whether time is left after it."""
        self._count(_pause_after(error))
        return self._spent.seconds < self._seconds

    def _count(self, pause: float) -> None:
        """Count the time since the hook was called, once, and a pause."""
        began, self._began = self._began, None
        running = 0.0 if began is None else time.monotonic() - began
        seconds = self._spent.seconds + running + pause
        self._spent = self._spent.model_copy(update={"seconds": seconds})

    async def _announce(self) -> None:
        """Count the attempt as lost until it tells how it ended; see that not too many were.

        The first one needs no heartbeat: it is missed if it tells nothing.
        """
        if self._lost >= MOST_LOST:
            raise DriverContractError(
                f"{self._who} was given up: its worker was lost in {self._lost} attempts."
            )
        self._spent = self._spent.model_copy(update={"lost": self._lost + 1})
        if activity.info().attempt > 1:
            activity.heartbeat(self._spent)
            await asyncio.sleep(SENDING_SECONDS)

    def _over(self, what: str, more: str) -> DriverContractError:
        return DriverContractError(f"{self._who} did not {what} within {self._seconds:g} s. {more}")


def _pause_after(error: Exception) -> float:
    """Return how long Temporal waits before the next attempt."""
    if isinstance(error, RateLimitedError):
        return error.retry_after_seconds
    info = activity.info()
    if info.retry_policy is None:
        return 0.0
    policy = info.retry_policy
    initial = policy.initial_interval.total_seconds()
    longest = policy.maximum_interval.total_seconds() if policy.maximum_interval else initial * 100
    # The exponent is bounded, since a large one is no float any more.
    grown = initial * policy.backoff_coefficient ** min(info.attempt - 1, 100)
    return float(min(grown, longest))
