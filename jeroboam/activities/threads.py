"""Calls of drivers and hooks: in a thread, with signs of life, and never cut in the middle."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, TypeVar

from temporalio import activity

T = TypeVar("T")

HEARTBEAT_SECONDS = 5.0
"""How often to say that the call is alive; a quick one, as most are, needs no heartbeat at all.

Measured: one heartbeat costs the server 7.7 ms of CPU, a third of a whole activity.
"""


class StillRunning(Exception):  # noqa: N818 - no error yet, the caller makes one of it
    """A call has not ended in the time that it had; its thread goes on, for nobody."""


async def call(
    function: Callable[..., T],
    *arguments: Any,
    details: Any = None,
    within: float | None = None,
) -> T:
    """Return what a blocking function returns.

    A thread cannot be stopped, so a cancellation waits for its end: whoever cancels must know
    whether the backend was called or not.

    Args:
        details: What each heartbeat carries for the next attempt.
        within: Seconds after which it is not waited for any more.

    Raises:
        StillRunning: It has not ended by then.
    """
    task = asyncio.create_task(asyncio.to_thread(function, *arguments))
    until = None if within is None else time.monotonic() + within
    cancelled = False
    while not task.done():
        left = HEARTBEAT_SECONDS if until is None else until - time.monotonic()
        if left <= 0:
            task.add_done_callback(_forget)
            if cancelled:
                raise asyncio.CancelledError
            raise StillRunning
        try:
            done, _ = await asyncio.wait({task}, timeout=min(left, HEARTBEAT_SECONDS))
        except asyncio.CancelledError:
            cancelled = True
        else:
            if not done:
                activity.heartbeat(details)
    if cancelled and task.exception():
        raise asyncio.CancelledError
    return task.result()


def _forget(task: "asyncio.Task[Any]") -> None:
    """Take the outcome of a call that nobody waits for, so that the loop does not complain."""
    if not task.cancelled():
        task.exception()
