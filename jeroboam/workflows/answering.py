"""What is said when Temporal does not answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from temporalio.service import RPCError

from jeroboam.errors import CloudUnavailableError

ANSWER_SECONDS = 15.0
"""The longest that a request waits for Temporal, connecting included."""


@asynccontextmanager
async def answering(seconds: float = ANSWER_SECONDS) -> AsyncIterator[None]:
    """Say in Jeroboam's words that Temporal does not answer, or has never been reached.

    Raises:
        CloudUnavailableError: It does not within ``seconds``.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except RPCError as error:
        raise CloudUnavailableError(
            f"Temporal does not answer, or not as it should ({error.status.name}: "
            f"{error.message}). Try again in a minute."
        ) from error
    except (RuntimeError, TimeoutError) as error:
        # The first is what a client raises that has never been connected yet.
        raise CloudUnavailableError("Temporal cannot be reached. Try again in a minute.") from error
