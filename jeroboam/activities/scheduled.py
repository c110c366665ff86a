"""The activities of scheduled runs: choose clusters, accept operations, write outcomes."""

from typing import Protocol

import structlog
from temporalio import activity

from jeroboam.activities.scheduled_acceptance import Acceptor, LaterError, LeftOutError, Plans
from jeroboam.errors import ConflictError, NotFoundError
from jeroboam.models import Operation, OperationState, utc_now
from jeroboam.models.schedule import (
    RunState,
    ScheduleRun,
    Selector,
    operation_uuid,
    run_uuid,
)
from jeroboam.models.scheduled_wire import (
    Acceptance,
    AcceptInput,
    Candidate,
    CloseInput,
    Closing,
    Order,
    SelectInput,
    Selection,
    Verdict,
)
from jeroboam.models.start import run_start
from jeroboam.store import Store

log = structlog.get_logger(__name__)

STATE_OF_OPERATION = {
    OperationState.SUCCEEDED: RunState.SUCCEEDED,
    OperationState.FAILED: RunState.FAILED,
    OperationState.CANCELLED: RunState.FAILED,
    OperationState.REJECTED: RunState.SKIPPED,
}


class TemporalSchedules(Protocol):
    """Temporal's schedules, which follow the rows."""

    async def try_sync(self, uuid: str) -> None:
        """Tell Temporal of a schedule's last change, if it answers."""

    async def forget(self, temporal_id: str) -> None:
        """Delete a schedule of which there is no row."""


class ScheduledActivities:
    """What scheduled runs do; each activity may be repeated without harm.

    Args:
        store: Where schedules, clusters and operations are.
        plans: Asks the driver whether it can do what the schedule wants.
        schedules: Temporal's side.
    """

    def __init__(self, store: Store, plans: Plans, schedules: TemporalSchedules) -> None:
        self._store = store
        self._acceptor = Acceptor(store, plans)
        self._schedules = schedules

    @activity.defn
    async def select_clusters(self, ask: SelectInput) -> Selection:
        """Return the next clusters of a run, and what is to be done on them."""
        order = ask.order or await self._order(ask)
        if order is None:
            return Selection()
        if order.cluster_id is not None:
            return await self._only_cluster(ask, order, order.cluster_id)
        selector = order.selector or Selector()
        chosen = await self._store.schedules.choose(selector, ask.after, ask.page)
        if not chosen.clusters and ask.order is None:
            await self._remark(ask, order, f"There are none: {selector.words}.")
        return Selection(
            order=order,
            clusters=tuple(chosen.clusters),
            after=chosen.after,
            exhausted=chosen.exhausted,
        )

    @activity.defn
    async def accept_scheduled(self, ask: AcceptInput) -> Acceptance:
        """Accept the operation on a cluster, or say when to ask again, or why it is left out."""
        try:
            operation = await self._acceptor.accept(ask)
        except LaterError as later:
            await self._record(ask, RunState.WAITING, later.reason)
            return Acceptance(verdict=Verdict.LATER, opens_at=later.opens_at, reason=later.reason)
        except LeftOutError as out:
            await self._record(ask, RunState.SKIPPED, out.reason)
            return Acceptance(verdict=Verdict.OVER, state=RunState.SKIPPED, reason=out.reason)
        if not operation.state.active:
            state = STATE_OF_OPERATION[operation.state]
            await self._record(ask, state, operation.reason, operation)
            return Acceptance(verdict=Verdict.OVER, state=state, reason=operation.reason)
        await self._record(ask, RunState.STARTED, None, operation)
        cluster = (await self._store.clusters.spec(ask.cluster.uuid)).cluster
        return Acceptance(verdict=Verdict.ACCEPTED, start=run_start(cluster, operation))

    @activity.defn
    async def close_scheduled(self, ask: CloseInput) -> Closing:
        """Write down how an operation has ended, or that it could not be begun."""
        if ask.failure is not None:
            await self._record(ask, RunState.FAILED, ask.failure)
            return Closing(state=RunState.FAILED)
        uuid = operation_uuid(ask.order.schedule_id, ask.workflow_id, ask.cluster.uuid)
        operation = await self._store.operations.get(uuid)
        if operation.state.active:
            return Closing(pending=operation.state is OperationState.PENDING)
        state = STATE_OF_OPERATION[operation.state]
        await self._record(ask, state, operation.reason, operation)
        return Closing(state=state)

    async def _order(self, ask: SelectInput) -> Order | None:
        schedule = await self._store.schedules.stored(ask.schedule_id)
        if schedule is not None:
            return None if schedule.deleted_at else Order.of(schedule)
        if ask.scheduled_by is not None:
            # The database was restored from a backup, say: nobody could stop it otherwise.
            log.warning("schedule_without_row", temporal_id=ask.scheduled_by)
            await self._schedules.forget(ask.scheduled_by)
        return None

    async def _only_cluster(self, ask: SelectInput, order: Order, cluster_id: str) -> Selection:
        try:
            cluster = (await self._store.clusters.spec(cluster_id)).cluster
        except NotFoundError:
            note = f"Cluster {cluster_id} does not exist any more."
            await self._remark(ask, order, f"{note} The schedule is paused.")
            await self._pause(order.schedule_id, note)
            return Selection()
        return Selection(order=order, clusters=(Candidate(uuid=cluster.uuid, name=cluster.name),))

    async def _pause(self, schedule_id: str, note: str) -> None:
        schedule = await self._store.schedules.stored(schedule_id)
        if schedule is None or schedule.deleted_at or schedule.paused:
            return
        paused = schedule.model_copy(update={"paused": True, "note": note})
        try:
            await self._store.schedules.change(paused)
        except (ConflictError, NotFoundError):
            return  # Somebody is at work on it, and sees the remark.
        await self._schedules.try_sync(schedule_id)

    async def _record(
        self,
        ask: AcceptInput | CloseInput,
        state: RunState,
        reason: str | None,
        operation: Operation | None = None,
    ) -> None:
        await self._store.schedule_runs.record(
            ScheduleRun(
                uuid=run_uuid(ask.order.schedule_id, ask.workflow_id, ask.cluster.uuid),
                schedule_id=ask.order.schedule_id,
                workflow_id=ask.workflow_id,
                scheduled_at=ask.scheduled_at,
                cluster_id=ask.cluster.uuid,
                cluster_name=ask.cluster.name,
                operation_id=operation.uuid if operation else None,
                state=state,
                reason=reason,
                ended_at=utc_now() if state.ended else None,
            )
        )

    async def _remark(self, ask: SelectInput, order: Order, reason: str) -> None:
        await self._store.schedule_runs.record(
            ScheduleRun(
                uuid=run_uuid(order.schedule_id, ask.workflow_id, None),
                schedule_id=order.schedule_id,
                workflow_id=ask.workflow_id,
                scheduled_at=ask.scheduled_at,
                state=RunState.SKIPPED,
                reason=reason,
                ended_at=utc_now(),
            )
        )
