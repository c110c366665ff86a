"""One run of a schedule: its clusters one after the other, some at a time, each exactly once."""

import asyncio
from collections import deque
from datetime import datetime, timedelta

from temporalio import workflow
from temporalio.common import SearchAttributeKey
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    is_cancelled_exception,
)

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.scheduled import ScheduledActivities
    from jeroboam.models.schedule import RunState
    from jeroboam.models.scheduled_wire import (
        SCHEDULED_OPERATION_WORKFLOW,
        Deferred,
        Order,
        ScheduledRequest,
        SelectInput,
        Selection,
        Totals,
        Verdict,
    )

from jeroboam.workflows import limits
from jeroboam.workflows.scheduled_clusters import ScheduledClusters

SCHEDULED_AT = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
SCHEDULED_BY = SearchAttributeKey.for_keyword("TemporalScheduledById")


@workflow.defn(name=SCHEDULED_OPERATION_WORKFLOW)
class ScheduledOperationWorkflow:
    """Starts an operation on each cluster that a schedule means, and waits for their ends.

    It cannot hold the clusters' locks itself, as Temporal gives it an id of its own; each
    operation is a child with the cluster's id, which outlives this run if it must.
    """

    @workflow.run
    async def run(self, request: ScheduledRequest) -> Totals:
        """Work until every cluster has an outcome."""
        attributes = workflow.info().typed_search_attributes
        due = request.scheduled_at or attributes.get(SCHEDULED_AT) or workflow.info().start_time
        return await _Run(request.model_copy(update={"scheduled_at": due}), due).work()


class _Run:
    """The state of one run: who is at work, who waits, who comes next."""

    def __init__(self, request: ScheduledRequest, due: datetime) -> None:
        self._request = request
        self._due = due
        self._id = workflow.info().workflow_id
        self._order: Order | None = request.order
        self._queue = deque(request.queue)
        self._deferred = list(request.deferred)
        self._after = request.after
        self._exhausted = request.exhausted
        self._totals = request.totals
        self._active: list[asyncio.Task[None]] = []
        self._clusters = ScheduledClusters(self._id, due)

    async def work(self) -> Totals:
        if self._order is None:
            await self._look_up()
        while self._order is not None:
            await self._fill(self._order)
            self._show()
            if not self._active and self._is_full:
                workflow.continue_as_new(self._continuation())
            if not (self._active or self._deferred or self._queue) and self._exhausted:
                break
            await self._wait()
        return self._totals

    async def _fill(self, order: Order) -> None:
        """Begin on as many clusters as may be worked on at a time."""
        while len(self._active) < order.max_parallel and not self._is_full:
            turn = self._due_now() or await self._next(order)
            if turn is None:
                return
            self._active.append(asyncio.create_task(self._take(order, turn)))

    def _due_now(self) -> Deferred | None:
        due = [one for one in self._deferred if one.until <= workflow.now()]
        if not due:
            return None
        first = min(due, key=lambda one: one.until)
        self._deferred.remove(first)
        return first

    async def _next(self, order: Order) -> Deferred | None:
        if len(self._deferred) >= limits.MOST_DEFERRED:
            return None
        while not self._queue and not self._exhausted:
            await self._look_up()
        if not self._queue:
            return None
        now = workflow.now()
        deadline = now + timedelta(minutes=order.wait_minutes)
        return Deferred(cluster=self._queue.popleft(), until=now, deadline=deadline, tries=0)

    async def _look_up(self) -> None:
        selection: Selection = await workflow.execute_activity_method(
            ScheduledActivities.select_clusters,
            SelectInput(
                schedule_id=self._request.schedule_id,
                workflow_id=self._id,
                scheduled_at=self._due,
                scheduled_by=workflow.info().typed_search_attributes.get(SCHEDULED_BY),
                order=self._order,
                after=self._after,
            ),
            start_to_close_timeout=limits.RECORD_ATTEMPT,
            retry_policy=limits.RETRY,
            summary="Choose the clusters",
        )
        self._order = selection.order
        self._queue.extend(selection.clusters)
        self._after, self._exhausted = selection.after, selection.exhausted

    async def _wait(self) -> None:
        """Wait until a cluster is done with, or the turn of one has come."""
        until = min((one.until for one in self._deferred), default=None)
        timeout = None
        if until is not None and not self._is_full and not self._is_taken:
            timeout = max(until - workflow.now(), timedelta(seconds=1))
        try:
            await workflow.wait_condition(
                lambda: any(task.done() for task in self._active),
                timeout=timeout,
                timeout_summary="Until a cluster's turn",
            )
        except TimeoutError:
            return
        for task in [task for task in self._active if task.done()]:
            self._active.remove(task)
            task.result()

    async def _take(self, order: Order, turn: Deferred) -> None:
        try:
            acceptance = await self._clusters.accept(order, turn)
        except ActivityError as error:
            if is_cancelled_exception(error):
                raise
            if isinstance(error.cause, ApplicationError) and error.cause.non_retryable:
                await self._clusters.close(order, turn.cluster, failure=error.cause.message)
                self._totals = self._totals.plus(RunState.FAILED)
            else:
                # Our own database was away; what is known of the time is too old to go by.
                self._defer(turn, workflow.now() + limits.BUSY_FIRST)
            return
        if acceptance.verdict is Verdict.LATER:
            self._defer(turn, acceptance.opens_at or _again(turn))
        elif acceptance.verdict is Verdict.OVER and acceptance.state:
            self._totals = self._totals.plus(acceptance.state)
        elif acceptance.start:
            # Others add to the totals while this one waits, so they are read after it.
            state = await self._clusters.follow(order, turn, acceptance.start)
            self._totals = self._totals.plus(state)

    def _defer(self, turn: Deferred, until: datetime) -> None:
        later = {"until": until, "tries": turn.tries + 1}
        self._deferred.append(turn.model_copy(update=later))

    @property
    def _is_taken(self) -> bool:
        return self._order is not None and len(self._active) >= self._order.max_parallel

    @property
    def _is_full(self) -> bool:
        """Whether the history is so long that the rest belongs in a new one."""
        info = workflow.info()
        length = info.get_current_history_length()
        return length > self._request.events_per_run or info.is_continue_as_new_suggested()

    def _continuation(self) -> ScheduledRequest:
        return self._request.model_copy(
            update={
                "order": self._order,
                "queue": tuple(self._queue),
                "deferred": tuple(self._deferred),
                "after": self._after,
                "exhausted": self._exhausted,
                "totals": self._totals,
            }
        )

    def _show(self) -> None:
        """Tell those who look at the run in Temporal's UI where it stands."""
        totals = self._totals
        now = f"{len(self._active)} at work, {len(self._deferred)} waiting."
        ended = f"{totals.succeeded} succeeded, {totals.failed} failed, {totals.skipped} skipped"
        lines = [
            f"{ended}, {now}",
            *(
                f"* {one.cluster.name}: waits until {one.until:%Y-%m-%d %H:%M:%S} UTC"
                for one in self._deferred[: limits.MOST_SHOWN]
            ),
        ]
        workflow.set_current_details("\n".join(lines))


def _again(turn: Deferred) -> datetime:
    """Return when to look at a busy cluster again: less and less often, and at the deadline."""
    pause = min(limits.BUSY_FIRST * (1 << min(turn.tries, 10)), limits.BUSY_LONGEST)
    now = workflow.now()
    return max(min(now + pause, turn.deadline), now + timedelta(seconds=1))
