"""Makes oslo.messaging's in-memory transport fast, quiet and bounded."""

import threading
import time
from typing import Any

from oslo_messaging._drivers import impl_fake

MOST_UNREAD = 500
POLL_SECONDS = 0.05
"""How long the driver pauses between two looks into its queues."""

QUIET_SECONDS = 1.0
"""How long it may pause instead, since it is woken up when there is something to see."""


class _Clock:
    """Stands in for ``time`` in the driver: its pauses end when a message arrives.

    Pauses of 50 ms add up over the many calls that a stack or a server takes, and a dozen
    listeners that look twenty times a second keep a core busy with nothing.
    """

    time = staticmethod(time.time)

    def __init__(self) -> None:
        self._arrived = threading.Condition()
        self._messages = 0
        self._thread = threading.local()

    def sleep(self, seconds: float) -> None:
        """Wait for a message that this thread has not been woken up for yet."""
        pause = QUIET_SECONDS if seconds >= POLL_SECONDS else seconds
        with self._arrived:
            # A message that came after the thread's last look must not wait for the next.
            if getattr(self._thread, "seen", -1) == self._messages:
                self._arrived.wait(pause)
            self._thread.seen = self._messages

    def wake(self) -> None:
        """Let all listeners look."""
        with self._arrived:
            self._messages += 1
            self._arrived.notify_all()


def install() -> None:
    """Patch the driver before it is used."""
    clock = _Clock()
    impl_fake.time = clock
    deliver = impl_fake.FakeExchange.deliver_message
    topic_queue = impl_fake.FakeExchange._get_topic_queue  # noqa: SLF001

    def deliver_message(self: Any, *args: Any, **kwargs: Any) -> None:
        deliver(self, *args, **kwargs)
        clock.wake()

    # Messages to agents which do not exist here would be kept for ever.
    def bounded_queue(self: Any, topic: str, pool: Any = None) -> Any:
        queue = topic_queue(self, topic, pool)
        if len(queue) > MOST_UNREAD:
            del queue[: MOST_UNREAD // 2]
        return queue

    impl_fake.FakeExchange.deliver_message = deliver_message
    impl_fake.FakeExchange._get_topic_queue = bounded_queue  # noqa: SLF001
