"""Calls of drivers and hooks: in a thread, with signs of life, and never cut in the middle."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from temporalio import activity

T = TypeVar("T")

HEARTBEAT_SECONDS = 5.0
"""How often to say that the call is alive; the SDK thins heartbeats out."""


async def call(function: Callable[..., T], *arguments: Any, details: Any = None) -> T:
    """Return what a blocking function returns.

    A thread cannot be stopped, so a cancellation waits for its end: whoever cancels must know
    whether the backend was called or not.

    Args:
        details: What each heartbeat carries for the next attempt.
    """
    task = asyncio.create_task(asyncio.to_thread(function, *arguments))
    cancelled = False
    while not task.done():
        activity.heartbeat(details)
        try:
            await asyncio.wait({task}, timeout=HEARTBEAT_SECONDS)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled and task.exception():
        raise asyncio.CancelledError
    return task.result()
