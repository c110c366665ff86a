"""Makes calls as the engine makes them: one that may succeed later is made again."""

import time
from collections.abc import Callable
from typing import TypeVar

from jeroboam.errors import JeroboamError

T = TypeVar("T")

ATTEMPTS = 10
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
"""The engine's patience ends with the operation's deadline, that of a test after 45 seconds."""


def ask(call: Callable[..., T], *arguments: object, **named: object) -> T:
    """Return what a call of a driver returns.

    A call that raises what is ``retryable``, such as ``CloudUnavailableError``, is repeated.

    Raises:
        JeroboamError: Another error, or the same one all the time.
    """
    pause = FIRST_PAUSE_SECONDS
    for _ in range(ATTEMPTS - 1):
        try:
            return call(*arguments, **named)
        except JeroboamError as error:
            if not error.retryable:
                raise
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
    return call(*arguments, **named)
