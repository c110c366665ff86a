"""Renewal of certificates in time, by a schedule of the service's own."""

from datetime import timedelta

from sqlalchemy import update

from jeroboam.models import OperationKind, utc_now
from jeroboam.models.schedule import RunState, Schedule
from jeroboam.models.scheduled_wire import Totals
from jeroboam.renewal import NAME, OWNER, ensure_renewal
from jeroboam.settings import Settings
from jeroboam.store.query import execute
from jeroboam.store.tables import ClusterCertificateRow
from tests.integration.schedules.scheduling import Scheduling, window_in


async def ensured(scheduling: Scheduling, days: int) -> Schedule | None:
    """Return the schedule after several workers have started with a setting."""
    store = scheduling.engine.store
    for _ in range(2):
        await ensure_renewal(store, Settings(certificate_renewal_days=days))
    return await store.schedules.named(OWNER, NAME)


async def ends_in(scheduling: Scheduling, cluster: str, days: int) -> None:
    """Let a cluster's authorities end some day, as far as the database tells."""
    table = ClusterCertificateRow
    soon = update(table).where(table.cluster_id == cluster)
    statement = soon.values(not_after=utc_now() + timedelta(days=days))
    await scheduling.engine.store._database.write(execute, statement)


async def test_only_what_ends_soon_is_renewed(scheduling: Scheduling) -> None:
    """Once: with new authorities a cluster is not chosen again."""
    labels = {"fake_group_seconds": "0.1"}
    soon, later, never = await scheduling.clusters(3, **labels)
    await ends_in(scheduling, soon.cluster.uuid, 10)
    await ends_in(scheduling, later.cluster.uuid, 40)
    schedule = await ensured(scheduling, 30)
    assert schedule
    assert await scheduling.run(schedule) == Totals(succeeded=1)
    (operation,) = await scheduling.operations(schedule)
    assert operation.kind is OperationKind.ROTATE_CA
    assert operation.cluster_id == soon.cluster.uuid
    assert await scheduling.run(schedule) == Totals()
    longer = await ensured(scheduling, 60)
    assert longer
    assert longer.uuid == schedule.uuid
    assert await scheduling.run(longer) == Totals(succeeded=1)
    renewed = {one.cluster_id for one in await scheduling.operations(longer)}
    assert renewed == {soon.cluster.uuid, later.cluster.uuid}
    assert never.cluster.uuid not in renewed


async def test_it_waits_for_maintenance_windows(scheduling: Scheduling) -> None:
    """A cluster outside its window waits; the schedule is as any other."""
    spec = (await scheduling.clusters(1))[0]
    await ends_in(scheduling, spec.cluster.uuid, 1)
    schedule = await ensured(scheduling, 2)
    assert schedule
    assert (schedule.max_parallel, schedule.wait_minutes) == (2, 24 * 60)
    window = window_in(timedelta(hours=3))
    await scheduling.engine.store.maintenance.put(spec.cluster.uuid, window)
    handle = await scheduling.start(schedule)
    mine = spec.cluster.uuid
    found = await scheduling.until(
        schedule, lambda runs: any(one.cluster_id == mine for one in runs)
    )
    assert [one.state for one in found if one.cluster_id == mine] == [RunState.WAITING]
    await handle.cancel()


async def test_it_can_be_switched_off_and_on(scheduling: Scheduling) -> None:
    """The setting 0 removes the schedule; another number brings it back, and a pause stays."""
    assert await ensured(scheduling, 0) is None
    schedule = await ensured(scheduling, 90)
    assert schedule
    await scheduling.change(schedule, paused=True)
    again = await ensured(scheduling, 120)
    assert again
    assert again.paused
    assert again.selector
    assert again.selector.certificates_end_within_days == 120
