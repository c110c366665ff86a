"""A cluster's life by gRPC: a real client, a real Temporal server, the fake driver."""

import asyncio

import grpc

from jeroboam.api.grpc.v1 import clusters_pb2 as clusters
from jeroboam.api.grpc.v1 import operations_pb2 as operations
from jeroboam.api.grpc.v1.clusters_pb2_grpc import ClustersStub
from jeroboam.api.grpc.v1.operations_pb2_grpc import OperationsStub
from tests.integration.api.test_with_engine import QUICK
from tests.integration.grpc.conftest import Rpc, told


async def template(rpc: Rpc, name: str, **labels: str) -> str:
    made = await rpc.service.template(name=f"for-{name}", labels=QUICK | labels)
    return str(made["uuid"])


async def watched(rpc: Rpc, operation_id: str, after: int = 0) -> list[operations.OperationEvent]:
    """Return all events of an operation."""
    request = operations.WatchOperationRequest(operation_id=operation_id, after_seq=after)
    async with asyncio.timeout(60):
        return [one async for one in rpc.operations.WatchOperation(request, metadata=told())]


async def create(rpc: Rpc, name: str, **labels: str) -> clusters.Accepted:
    request = clusters.CreateClusterRequest(
        name=name, cluster_template_id=await template(rpc, name, **labels), node_count=2
    )
    return await rpc.clusters.CreateCluster(request, metadata=told())


async def test_a_cluster_s_whole_life(live: Rpc) -> None:
    """Each call begins an operation, whose stream ends with its success."""
    stub, by = live.clusters, told()
    created = await create(live, "life")
    uuid = created.cluster_id
    assert (await watched(live, created.operation_id))[-1].state == "SUCCEEDED"

    resize = clusters.ResizeClusterRequest(cluster="life", node_count=3)
    resized = await stub.ResizeCluster(resize, metadata=by)
    assert (await watched(live, resized.operation_id))[-1].state == "SUCCEEDED"
    cluster = await stub.GetCluster(clusters.GetClusterRequest(cluster=uuid), metadata=by)
    assert (cluster.status, cluster.node_count) == ("UPDATE_COMPLETE", 3)
    assert len(cluster.node_addresses) == 3
    assert cluster.created_at.seconds > 0

    newer = await template(live, "newer", fake_version="v1.32.0")
    upgrade = clusters.UpgradeClusterRequest(cluster=uuid, cluster_template=newer)
    rebuild = clusters.RebuildClusterRequest(cluster=uuid, whole_groups=True)
    reboot = clusters.RebootClusterRequest(
        cluster=uuid, type="hard", node_groups=clusters.Names(names=["default-worker"])
    )
    check = clusters.CheckClusterHealthRequest(cluster=uuid)
    for call in (
        lambda: stub.UpgradeCluster(upgrade, metadata=by),
        lambda: stub.RebuildCluster(rebuild, metadata=by),
        lambda: stub.RebootCluster(reboot, metadata=by),
        lambda: stub.CheckClusterHealth(check, metadata=by),
        lambda: stub.DeleteCluster(clusters.DeleteClusterRequest(cluster="life"), metadata=by),
    ):
        accepted = await call()
        assert accepted.cluster_id == uuid
        last = (await watched(live, accepted.operation_id))[-1]
        assert (last.state, last.ended) == ("SUCCEEDED", True), last

    wanted = operations.ListOperationsRequest(cluster=uuid)
    found = await live.operations.ListOperations(wanted, metadata=by)
    assert [one.kind for one in reversed(found.operations)] == [
        *("create", "resize", "upgrade", "rebuild", "hard_reboot", "check_health", "delete")
    ]
    shown = await live.operations.GetOperation(
        operations.GetOperationRequest(operation_id=resized.operation_id), metadata=by
    )
    assert shown.parameters["node_count"] == 3
    assert dict(shown.changes) == {"default-worker.node_count": "2 -> 3"}
    assert [step.name for step in shown.plan.steps] == [step.name for step in shown.steps]


async def test_the_steps_are_told_in_their_order(live: Rpc) -> None:
    """The stream tells of every step once it has ended, in the plan's order, and numbers grow."""
    created = await create(live, "steps", fake_create_seconds="0.5")
    events = await watched(live, created.operation_id)
    record = await live.operations.GetOperation(
        operations.GetOperationRequest(operation_id=created.operation_id), metadata=told()
    )
    done = [one.step.name for one in events if one.step.state == "SUCCEEDED"]
    assert done == [step.name for step in record.steps]
    numbers = [one.seq for one in events]
    assert numbers == sorted(numbers)
    assert numbers[-1] == record.seq
    assert [one.ended for one in events] == [False] * (len(events) - 1) + [True]
    # While the backend works there is something to see.
    assert "RUNNING" in {one.step.state for one in events}


async def test_a_stream_goes_on_where_it_broke(live: Rpc) -> None:
    """From any event on the rest of the stream tells of all steps that changed after it."""
    created = await create(live, "broken")
    events = await watched(live, created.operation_id)
    last = {one.step.name: one.step.seq for one in events if one.HasField("step")}
    for seen, event in enumerate(events[:-1]):
        rest = await watched(live, created.operation_id, event.seq)
        told_later = {one.step.name for one in rest if one.HasField("step")}
        before = {one.step.name for one in events[: seen + 1] if one.step.state == "SUCCEEDED"}
        assert told_later >= set(last) - before
        assert all(one.step.seq > event.seq for one in rest if one.HasField("step"))
        assert rest[-1].ended
    assert len(await watched(live, created.operation_id, events[-1].seq)) == 1


async def test_a_failure_is_told_and_taken_up_again(live: Rpc) -> None:
    """The last event has the reason; a retry is watched from there."""
    accepted = await create(live, "failing", fake_fail="create", fake_fail_times="1")
    last = (await watched(live, accepted.operation_id))[-1]
    assert last.state == "FAILED"
    assert "Injected fault" in last.reason
    retry = operations.RetryOperationRequest(operation_id=accepted.operation_id)
    answer = await live.operations.RetryOperation(retry, metadata=told())
    assert answer.cluster_id == accepted.cluster_id
    assert answer.message
    events = await watched(live, accepted.operation_id, last.seq)
    assert events[-1].state == "SUCCEEDED"
    assert events[-1].seq > last.seq


async def test_a_cancelled_operation_is_resumed(live: Rpc) -> None:
    """The answer says what happens, and the record why."""
    created = await create(live, "cancelled", fake_reboot_seconds="1")
    await watched(live, created.operation_id)
    reboot = clusters.RebootClusterRequest(cluster=created.cluster_id, type="soft")
    accepted = await live.clusters.RebootCluster(reboot, metadata=told())
    request = operations.WatchOperationRequest(operation_id=accepted.operation_id)
    stream = live.operations.WatchOperation(request, metadata=told())
    async for event in stream:
        if event.step.state == "RUNNING":
            break
    stream.cancel()
    cancel = operations.CancelOperationRequest(operation_id=accepted.operation_id, reason="not now")
    assert (await live.operations.CancelOperation(cancel, metadata=told())).message
    last = (await watched(live, accepted.operation_id))[-1]
    assert last.state == "CANCELLED"
    assert "not now" in last.reason
    resume = operations.ResumeOperationRequest(operation_id=accepted.operation_id)
    await live.operations.ResumeOperation(resume, metadata=told())
    assert (await watched(live, accepted.operation_id, last.seq))[-1].state == "SUCCEEDED"


async def test_a_cluster_is_watched_to_its_end(live: Rpc) -> None:
    """One stream tells of a create, of the delete that takes over, and that the cluster is gone."""
    created = await create(live, "watched", fake_create_seconds="30")
    request = clusters.WatchClusterRequest(cluster="watched")
    events: list[clusters.ClusterEvent] = []
    async with asyncio.timeout(60):
        async for event in live.clusters.WatchCluster(request, metadata=told()):
            events.append(event)
            if event.operation.step.state == "RUNNING" and len(events) < 20:
                delete = clusters.DeleteClusterRequest(cluster=created.cluster_id)
                await live.clusters.DeleteCluster(delete, metadata=told())
    assert events[0].cluster.status == "CREATE_IN_PROGRESS"
    assert events[-1].gone
    ends = [one.operation for one in events if one.operation.ended]
    assert [(one.kind, one.state) for one in ends] == [
        ("create", "CANCELLED"),
        ("delete", "SUCCEEDED"),
    ]
    assert "DELETE_IN_PROGRESS" in {one.cluster.status for one in events}


async def test_a_stream_ends_when_the_cluster_is_idle(live: Rpc) -> None:
    """Who wants it so is told until nothing is at work; on an idle cluster, how it is."""
    created = await create(live, "idle")
    request = clusters.WatchClusterRequest(cluster="idle", until_idle=True)
    async with asyncio.timeout(60):
        events = [one async for one in live.clusters.WatchCluster(request, metadata=told())]
        again = [one async for one in live.clusters.WatchCluster(request, metadata=told())]
    ends = [one.operation.operation_id for one in events if one.operation.ended]
    assert ends == [created.operation_id]
    assert [one.cluster.status for one in again] == ["CREATE_COMPLETE"]


async def test_the_synchronous_client(live: Rpc) -> None:
    """A program without asyncio creates, watches and deletes a cluster in the same way."""
    made = await template(live, "plain")

    def program() -> list[str]:
        with grpc.insecure_channel(live.address) as channel:
            clusters_stub, operations_stub = ClustersStub(channel), OperationsStub(channel)
            request = clusters.CreateClusterRequest(name="plain", cluster_template_id=made)
            accepted = clusters_stub.CreateCluster(request, metadata=told(), timeout=30)
            watch = operations.WatchOperationRequest(operation_id=accepted.operation_id)
            ends = [list(operations_stub.WatchOperation(watch, metadata=told(), timeout=60))[-1]]
            delete = clusters.DeleteClusterRequest(cluster=accepted.cluster_id)
            accepted = clusters_stub.DeleteCluster(delete, metadata=told(), timeout=30)
            watch = operations.WatchOperationRequest(operation_id=accepted.operation_id)
            ends += list(operations_stub.WatchOperation(watch, metadata=told(), timeout=60))[-1:]
            return [one.state for one in ends]

    assert await asyncio.to_thread(program) == ["SUCCEEDED", "SUCCEEDED"]
