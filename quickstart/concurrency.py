"""Several things at once, of which the first failure is everyone's."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


async def together(*work: Coroutine[Any, Any, None]) -> None:
    """Do all of it; when one part fails, end the others and raise what it raised."""
    tasks = [asyncio.create_task(part) for part in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        await _end(tasks)


async def guarded(work: Coroutine[Any, Any, T], *guards: Coroutine[Any, Any, None]) -> T:
    """Return what the work returns, unless a guard raises meanwhile."""
    task = asyncio.create_task(work)
    watching = [asyncio.create_task(guard) for guard in guards]
    try:
        await asyncio.wait({task, *watching}, return_when=asyncio.FIRST_COMPLETED)
        for guard in watching:
            if guard.done():
                guard.result()
        return await task
    finally:
        await _end([task, *watching])


async def _end(tasks: "list[asyncio.Task[Any]]") -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with suppress(asyncio.CancelledError, Exception):
            await task
