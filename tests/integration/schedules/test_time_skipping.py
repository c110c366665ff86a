"""Scheduled runs over hours and days, on a Temporal server that skips idle time.

Time skipping gives each workflow a clock of its own; Temporal's schedules keep the real one. So the
runs are started as the scheduler starts them, and what is skipped is their waiting.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from jeroboam import temporal
from jeroboam.models import OperationKind, utc_now
from jeroboam.models.maintenance import MaintenanceWindow
from jeroboam.models.schedule import RunState, Selector
from jeroboam.models.scheduled_wire import Totals
from jeroboam.workflows.schedule_client import ScheduleClient
from tests.conftest import TEMPORAL
from tests.integration.engine import running_engine
from tests.integration.schedules.scheduling import Scheduling, window_in

SKIPPING = ["--dynamic-config-value", "frontend.WorkflowTimeSkippingEnabled=true"]


@pytest.fixture(scope="module")
async def scheduling(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Scheduling]:
    directory = tmp_path_factory.mktemp("skipping")
    environment = await WorkflowEnvironment.start_time_skipping_v2(
        dev_server_existing_path=str(TEMPORAL),
        dev_server_extra_args=SKIPPING,
        data_converter=pydantic_data_converter,
    )
    async with environment:
        await temporal.register_search_attributes(environment.client)
        async with running_engine(environment.client, directory) as engine:
            client = ScheduleClient(engine.client, engine.store, engine.settings)
            yield Scheduling(engine, client)
    shutil.rmtree(directory, ignore_errors=True)


async def test_waits_for_the_window(scheduling: Scheduling) -> None:
    """A run outside the window waits for hours until it opens, and starts then."""
    cluster = await scheduling.cluster()
    window = window_in(timedelta(hours=7))
    await scheduling.engine.store.maintenance.put(cluster.uuid, window)
    schedule = await scheduling.add(cluster_id=cluster.uuid, wait_minutes=12 * 60)
    began = utc_now()
    handle = await scheduling.start(schedule)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1)
    assert utc_now() - began < timedelta(minutes=2)
    times = [event.event_time.ToDatetime(UTC) async for event in handle.fetch_history_events()]
    waited = max(times) - min(times)
    assert timedelta(hours=6, minutes=58) < waited < timedelta(hours=7, minutes=10)


async def test_windows_of_many_clusters(scheduling: Scheduling) -> None:
    """Each cluster starts in its own window, the earliest first, whatever the others wait for."""
    specs = await scheduling.clusters(3, group="windows")
    for spec, hours in zip(specs, (9, 3, 6), strict=True):
        window = window_in(timedelta(hours=hours))
        await scheduling.engine.store.maintenance.put(spec.cluster.uuid, window)
    schedule = await scheduling.add(
        selector=Selector(labels={"group": "windows"}), wait_minutes=24 * 60, max_parallel=1
    )
    assert await scheduling.run(schedule) == Totals(succeeded=3)
    operations = sorted(await scheduling.operations(schedule), key=lambda one: one.created_at)
    order = [specs[n].cluster.uuid for n in (1, 2, 0)]
    assert [one.cluster_id for one in operations] == order


async def test_days(scheduling: Scheduling) -> None:
    """A window that opens only in days is waited for, if the schedule says so."""
    cluster = await scheduling.cluster()
    day = (utc_now() + timedelta(days=4)).strftime("%a").lower()
    window = MaintenanceWindow(days=(day,), start="03:00", duration_minutes=60)
    await scheduling.engine.store.maintenance.put(cluster.uuid, window)
    schedule = await scheduling.add(cluster_id=cluster.uuid, wait_minutes=6 * 24 * 60)
    handle = await scheduling.start(schedule)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=1)
    times = [event.event_time.ToDatetime(UTC) async for event in handle.fetch_history_events()]
    assert max(times) - min(times) > timedelta(days=3)
    opened: datetime = max(times)
    assert (opened.hour, opened.strftime("%a").lower()) == (3, day)


async def test_busy_for_long(scheduling: Scheduling) -> None:
    """A cluster that stays busy is asked for less and less often, and given up in the end."""
    cluster = await scheduling.cluster(fake_lie="reboot")
    operation = scheduling.engine.operation(cluster, OperationKind.SOFT_REBOOT)
    await scheduling.engine.store.operations.accept(operation)
    schedule = await scheduling.add(cluster_id=cluster.uuid, wait_minutes=60)
    handle = await scheduling.start(schedule)
    assert await asyncio.wait_for(handle.result(), 120) == Totals(skipped=1)
    outcome = await scheduling.outcome(schedule)
    assert outcome.state is RunState.SKIPPED
    assert "It was waited for, 60 minutes." in str(outcome.reason)
    history = await handle.fetch_history()
    assert len(history.events) < 300
