"""Makes oslo.messaging's in-memory transport fast and bounded."""

import threading
import time
from typing import Any

from oslo_messaging._drivers import impl_fake

MOST_UNREAD = 500


class _Clock:
    """Stands in for ``time`` in the driver: its pauses end when a message arrives.

    The driver looks into its queues every 50 ms, which adds up over the many calls that a
    stack or a server takes.
    """

    time = staticmethod(time.time)

    def __init__(self) -> None:
        self._arrived = threading.Condition()

    def sleep(self, seconds: float) -> None:
        with self._arrived:
            self._arrived.wait(seconds)

    def wake(self) -> None:
        with self._arrived:
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
