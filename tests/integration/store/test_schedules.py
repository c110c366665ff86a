"""Schedules, their outcomes and maintenance windows, on both databases."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jeroboam.errors import (
    AmbiguousNameError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
    QuotaExceededError,
)
from jeroboam.models import OperationKind, Parameters, new_uuid, utc_now
from jeroboam.models.maintenance import MaintenanceWindow
from jeroboam.models.schedule import (
    Overlap,
    RunState,
    Schedule,
    ScheduleRun,
    Selector,
    WhenBusy,
)
from jeroboam.store import Page, Scope, Store
from tests.integration.store.builders import OTHER, PROJECT, a_transition, stored

EVERYONE, MINE = Scope(None), Scope(PROJECT)


def a_schedule(**changes: Any) -> Schedule:
    values = {
        "name": "nightly",
        "project_id": PROJECT,
        "user_id": "user",
        "kind": OperationKind.SOFT_REBOOT,
        "cron": "0 3 * * *",
        "selector": Selector(),
    }
    return Schedule(**values | changes)


async def added(store: Store, **changes: Any) -> Schedule:
    schedule = a_schedule(**changes)
    await store.schedules.add(schedule, project_limit=100)
    return schedule


async def test_keeps_all_fields(store: Store) -> None:
    """A schedule comes back as it was stored."""
    schedule = await added(
        store,
        parameters=Parameters(node_groups=("a",), batch_size=None),
        selector=Selector(driver="d", labels={"k": "v"}),
        cron=None,
        calendar={"hour": "3", "day_of_week": "sat"},
        time_zone="Europe/Berlin",
        jitter_seconds=5,
        start_at=utc_now(),
        end_at=utc_now() + timedelta(days=1),
        overlap=Overlap.BUFFER_ONE,
        when_busy=WhenBusy.SKIP,
        all_projects=True,
        paused=True,
        note="why",
    )
    found = await store.schedules.get(schedule.uuid, MINE)
    assert found.model_copy(update={"id": None}) == schedule
    assert (await store.schedules.get("nightly", MINE)).uuid == schedule.uuid


async def test_visibility(store: Store) -> None:
    """A project sees its own schedules; names may be the same in several."""
    mine, theirs = await added(store), await added(store, project_id=OTHER)
    with pytest.raises(NotFoundError):
        await store.schedules.get(theirs.uuid, MINE)
    with pytest.raises(AmbiguousNameError):
        await store.schedules.get("nightly", EVERYONE)
    assert [one.uuid for one in await store.schedules.list(MINE, Page(10))] == [mine.uuid]
    assert len(await store.schedules.list(EVERYONE, Page(10))) == 2
    with pytest.raises(InvalidRequestError):
        await store.schedules.list(MINE, Page(10, sort_key="selector"))


async def test_of_one_cluster(store: Store) -> None:
    """The list can be that of one cluster."""
    schedule = await added(store, cluster_id=new_uuid(), selector=None)
    await added(store, name="other")
    found = await store.schedules.list(MINE, Page(10), schedule.cluster_id)
    assert [one.uuid for one in found] == [schedule.uuid]


async def test_names_are_unique(store: Store) -> None:
    """A second schedule of a name is refused, until the first is deleted."""
    first = await added(store)
    with pytest.raises(ConflictError, match="nightly"):
        await added(store)
    await store.schedules.mark_deleted(first.uuid)
    second = await added(store)
    assert await store.schedules.stored(first.uuid) is None
    found = await store.schedules.named(PROJECT, "nightly")
    assert found
    assert found.uuid == second.uuid


async def test_limit_holds_under_races(store: Store) -> None:
    """Of many that are added at once, no more are stored than the project may have."""
    adding = (store.schedules.add(a_schedule(name=f"n{n}"), project_limit=3) for n in range(8))
    outcomes = await asyncio.gather(*adding, return_exceptions=True)
    refused = [one for one in outcomes if one is not None]
    assert len(refused) == 5
    assert all(isinstance(one, QuotaExceededError) for one in refused)
    assert len(await store.schedules.list(MINE, Page(10))) == 3


async def test_change(store: Store) -> None:
    """A change raises the revision; one that was made on an older look is refused."""
    schedule = await added(store)
    changed = await store.schedules.change(schedule.model_copy(update={"paused": True}))
    assert changed.revision == 2
    with pytest.raises(ConflictError, match="just changed"):
        await store.schedules.change(schedule.model_copy(update={"note": "mine"}))
    found = await store.schedules.get(schedule.uuid, MINE)
    assert (found.paused, found.note) == (True, None)
    await store.schedules.mark_deleted(schedule.uuid)
    with pytest.raises(NotFoundError):
        await store.schedules.change(found)
    with pytest.raises(NotFoundError):
        await store.schedules.mark_deleted(schedule.uuid)


async def test_synced(store: Store) -> None:
    """Only the revision that the row has now counts as told."""
    schedule = await added(store)
    await store.schedules.change(schedule)
    await store.schedules.synced(schedule.uuid, 1)
    assert (await store.schedules.get(schedule.uuid, MINE)).synced_revision == 0
    await store.schedules.synced(schedule.uuid, 2)
    assert (await store.schedules.get(schedule.uuid, MINE)).synced_revision == 2


async def test_all_due(store: Store) -> None:
    """Temporal should have what is to come, and be told of what it does not know."""
    now = utc_now()
    ended = await added(store, name="ended", end_at=now - timedelta(hours=1))
    untold = await added(store, name="untold", end_at=now - timedelta(hours=1))
    lasting = await added(store, name="lasting")
    deleted = await added(store, name="deleted")
    for one in (ended, lasting, deleted):
        await store.schedules.synced(one.uuid, 1)
    await store.schedules.mark_deleted(deleted.uuid)
    found = [one.uuid for one in await store.schedules.all_due(now)]
    assert found == [untold.uuid, lasting.uuid, deleted.uuid]


async def test_remove(store: Store) -> None:
    """Only a deleted schedule's row can be removed."""
    schedule = await added(store)
    await store.schedules.remove(schedule.uuid)
    assert await store.schedules.stored(schedule.uuid)
    await store.schedules.mark_deleted(schedule.uuid)
    with pytest.raises(NotFoundError):
        await store.schedules.get(schedule.uuid, EVERYONE)
    await store.schedules.remove(schedule.uuid)
    assert await store.schedules.stored(schedule.uuid) is None


async def test_choose_in_pages(store: Store) -> None:
    """The clusters that fit come in pages, each once, in the order of their making."""
    labels = [{"team": "a", 'odd"key': "x"}, {"team": "b"}, {"team": "a"}, {}]
    specs = [(await stored(store, name=f"c{n}", labels=one))[0] for n, one in enumerate(labels)]
    found, after = [], 0
    while True:
        chosen = await store.schedules.choose(Selector(labels={"team": "a"}), after, 1)
        found += [one.uuid for one in chosen.clusters]
        after = chosen.after
        if chosen.exhausted:
            break
    assert found == [specs[0].cluster.uuid, specs[2].cluster.uuid]
    odd = await store.schedules.choose(Selector(labels={'odd"key': "x"}), 0, 10)
    assert [one.uuid for one in odd.clusters] == [specs[0].cluster.uuid]


@pytest.mark.parametrize(
    ("selector", "count"),
    [
        (Selector(), 2),
        (Selector(project_id=OTHER), 1),
        (Selector(driver="fake"), 2),
        (Selector(driver="heat"), 0),
        (Selector(project_id=PROJECT, driver="fake", labels={"a": "2"}), 1),
        (Selector(labels={"a": "3"}), 0),
    ],
)
async def test_choose(store: Store, selector: Selector, count: int) -> None:
    """All that a selector names must fit."""
    await stored(store)
    await stored(store, project_id=OTHER)
    chosen = await store.schedules.choose(selector, 0, 10)
    assert len(chosen.clusters) == count
    assert chosen.exhausted


def a_run(**changes: Any) -> ScheduleRun:
    values = {
        "uuid": new_uuid(),
        "schedule_id": "s",
        "workflow_id": "w",
        "scheduled_at": utc_now(),
        "cluster_id": "c",
        "state": RunState.WAITING,
        "reason": "busy",
    }
    return ScheduleRun(**values | changes)


async def test_outcome_becomes_final(store: Store) -> None:
    """An outcome is written over until it is final, and never after that."""
    run = a_run()
    await store.schedule_runs.record(run)
    done = {"state": RunState.SUCCEEDED, "reason": None, "operation_id": "o"}
    await store.schedule_runs.record(run.model_copy(update={**done, "ended_at": utc_now()}))
    await store.schedule_runs.record(run.model_copy(update={"reason": "late"}))
    (found,) = await store.schedule_runs.list("s", Page(10))
    assert (found.state, found.reason, found.operation_id) == (RunState.SUCCEEDED, None, "o")
    assert found.created_at == run.created_at


async def test_outcomes_are_listed(store: Store) -> None:
    """Outcomes can be those of one cluster, or of one state."""
    first = a_run()
    second = a_run(cluster_id="d", state=RunState.SKIPPED, ended_at=utc_now())
    for run in (first, second, a_run(schedule_id="other")):
        await store.schedule_runs.record(run)

    async def listed(**filters: Any) -> list[str]:
        found = await store.schedule_runs.list("s", Page(10), **filters)
        return [one.uuid for one in found]

    assert await listed() == [first.uuid, second.uuid]
    assert await listed(cluster_id="d") == [second.uuid]
    assert await listed(state=RunState.WAITING) == [first.uuid]


async def test_forgotten_outcomes(store: Store) -> None:
    """Those that nobody wrote lately are found until somebody looks after them."""
    long_ago = utc_now() - timedelta(hours=1)
    old = a_run(updated_at=long_ago)
    final = a_run(updated_at=long_ago, state=RunState.FAILED, ended_at=long_ago)
    for run in (old, final, a_run()):
        await store.schedule_runs.record(run)
    limit = utc_now() - timedelta(minutes=1)
    assert [one.uuid for one in await store.schedule_runs.forgotten(limit)] == [old.uuid]
    await store.schedule_runs.touch(old.uuid, utc_now())
    assert await store.schedule_runs.forgotten(limit) == []
    assert await store.schedule_runs.prune(limit) == 1
    assert len(await store.schedule_runs.list("s", Page(10))) == 2


async def test_window(store: Store) -> None:
    """A cluster has one window, which is replaced, removed, and goes with the cluster."""
    spec, operation = await stored(store)
    uuid = spec.cluster.uuid
    assert await store.maintenance.get(uuid) is None
    nightly = MaintenanceWindow(days=("sat", "sun"), start="22:00", duration_minutes=60)
    await store.maintenance.put(uuid, nightly)
    assert await store.maintenance.get(uuid) == nightly
    by_cron = MaintenanceWindow(cron="0 1 * * *", duration_minutes=30, time_zone="Asia/Tokyo")
    await store.maintenance.put(uuid, by_cron)
    found = await store.maintenance.get(uuid)
    assert found
    assert (found.days, found.cron, found.created_at) == ((), "0 1 * * *", nightly.created_at)
    assert found.updated_at
    assert await store.maintenance.delete(uuid)
    assert not await store.maintenance.delete(uuid)
    await store.maintenance.put(uuid, nightly)
    await store.operations.apply(a_transition(operation, 1, remove_cluster=True))
    assert await store.maintenance.get(uuid) is None
    with pytest.raises(NotFoundError):
        await store.maintenance.put(uuid, nightly)
