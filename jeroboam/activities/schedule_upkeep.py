"""The regular upkeep of schedules: Temporal follows the rows, and outcomes get their end."""

from datetime import timedelta
from typing import Protocol

import structlog
from temporalio import activity

from jeroboam.activities.scheduled import STATE_OF_OPERATION
from jeroboam.errors import JeroboamError, NotFoundError
from jeroboam.models import Operation, utc_now
from jeroboam.models.schedule import RunState, ScheduleRun
from jeroboam.store import Store

GRACE = timedelta(minutes=10)
"""Younger outcomes are left alone; a run that waits for a busy cluster writes more often."""

KEEP = timedelta(days=90)
"""How long outcomes are kept."""

ENDED_OUTSIDE = "The run was ended from outside before this cluster's turn had come."

log = structlog.get_logger(__name__)


class Upkeep(Protocol):
    """What upkeep asks of Temporal."""

    async def sync_all(self) -> int:
        """Bring all schedules in line; return how many were not."""

    async def is_open(self, workflow_id: str) -> bool:
        """Return whether a run is at work."""


class UpkeepActivities:
    """Heals what a crash, a silent Temporal or a hand in its UI left behind."""

    def __init__(self, store: Store, upkeep: Upkeep) -> None:
        self._store = store
        self._upkeep = upkeep

    @activity.defn
    async def sync_schedules(self) -> int:
        """Do one round; return how many schedules and outcomes were touched."""
        touched = await self._upkeep.sync_all()
        for run in await self._store.schedule_runs.forgotten(utc_now() - GRACE):
            activity.heartbeat(run.uuid)
            try:
                touched += await self._settle(run)
            except JeroboamError as error:
                # One row's trouble is no reason to leave the others as they are.
                log.warning("outcome_not_settled", run=run.uuid, error=error.message)
        await self._store.schedule_runs.prune(utc_now() - KEEP)
        return touched

    async def _settle(self, run: ScheduleRun) -> int:
        operation = await self._operation(run)
        if operation is not None and not operation.state.active:
            state = STATE_OF_OPERATION[operation.state]
            return await self._end(run, state, operation.reason)
        if operation is None and not await self._upkeep.is_open(run.workflow_id):
            return await self._end(run, RunState.SKIPPED, ENDED_OUTSIDE)
        await self._store.schedule_runs.touch(run.uuid, utc_now())
        return 0

    async def _operation(self, run: ScheduleRun) -> Operation | None:
        if run.operation_id is None:
            return None
        try:
            return await self._store.operations.get(run.operation_id)
        except NotFoundError:
            return None

    async def _end(self, run: ScheduleRun, state: RunState, reason: str | None) -> int:
        now = utc_now()
        ended = {"state": state, "reason": reason, "updated_at": now, "ended_at": now}
        await self._store.schedule_runs.record(run.model_copy(update=ended))
        return 1
