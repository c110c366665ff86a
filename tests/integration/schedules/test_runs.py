"""Runs of schedules: on which clusters, how many at a time, and what is written of them."""

import asyncio

from jeroboam.models import (
    OperationKind,
    Parameters,
    Status,
    new_uuid,
)
from jeroboam.models.schedule import RunState, Selector
from jeroboam.models.scheduled_wire import Totals
from tests.integration.schedules.scheduling import Scheduling


async def test_selector(scheduling: Scheduling) -> None:
    """A selector means the clusters that fit when the run begins, and no others."""
    chosen = await scheduling.clusters(2, team="a", tier="test")
    await scheduling.clusters(1, team="b", tier="test")
    schedule = await scheduling.add(
        selector=Selector(project_id="p1", driver="fake", labels={"team": "a", "tier": "test"})
    )
    assert await scheduling.run(schedule) == Totals(succeeded=2)
    found = await scheduling.outcomes(schedule)
    assert {one.cluster_id for one in found} == {spec.cluster.uuid for spec in chosen}
    assert {one.state for one in found} == {RunState.SUCCEEDED}


async def test_nothing_fits(scheduling: Scheduling) -> None:
    """A run that finds no clusters says so."""
    schedule = await scheduling.add(selector=Selector(labels={"team": "nobody"}))
    assert await scheduling.run(schedule) == Totals()
    outcome = await scheduling.outcome(schedule)
    assert outcome.state is RunState.SKIPPED
    assert outcome.reason == "There are none: clusters of label team=nobody."
    assert outcome.cluster_id is None


async def test_so_many_at_a_time(scheduling: Scheduling) -> None:
    """No more clusters are worked on at a time than the schedule allows, and no fewer."""
    await scheduling.clusters(5, group="parallel", fake_reboot_seconds="0.4")
    schedule = await scheduling.add(
        kind=OperationKind.HARD_REBOOT,
        selector=Selector(labels={"group": "parallel"}),
        max_parallel=2,
    )
    assert await scheduling.run(schedule) == Totals(succeeded=5)
    operations = await scheduling.operations(schedule)
    edges = [(one.created_at, 1) for one in operations]
    edges += [(one.ended_at, -1) for one in operations if one.ended_at]
    at_work = most = 0
    for _, change in sorted(edges):
        at_work += change
        most = max(most, at_work)
    assert most == 2


async def test_history_stays_short(scheduling: Scheduling) -> None:
    """A run of many clusters goes on in new histories, and each cluster gets one operation."""
    await scheduling.clusters(6, group="long")
    schedule = await scheduling.add(selector=Selector(labels={"group": "long"}), max_parallel=2)
    handle = await scheduling.start(schedule, events_per_run=25)
    assert await asyncio.wait_for(handle.result(), 60) == Totals(succeeded=6)
    found = await scheduling.outcomes(schedule)
    assert len({one.cluster_id for one in found}) == len(found) == 6
    query = f"WorkflowId = '{handle.id}' AND ExecutionStatus = 'ContinuedAsNew'"
    await asyncio.sleep(1)
    parts = [one async for one in scheduling.engine.client.list_workflows(query)]
    assert len(parts) >= 2
    for part in parts:
        described = await scheduling.engine.client.get_workflow_handle(
            part.id, run_id=part.run_id
        ).describe()
        assert described.history_length < 80


async def test_failure(scheduling: Scheduling) -> None:
    """An operation that fails is an outcome with its reason, and the others go on."""
    labels = {"fake_fail": "reboot", "fake_fail_reason": "The rack is on fire."}
    await scheduling.clusters(1, group="mixed", **labels)
    await scheduling.clusters(1, group="mixed")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT, selector=Selector(labels={"group": "mixed"})
    )
    assert await scheduling.run(schedule) == Totals(succeeded=1, failed=1)
    (failed,) = await scheduling.outcomes(schedule, RunState.FAILED)
    assert "The rack is on fire." in str(failed.reason)


async def test_cluster_that_cannot(scheduling: Scheduling) -> None:
    """What the driver refuses is left out with the driver's reason, before anything is begun."""
    cluster = await scheduling.cluster()
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT,
        cluster_id=cluster.uuid,
        parameters=Parameters(node_groups=("no-such-group",)),
    )
    assert await scheduling.run(schedule) == Totals(skipped=1)
    assert "no-such-group" in str((await scheduling.outcome(schedule)).reason)
    operations = await scheduling.engine.store.operations.active(cluster.uuid)
    assert operations == []


async def test_groups_by_name(scheduling: Scheduling) -> None:
    """A group's name stands for the group of that name in each cluster."""
    await scheduling.clusters(2, group="named")
    schedule = await scheduling.add(
        kind=OperationKind.SOFT_REBOOT,
        selector=Selector(labels={"group": "named"}),
        parameters=Parameters(node_groups=("default-worker",)),
    )
    assert await scheduling.run(schedule) == Totals(succeeded=2)
    for operation in await scheduling.operations(schedule):
        spec = await scheduling.engine.store.clusters.spec(operation.cluster_id)
        assert operation.parameters.node_groups == (spec.group("default-worker").uuid,)


async def test_failed_cluster(scheduling: Scheduling) -> None:
    """A cluster that was never complete is left out."""
    spec = await scheduling.engine.create(labels={"fake_fail": "create"})
    assert (await scheduling.engine.settled(spec)).status is Status.CREATE_FAILED
    schedule = await scheduling.add(kind=OperationKind.REBUILD, cluster_id=spec.cluster.uuid)
    assert await scheduling.run(schedule) == Totals(skipped=1)
    assert "was never complete" in str((await scheduling.outcome(schedule)).reason)


async def test_upgrade(scheduling: Scheduling) -> None:
    """An upgrade moves clusters to the template; those that have it, or may not, are left out."""
    store = scheduling.engine.store
    specs = await scheduling.clusters(2, group="upgraded")
    target = specs[0].template.model_copy(update={"uuid": new_uuid(), "name": "newer"})
    await store.templates.add(target)
    schedule = await scheduling.add(
        kind=OperationKind.UPGRADE,
        selector=Selector(labels={"group": "upgraded"}),
        parameters=Parameters(cluster_template_id=target.uuid, batch_size=1),
        max_parallel=2,
    )
    assert await scheduling.run(schedule) == Totals(succeeded=2)
    for spec in specs:
        cluster = await scheduling.engine.cluster(spec)
        assert cluster.cluster_template_id == target.uuid
    assert all(one.rollback for one in await scheduling.operations(schedule))
    assert await scheduling.run(schedule) == Totals(skipped=2)
    (first, *_) = await scheduling.outcomes(schedule, RunState.SKIPPED)
    assert first.reason == "The cluster has the template newer already."


async def test_template_for_others(scheduling: Scheduling) -> None:
    """A template of another kind, or of another project, is no target."""
    store = scheduling.engine.store
    (spec,) = await scheduling.clusters(1, group="odd")
    swarm = spec.template.model_copy(update={"uuid": new_uuid(), "name": "s", "coe": "swarm"})
    foreign = spec.template.model_copy(update={"uuid": new_uuid(), "project_id": "p2"})
    for template, complaint in ((swarm, "engine is swarm"), (foreign, "not be found")):
        await store.templates.add(template)
        schedule = await scheduling.add(
            kind=OperationKind.UPGRADE,
            cluster_id=spec.cluster.uuid,
            parameters=Parameters(cluster_template_id=template.uuid),
        )
        assert await scheduling.run(schedule) == Totals(skipped=1)
        assert complaint in str((await scheduling.outcome(schedule)).reason)


async def test_other_projects_are_left_alone(scheduling: Scheduling) -> None:
    """A schedule without the right to works on no other project's cluster, whatever it selects."""
    spec = await scheduling.engine.create(labels={"group": "theirs"}, project_id="p2")
    await scheduling.engine.settled(spec)
    selector = Selector(labels={"group": "theirs"})
    schedule = await scheduling.add(selector=selector)
    assert await scheduling.run(schedule) == Totals(skipped=1)
    assert "another project's" in str((await scheduling.outcome(schedule)).reason)
    everywhere = await scheduling.add(selector=selector, all_projects=True)
    assert await scheduling.run(everywhere) == Totals(succeeded=1)
    (operation,) = await scheduling.operations(everywhere)
    assert operation.project_id == "p2"


async def test_cluster_is_gone(scheduling: Scheduling) -> None:
    """A schedule whose cluster does not exist any more pauses itself and says why."""
    schedule = await scheduling.add(cluster_id=new_uuid())
    assert await scheduling.run(schedule) == Totals()
    assert "does not exist any more" in str((await scheduling.outcome(schedule)).reason)
    stored = await scheduling.engine.store.schedules.stored(schedule.uuid)
    assert stored
    assert stored.paused
    assert stored.synced_revision == stored.revision
    assert "does not exist any more" in str(stored.note)
