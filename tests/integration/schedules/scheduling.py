"""Schedules on the real engine: made, run and looked at by tests."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from temporalio.client import WorkflowHandle

from jeroboam.models import (
    Cluster,
    ClusterSpec,
    Operation,
    OperationKind,
    new_uuid,
    utc_now,
)
from jeroboam.models.maintenance import MaintenanceWindow
from jeroboam.models.schedule import RunState, Schedule, ScheduleRun
from jeroboam.models.scheduled_wire import (
    SCHEDULED_OPERATION_WORKFLOW,
    ScheduledRequest,
    Totals,
)
from jeroboam.store import Page
from jeroboam.workflows.schedule_client import ScheduleClient
from tests.integration.engine import Engine

NEVER = "0 0 1 1 * 2099"
EVERY_SECOND = "* * * * * * *"


def a_schedule(**fields: Any) -> Schedule:
    """Return a schedule that does not come in a test's lifetime, unless the test says when."""
    values = {
        "name": f"test-{new_uuid()[:8]}",
        "project_id": "p1",
        "user_id": "u1",
        "kind": OperationKind.CHECK_HEALTH,
        "cron": NEVER,
    }
    return Schedule(**values | fields)


def window_in(start: timedelta, minutes: int = 30, now: datetime | None = None) -> Any:
    """Return a maintenance window that opens after a while, rounded down to a minute."""
    opening = (now or utc_now()) + start
    return MaintenanceWindow(start=f"{opening:%H:%M}", duration_minutes=minutes)


@dataclass
class Scheduling:
    """The engine with schedules."""

    engine: Engine
    client: ScheduleClient

    async def add(self, **fields: Any) -> Schedule:
        """Store a schedule and tell Temporal."""
        schedule = a_schedule(**fields)
        await self.engine.store.schedules.add(schedule, project_limit=1000)
        await self.client.sync(schedule.uuid)
        return schedule

    async def change(self, schedule: Schedule, **fields: Any) -> None:
        """Change the row as it is now, and tell Temporal."""
        stored = await self.engine.store.schedules.stored(schedule.uuid)
        assert stored
        await self.engine.store.schedules.change(stored.model_copy(update=fields))
        await self.client.sync(schedule.uuid)

    async def remove(self, schedule: Schedule) -> None:
        await self.engine.store.schedules.mark_deleted(schedule.uuid)
        await self.client.sync(schedule.uuid)

    async def clusters(self, count: int = 1, **labels: str) -> Sequence[ClusterSpec]:
        """Make clusters that are complete."""
        specs = [await self.engine.create(labels=labels) for _ in range(count)]
        for spec in specs:
            await self.engine.settled(spec)
        return specs

    async def cluster(self, **labels: str) -> Cluster:
        (spec,) = await self.clusters(1, **labels)
        return await self.engine.cluster(spec)

    async def start(
        self, schedule: Schedule, ident: str | None = None, **fields: Any
    ) -> WorkflowHandle[Any, Totals]:
        """Start a run, as Temporal's scheduler does."""
        return await self.engine.client.start_workflow(
            SCHEDULED_OPERATION_WORKFLOW,
            ScheduledRequest(schedule_id=schedule.uuid, **fields),
            id=ident or f"{schedule.temporal_id}-{new_uuid()}",
            task_queue=self.engine.settings.task_queue,
            result_type=Totals,
        )

    async def run(self, schedule: Schedule, **fields: Any) -> Totals:
        """Run a schedule once, to the end."""
        handle = await self.start(schedule, **fields)
        return await asyncio.wait_for(handle.result(), 60)

    async def outcomes(
        self, schedule: Schedule, state: RunState | None = None
    ) -> list[ScheduleRun]:
        return await self.engine.store.schedule_runs.list(schedule.uuid, Page(1000), state=state)

    async def outcome(self, schedule: Schedule) -> ScheduleRun:
        (only,) = await self.outcomes(schedule)
        return only

    async def until(
        self,
        schedule: Schedule,
        condition: Callable[[list[ScheduleRun]], bool],
        seconds: float = 30,
    ) -> list[ScheduleRun]:
        """Wait until the outcomes are as wished."""
        async with asyncio.timeout(seconds):
            while True:
                found = await self.outcomes(schedule)
                if condition(found):
                    return found
                await asyncio.sleep(0.1)

    async def operations(self, schedule: Schedule) -> list[Operation]:
        """Return the operations that a schedule has started."""
        found = [
            await self.engine.store.operations.get(one.operation_id)
            for one in await self.outcomes(schedule)
            if one.operation_id
        ]
        assert all(one.schedule_id == schedule.uuid for one in found)
        return found
