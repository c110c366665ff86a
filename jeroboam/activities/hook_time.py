"""The time-out of a hook: it counts what attempts use up, and nothing else.

What counts is the time of the attempts that ended on a living worker, and the pause after one that
failed. An outage of the workers, of Temporal or of the database is no fault of the hook and does
not count; an attempt that was lost with its worker does not either, but only so many are made.
"""

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

log = structlog.get_logger(__name__)


class Spent(Model):
    """What earlier attempts tell the next one; Temporal keeps it with the heartbeats.

    Args:
        seconds: How much of the time-out they used up.
        told: How many of them ended on a living worker, whatever way.
    """

    seconds: float = 0.0
    told: int = 0


class HookTime:
    """The time of the hook that the running activity tries.

    Args:
        who: The hook, as users know it.
        seconds: Its time-out, for all attempts together.
    """

    def __init__(self, who: str, seconds: float) -> None:
        details = activity.info().heartbeat_details
        self._spent = Spent.model_validate(details[0]) if details else Spent()
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
            self._spent = self._spent.model_copy(update={"told": self._spent.told + 1})
            activity.heartbeat(self._spent)
            raise

    async def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return what the hook returns.

        Raises:
            DriverContractError: Its time is up.
            JeroboamError: What it raises, or that the attempt takes too long.
        """
        self._check_lost()
        within = min(ATTEMPT_SECONDS, self._seconds - self._spent.seconds)
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

    def _check_lost(self) -> None:
        lost = activity.info().attempt - 1 - self._spent.told
        if lost >= MOST_LOST:
            raise DriverContractError(
                f"{self._who} was given up: its worker was lost in {lost} attempts."
            )

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
