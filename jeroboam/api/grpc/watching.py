"""Streams of what changes on clusters and in operations."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from grpc import StatusCode

from jeroboam.api.grpc import messages
from jeroboam.api.grpc.calls import Calls, Context
from jeroboam.api.grpc.changes import OperationChanges
from jeroboam.api.grpc.cluster_changes import ClusterChanges
from jeroboam.api.grpc.door import Request
from jeroboam.api.grpc.refusals import Refused
from jeroboam.api.grpc.v1.clusters_pb2 import ClusterEvent, WatchClusterRequest
from jeroboam.api.grpc.v1.operations_pb2 import Operation, OperationEvent

LOOK_SECONDS = 1.0
KEEP_ALIVE_SECONDS = 20.0
MOST_PER_USER = 20


class Watching:
    """Looks again and again, each time with the caller's own rights.

    A token that has been revoked, or a role that was taken away, ends the stream at the next look.

    Args:
        calls: The way to the application.
        look_seconds: Time between two looks.
        keep_alive_seconds: After this silence an event is sent that tells nothing.
        most_per_user: How many streams one user may have open in this process.
    """

    def __init__(
        self,
        calls: Calls,
        *,
        look_seconds: float = LOOK_SECONDS,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
        most_per_user: int = MOST_PER_USER,
    ) -> None:
        self._calls = calls
        self._look_seconds = look_seconds
        self._keep_alive_seconds = keep_alive_seconds
        self._most = most_per_user
        self._streams: Counter[str] = Counter()
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End all streams at their next look; their callers come back."""
        self._stopping.set()

    async def operation(
        self, context: Context, path: str, after_seq: int
    ) -> AsyncIterator[OperationEvent]:
        """Yield an operation's changes until it has ended.

        Args:
            path: Of the operation.
            after_seq: What the caller has seen before.

        Raises:
            Refused: The application refuses a look, or the process stops.
        """
        changes = OperationChanges(after_seq)
        answer = await self._calls.ask(context, Request("GET", path))
        with self._one_more(answer.user_id):
            told_at = time.monotonic()
            while True:
                now = messages.fill(Operation(), answer.body)
                for event in changes.events(now):
                    yield event
                    told_at = time.monotonic()
                if changes.ended:
                    return
                if time.monotonic() - told_at > self._keep_alive_seconds:
                    yield changes.keep_alive(now)
                    told_at = time.monotonic()
                await self._pause()
                answer = await self._calls.ask(context, Request("GET", path, quiet=True))

    async def cluster(
        self, context: Context, path: str, request: WatchClusterRequest
    ) -> AsyncIterator[ClusterEvent]:
        """Yield what changes on a cluster until it is gone; or idle, if the request says so.

        Args:
            path: Of the cluster.

        Raises:
            Refused: As above.
        """
        answer = await self._calls.ask(context, Request("GET", path))
        changes = ClusterChanges(answer.body["uuid"], request)
        with self._one_more(answer.user_id):
            told_at = time.monotonic()
            while True:
                async for event in changes.look(lambda one: self._calls.ask(context, one)):
                    yield event
                    told_at = time.monotonic()
                if changes.ended:
                    return
                if time.monotonic() - told_at > self._keep_alive_seconds:
                    yield ClusterEvent()
                    told_at = time.monotonic()
                await self._pause()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), self._look_seconds)
        except TimeoutError:
            return
        raise Refused(
            StatusCode.UNAVAILABLE,
            "The service is being restarted. Watch again, after the last 'seq' that you have seen.",
        )

    @contextmanager
    def _one_more(self, user_id: str) -> Iterator[None]:
        if self._streams[user_id] >= self._most:
            raise Refused(
                StatusCode.RESOURCE_EXHAUSTED,
                f"You watch {self._most} things already, which is the most. End one of them.",
            )
        self._streams[user_id] += 1
        try:
            yield
        finally:
            self._streams[user_id] -= 1
            if not self._streams[user_id]:
                del self._streams[user_id]
