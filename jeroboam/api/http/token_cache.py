"""The cache of validated tokens that keystonemiddleware is given."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable


class TokenCache:
    """A bounded in-process cache with the interface of a memcache client.

    keystonemiddleware's own in-process cache is unbounded and deprecated. Keys arrive hashed.

    Args:
        lifetime_seconds: How long a validation is believed; a revoked token works that long.
        capacity: Number of tokens; the one unused for longest goes first.
        clock: Source of the time in seconds.
    """

    def __init__(
        self,
        lifetime_seconds: float,
        *,
        capacity: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lifetime_seconds = lifetime_seconds
        self._capacity = capacity
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def get(self, key: str) -> bytes | None:
        """Return what is stored and not yet stale."""
        with self._lock:
            stale_at, value = self._entries.get(key, (0.0, None))
            if value is None:
                return None
            if stale_at <= self._clock():
                del self._entries[key]
                return None
            self._entries.move_to_end(key)
            return value

    # ``time`` is what memcache clients call the argument.
    def set(self, key: str, value: bytes, time: int = 0) -> None:
        """Store a value for the lifetime of the cache."""
        del time
        with self._lock:
            self._entries[key] = (self._clock() + self._lifetime_seconds, value)
            self._entries.move_to_end(key)
            while len(self._entries) > self._capacity:
                self._entries.popitem(last=False)
