"""A stored operation is a promise: what cannot be started now, the reconciler starts later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from jeroboam.errors import ConflictError, JeroboamError
from jeroboam.models import Operation
from jeroboam.store import Store

START_SECONDS = 15.0
"""The longest that a request waits for the engine to take an operation over."""

log = structlog.get_logger(__name__)


@asynccontextmanager
async def promised(store: Store, operation: Operation) -> AsyncIterator[None]:
    """Let a start inside the block fail without the request failing, once the row is stored.

    A conflict passes, for then the row was rejected; and what fails before the row is stored.
    """
    try:
        async with asyncio.timeout(START_SECONDS):
            yield
    except ConflictError:
        raise
    except Exception:
        if not await _is_stored(store, operation):
            raise
        log.exception("operation_not_started")


async def _is_stored(store: Store, operation: Operation) -> bool:
    try:
        await store.operations.get(operation.uuid)
    except JeroboamError:
        return False
    return True
