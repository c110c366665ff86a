"""The poll hub: one question to the backend answers all waiting operations of a worker.

Measured: a workflow that sleeps and polls costs four times the CPU and its history grows without
bound; one list call per cloud and interval costs the same for one cluster and for a thousand.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import structlog

from jeroboam.drivers.base import CloudAccess, Poller, Progress, Watch
from jeroboam.errors import JeroboamError

log = structlog.get_logger(__name__)

Answer = Progress | JeroboamError
"""What a watcher gets: progress, or why the backend could not be asked."""


@dataclass
class _Round:
    """All watches that one poller answers on one cloud."""

    cloud: CloudAccess
    poller: Poller
    watchers: dict[Watch, set[asyncio.Queue[Answer]]] = field(default_factory=dict)
    task: asyncio.Task[None] | None = None


class PollHub:
    """Shares list calls among the waiting activities of one worker process.

    Args:
        interval_seconds: Pause between two calls for the same cloud and backend.
    """

    def __init__(self, interval_seconds: float) -> None:
        self._interval = interval_seconds
        self._rounds: dict[tuple[str, type[Poller]], _Round] = {}

    @asynccontextmanager
    async def watching(
        self, cloud: CloudAccess, poller: Poller, watch: Watch
    ) -> AsyncIterator["asyncio.Queue[Answer]"]:
        """Yield a queue that holds the newest answer for a watch.

        The queue keeps one answer only: a slow reader sees the present, not the past.
        """
        key = (cloud.name, type(poller))
        round_ = self._rounds.get(key)
        if round_ is None:
            round_ = self._rounds[key] = _Round(cloud, poller)
            round_.task = asyncio.create_task(self._run(round_), name=f"poll-hub {key}")
        queue: asyncio.Queue[Answer] = asyncio.Queue(maxsize=1)
        round_.watchers.setdefault(watch, set()).add(queue)
        try:
            yield queue
        finally:
            self._leave(key, round_, watch, queue)

    def _leave(
        self,
        key: tuple[str, type[Poller]],
        round_: _Round,
        watch: Watch,
        queue: "asyncio.Queue[Answer]",
    ) -> None:
        round_.watchers[watch].discard(queue)
        if not round_.watchers[watch]:
            del round_.watchers[watch]
        if not round_.watchers and round_.task:
            round_.task.cancel()
            self._rounds.pop(key, None)

    async def _run(self, round_: _Round) -> None:
        while True:
            await self._ask(round_)
            await asyncio.sleep(self._interval)

    async def _ask(self, round_: _Round) -> None:
        watches = tuple(round_.watchers)
        try:
            answers = await asyncio.to_thread(round_.poller.poll, round_.cloud, watches)
        except JeroboamError as error:
            log.warning("poll_failed", cloud=round_.cloud.name, error=error.message)
            self._publish_to_all(round_, watches, error)
        except Exception:
            # One defect must not end the round of every cluster: they ask again next time.
            log.exception("poll_defect", cloud=round_.cloud.name)
            defect = JeroboamError("Progress could not be read, for a defect; see the log.")
            self._publish_to_all(round_, watches, defect)
        else:
            for watch in watches:
                if watch.cluster_id in answers:
                    self._publish(round_, watch, answers[watch.cluster_id])

    def _publish_to_all(
        self, round_: _Round, watches: tuple[Watch, ...], error: JeroboamError
    ) -> None:
        for watch in watches:
            self._publish(round_, watch, error)

    @staticmethod
    def _publish(round_: _Round, watch: Watch, answer: Answer) -> None:
        for queue in round_.watchers.get(watch, ()):
            with suppress(asyncio.QueueEmpty):
                queue.get_nowait()
            queue.put_nowait(answer)
