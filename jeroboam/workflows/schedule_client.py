"""Temporal's side of schedules: kept in line with the rows, asked when they come next."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.client import (
    Client,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleHandle,
    ScheduleUpdate,
    ScheduleUpdateInput,
    WorkflowExecutionStatus,
)
from temporalio.client import Schedule as TemporalSchedule
from temporalio.service import RPCError, RPCStatusCode

from jeroboam import temporal
from jeroboam.errors import CloudUnavailableError, ConflictError, JeroboamError
from jeroboam.models import new_uuid, utc_now
from jeroboam.models.schedule import Doings, Overlap, Schedule
from jeroboam.models.scheduled_wire import ScheduledRequest
from jeroboam.settings import Settings
from jeroboam.store import Store
from jeroboam.workflows.answering import answering
from jeroboam.workflows.attributes import typed
from jeroboam.workflows.schedule_spec import attributes, temporal_schedule

PREFIX = "schedule/"
PREVIEW_PREFIX = "preview/"
LIST_SECONDS = 120.0
"""The longest that upkeep waits for the list of all schedules."""

PREVIEW_LIFE = timedelta(minutes=5)
"""A preview that is older was left by a process that died."""

log = structlog.get_logger(__name__)


class ScheduleClient:
    """Tells Temporal of schedules. The row is the truth, and comes first.

    When Temporal does not answer, the row says so by its revision, and upkeep tells it later.
    """

    def __init__(self, temporal_client: Client, store: Store, settings: Settings) -> None:
        self._temporal = temporal_client
        self._store = store
        self._settings = settings

    async def sync(self, uuid: str) -> None:
        """Bring Temporal in line with a row, as it is by the time that Temporal has it.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        told = -1
        while True:
            schedule = await self._store.schedules.stored(uuid)
            if schedule is None or schedule.revision == told:
                return
            # Somebody may have changed the row meanwhile and been overtaken by this.
            told = schedule.revision
            async with answering():
                await self._tell(schedule)

    async def try_sync(self, uuid: str) -> None:
        """Bring Temporal in line if it answers; otherwise upkeep will."""
        try:
            await self.sync(uuid)
        except CloudUnavailableError as error:
            log.warning("schedule_not_synced", schedule_id=uuid, reason=error.message)

    async def sync_all(self) -> int:
        """Bring in line what Temporal was not told of, or has lost; return how many those were."""
        async with answering(LIST_SECONDS):
            there = await self._ids()
        touched = 0
        for schedule in await self._store.schedules.all_due(utc_now()):
            is_due = schedule.revision > schedule.synced_revision
            if not is_due and schedule.temporal_id in there:
                continue
            try:
                await self.sync(schedule.uuid)
            except JeroboamError as error:
                log.warning("schedule_not_synced", schedule_id=schedule.uuid, reason=error.message)
            else:
                touched += 1
        return touched

    async def forget(self, temporal_id: str) -> None:
        """Delete a schedule of which there is no row.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        async with answering():
            await self._delete(temporal_id)

    async def trigger(self, schedule: Schedule) -> None:
        """Start a run now, whether the schedule is paused or not.

        Raises:
            ConflictError: A run is at work, and the schedule allows one at a time.
            CloudUnavailableError: Temporal does not answer; nothing was started.
        """
        await self._ensure(schedule)
        doings = await self.doings(schedule)
        if doings.running and schedule.overlap is Overlap.SKIP:
            raise ConflictError(
                f"The run {doings.running[0]} is still at work. Wait until it has ended, or set "
                "'overlap' to buffer_one."
            )
        async with answering():
            await self._handle(schedule.temporal_id).trigger(rpc_timeout=temporal.RPC_TIMEOUT)

    async def doings(self, schedule: Schedule) -> Doings:
        """Return what Temporal knows of a schedule; nothing if it knows none.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        async with answering():
            handle = self._handle(schedule.temporal_id)
            try:
                info = (await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)).info
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    return Doings()
                raise
        running = tuple(getattr(one, "workflow_id", "") for one in info.running_actions)
        return Doings(
            next_times=tuple(info.next_action_times),
            running=running,
            overlapped=info.num_actions_skipped_overlap,
            missed=info.num_actions_missed_catchup_window,
        )

    async def next_times(self, schedule: Schedule) -> Sequence[datetime]:
        """Return the next times of a stored schedule, as Temporal has them, jitter included.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        await self._ensure(schedule)
        return (await self.doings(schedule)).next_times

    async def preview(self, schedule: Schedule) -> Sequence[datetime]:
        """Return the next times of a schedule that is not stored, before jitter.

        Temporal itself computes them, for a paused schedule which is deleted again.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        made_at = int(utc_now().timestamp())
        ident = f"{PREVIEW_PREFIX}{self._settings.task_queue}/{made_at}/{new_uuid()}"
        plain = schedule.model_copy(update={"paused": True, "jitter_seconds": 0})
        async with answering():
            wanted = temporal_schedule(plain, self._settings.task_queue)
            handle = await self._temporal.create_schedule(
                ident, wanted, rpc_timeout=temporal.RPC_TIMEOUT
            )
            try:
                described = await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)
            finally:
                await handle.delete(rpc_timeout=temporal.RPC_TIMEOUT)
        return described.info.next_action_times

    async def is_open(self, workflow_id: str) -> bool:
        """Return whether a run is at work.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        handle = self._temporal.get_workflow_handle(workflow_id)
        async with answering():
            try:
                description = await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)
            except RPCError as error:
                if error.status is RPCStatusCode.NOT_FOUND:
                    return False
                raise
        return description.status is WorkflowExecutionStatus.RUNNING

    async def _ensure(self, schedule: Schedule) -> None:
        """Make Temporal have the schedule: it may have been away, or have dropped an ended one."""
        if schedule.synced_revision < schedule.revision:
            await self.sync(schedule.uuid)
            return
        async with answering():
            try:
                await self._handle(schedule.temporal_id).describe(rpc_timeout=temporal.RPC_TIMEOUT)
            except RPCError as error:
                if error.status is not RPCStatusCode.NOT_FOUND:
                    raise
                await self._tell(schedule)

    async def _tell(self, schedule: Schedule) -> None:
        if schedule.deleted_at is None:
            await self._put(schedule)
            await self._store.schedules.synced(schedule.uuid, schedule.revision)
            return
        # One of the same name may have been made since; it has the id now.
        if await self._store.schedules.named(schedule.project_id, schedule.name) is None:
            await self._delete(schedule.temporal_id)
        await self._store.schedules.remove(schedule.uuid)

    async def _put(self, schedule: Schedule) -> None:
        wanted = temporal_schedule(schedule, self._settings.task_queue)
        try:
            await self._temporal.create_schedule(
                schedule.temporal_id,
                wanted,
                search_attributes=typed(attributes(schedule)),
                memo={"schedule_id": schedule.uuid},
                rpc_timeout=temporal.RPC_TIMEOUT,
            )
        except ScheduleAlreadyRunningError:
            await self._handle(schedule.temporal_id).update(
                lambda found: self._replaced(found, schedule, wanted),
                rpc_timeout=temporal.RPC_TIMEOUT,
            )

    async def _replaced(
        self, found: ScheduleUpdateInput, schedule: Schedule, wanted: TemporalSchedule
    ) -> ScheduleUpdate | None:
        action = found.description.schedule.action
        if isinstance(action, ScheduleActionStartWorkflow):
            known = await self._request(action)
            if known and known.schedule_id == schedule.uuid and known.revision > schedule.revision:
                return None
        return ScheduleUpdate(wanted, search_attributes=typed(attributes(schedule)))

    async def _request(self, action: ScheduleActionStartWorkflow) -> ScheduledRequest | None:
        """Return the input that Temporal gives to the runs; ``None`` if it is not ours."""
        try:
            values = await self._temporal.data_converter.decode(
                list(action.args), [ScheduledRequest]
            )
        except (ValueError, RuntimeError, TypeError):
            return None
        request = values[0] if values else None
        return request if isinstance(request, ScheduledRequest) else None

    async def _delete(self, temporal_id: str) -> None:
        try:
            await self._handle(temporal_id).delete(rpc_timeout=temporal.RPC_TIMEOUT)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise

    async def _ids(self) -> set[str]:
        """Return the ids of all schedules; remove previews that nobody will."""
        found: set[str] = set()
        mine = f"{PREVIEW_PREFIX}{self._settings.task_queue}/"
        async for one in await self._temporal.list_schedules(rpc_timeout=temporal.RPC_TIMEOUT):
            if one.id.startswith(PREFIX):
                found.add(one.id)
            elif one.id.startswith(mine) and _is_stale(one.id):
                await self._delete(one.id)
        return found

    def _handle(self, temporal_id: str) -> ScheduleHandle:
        return self._temporal.get_schedule_handle(temporal_id)


def _is_stale(preview_id: str) -> bool:
    _, made_at, _ = preview_id.rsplit("/", 2)
    return datetime.fromtimestamp(int(made_at), UTC) < utc_now() - PREVIEW_LIFE
