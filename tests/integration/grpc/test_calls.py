"""What calls are answered that are wrong, forbidden, or too many."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import pytest
from grpc import StatusCode
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from jeroboam.api.grpc.v1 import clusters_pb2 as clusters
from jeroboam.api.grpc.v1 import operations_pb2 as operations
from jeroboam.errors import CloudUnavailableError
from jeroboam.models import new_uuid
from tests.integration.grpc.conftest import Rpc, answering, told

Call = Callable[[], Awaitable[Any]]


async def refused(call: Awaitable[Any]) -> grpc.aio.AioRpcError:
    """Return the error that a call ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return caught.value


async def listed(stream: Any) -> list[Any]:
    """Return what is left of a stream, as often as one reads from it by hand."""
    found = []
    while (one := await stream.read()) is not grpc.aio.EOF:
        found.append(one)
    return found


def trailing(error: grpc.aio.AioRpcError) -> dict[str, str]:
    return {key: str(value) for key, value in error.trailing_metadata()}


async def test_without_a_token(rpc: Rpc) -> None:
    """No method of ours answers without a token, or with one that Keystone does not know."""
    request = clusters.ListClustersRequest()
    for metadata in (told(None), told("forged"), (("authorization", "Basic bWU6bWU="),)):
        error = await refused(rpc.clusters.ListClusters(request, metadata=metadata))
        assert error.code() is StatusCode.UNAUTHENTICATED
        assert error.details() == "The request you have made requires authentication."


async def test_a_bearer_s_token(rpc: Rpc) -> None:
    """The token may be in the header that other gRPC services use."""
    await rpc.service.built()
    metadata = (("authorization", "Bearer member-token"),)
    found = await rpc.clusters.ListClusters(clusters.ListClustersRequest(), metadata=metadata)
    assert [one.name for one in found.clusters] == ["mine"]


async def test_identity_headers_gain_nothing(rpc: Rpc) -> None:
    """Who claims to be an administrator in metadata is who the token says."""
    await rpc.service.built()
    claimed = {"x-roles": "admin", "x-project-id": "1" * 32, "x-identity-status": "Confirmed"}
    metadata = told("stranger-token", **claimed)
    found = await rpc.clusters.ListClusters(clusters.ListClustersRequest(), metadata=metadata)
    assert list(found.clusters) == []


BAD: dict[str, tuple[Any, str]] = {
    "no template": (
        clusters.CreateClusterRequest(name="mine"),
        "cluster_template_id. Mandatory field missing",
    ),
    "no name": (
        clusters.CreateClusterRequest(name="-", cluster_template_id="small"),
        "Invalid input for field/attribute name",
    ),
    "negative": (
        clusters.CreateClusterRequest(cluster_template_id="small", node_count=-1),
        "greater than or equal to 0",
    ),
    "no count": (clusters.ResizeClusterRequest(cluster="mine"), "node_count. Mandatory field"),
    "reboot how": (
        clusters.RebootClusterRequest(cluster="mine", type="gently"),
        "'soft' or 'hard'",
    ),
    "no nodes": (
        clusters.RebuildClusterRequest(cluster="mine", nodes=clusters.Names()),
        "at least 1 item",
    ),
    "no such node": (
        clusters.RebuildClusterRequest(cluster="mine", nodes=clusters.Names(names=["x"])),
        "No such node",
    ),
    "no batch": (clusters.RebuildClusterRequest(cluster="mine", batch_size=0), "batch_size"),
    "another route": (
        clusters.DeleteClusterRequest(cluster="mine/nodegroups/default-worker"),
        "cluster must be a uuid or a name",
    ),
    "up": (clusters.GetClusterRequest(cluster="../clustertemplates/small"), "must be a uuid"),
    "a list": (clusters.GetClusterRequest(cluster="detail"), "must be a uuid or a name"),
    "nobody": (clusters.GetClusterRequest(), "must be a uuid or a name"),
    "page": (clusters.ListClustersRequest(page_size=-1), "Limit must be positive"),
    "marker": (clusters.ListClustersRequest(page_token="x"), "Expected a uuid"),
    "kind": (operations.ListOperationsRequest(kinds=["dance"]), "Unknown kind 'dance'"),
    "operation": (operations.GetOperationRequest(operation_id="a/b"), "operation_id must be"),
}


def method(rpc: Rpc, request: Any) -> Any:
    """Return the method that takes a request, which is named for it."""
    name = type(request).__name__.removesuffix("Request")
    return getattr(rpc.operations if "Operation" in name else rpc.clusters, name)


@pytest.mark.parametrize("name", BAD)
async def test_bad_input(rpc: Rpc, name: str) -> None:
    """What can never succeed is refused with the sentence that the HTTP API has for it."""
    request, sentence = BAD[name]
    await rpc.service.built()
    before = await rpc.service.everything()
    error = await refused(method(rpc, request)(request, metadata=told()))
    assert error.code() is StatusCode.INVALID_ARGUMENT, error
    assert sentence in (error.details() or "")
    assert await rpc.service.everything() == before


async def test_a_number_out_of_its_group_s_bounds(rpc: Rpc) -> None:
    """The rules of the HTTP API hold; nothing is begun."""
    uuid = await rpc.service.built()
    body = {"name": "extra", "node_count": 1, "max_node_count": 2}
    path = f"/v1/clusters/{uuid}/nodegroups"
    await rpc.service.call("POST", path, json=body)
    await rpc.service.finish(uuid)
    request = clusters.ResizeClusterRequest(cluster=uuid, nodegroup="extra", node_count=3)
    error = await refused(rpc.clusters.ResizeCluster(request, metadata=told()))
    assert error.code() is StatusCode.INVALID_ARGUMENT
    assert "outside the allowed range" in (error.details() or "")


async def test_a_dry_run_changes_nothing(rpc: Rpc) -> None:
    """It answers with the plan; the database stays as it was."""
    uuid = await rpc.service.built()
    before = await rpc.service.everything()
    requests: list[Any] = [
        clusters.ResizeClusterRequest(cluster=uuid, node_count=5, dry_run=True),
        clusters.RebuildClusterRequest(cluster=uuid, dry_run=True),
        clusters.DeleteClusterRequest(cluster="mine", dry_run=True),
        clusters.CreateClusterRequest(name="b", cluster_template_id="small", dry_run=True),
    ]
    for request in requests:
        answer = await method(rpc, request)(request, metadata=told())
        assert answer.plan.steps
        assert not answer.operation_id
    assert await rpc.service.everything() == before


async def test_a_busy_cluster(rpc: Rpc) -> None:
    """The second one is told to try again, by whom it was beaten, and which request it was."""
    uuid = await rpc.service.built()
    resize = clusters.ResizeClusterRequest(cluster=uuid, node_count=2)
    first = await rpc.clusters.ResizeCluster(resize, metadata=told())
    error = await refused(rpc.clusters.ResizeCluster(resize, metadata=told()))
    assert error.code() is StatusCode.ABORTED
    assert trailing(error)["jeroboam-operation"] == first.operation_id
    assert trailing(error)["x-openstack-request-id"].startswith("req-")


async def test_a_status_that_forbids_it(rpc: Rpc) -> None:
    """A cluster that was never built cannot be resized; trying again would not help."""
    template = await rpc.service.template()
    uuid = await rpc.service.cluster(template["uuid"])
    await rpc.service.fail(uuid)
    resize = clusters.ResizeClusterRequest(cluster=uuid, node_count=2)
    error = await refused(rpc.clusters.ResizeCluster(resize, metadata=told()))
    assert error.code() is StatusCode.FAILED_PRECONDITION
    assert "never complete" in (error.details() or "")


async def test_a_full_quota(rpc: Rpc) -> None:
    """It is no question of permission."""
    template = (await rpc.service.template())["uuid"]
    request = clusters.CreateClusterRequest(cluster_template_id=template)
    for _ in range(3):
        await rpc.clusters.CreateCluster(request, metadata=told())
    error = await refused(rpc.clusters.CreateCluster(request, metadata=told()))
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    assert "maximum clusters per project" in (error.details() or "")


async def test_a_cloud_that_is_away(rpc: Rpc) -> None:
    """The caller may try again; and a defect tells nothing of itself."""
    template = (await rpc.service.template())["uuid"]
    request = clusters.CreateClusterRequest(cluster_template_id=template)
    rpc.service.cloud.down = True
    error = await refused(rpc.clusters.CreateCluster(request, metadata=told()))
    assert error.code() is StatusCode.UNAVAILABLE
    rpc.service.cloud.down = False
    rpc.service.operations.error = CloudUnavailableError("Temporal does not answer.")
    error = await refused(rpc.clusters.CreateCluster(request, metadata=told()))
    assert error.code() is StatusCode.UNAVAILABLE
    rpc.service.operations.error = RuntimeError("a secret")
    error = await refused(rpc.clusters.CreateCluster(request, metadata=told()))
    assert error.code() is StatusCode.INTERNAL
    assert "secret" not in (error.details() or "")


async def test_pages(rpc: Rpc) -> None:
    """The token of a page leads to the next one, until there is none."""
    template = (await rpc.service.template())["uuid"]
    for name in ("a", "b", "c"):
        await rpc.service.cluster(template, name=name)
    names, token = [], ""
    while True:
        request = clusters.ListClustersRequest(page_size=2, page_token=token)
        page = await rpc.clusters.ListClusters(request, metadata=told())
        names.append([one.name for one in page.clusters])
        token = page.next_page_token
        if not token:
            break
    assert names == [["a", "b"], ["c"]]
    request = clusters.ListClustersRequest(sort_key="name", sort_dir="desc")
    page = await rpc.clusters.ListClusters(request, metadata=told())
    assert [one.name for one in page.clusters] == ["c", "b", "a"]


async def test_the_request_s_id_is_the_caller_s(rpc: Rpc) -> None:
    """A caller's request id goes into the record and comes back."""
    template = (await rpc.service.template())["uuid"]
    mine = f"req-{new_uuid()}"
    request = clusters.CreateClusterRequest(cluster_template_id=template)
    metadata = told(**{"x-openstack-request-id": mine})
    call = rpc.clusters.CreateCluster(request, metadata=metadata)
    accepted = await call
    assert dict(await call.trailing_metadata())["x-openstack-request-id"] == mine
    wanted = operations.GetOperationRequest(operation_id=accepted.operation_id)
    record = await rpc.operations.GetOperation(wanted, metadata=told())
    assert record.request_id == mine


async def test_a_message_that_is_too_large(rpc: Rpc) -> None:
    """It is refused before anything reads it, and the server goes on."""
    request = clusters.CreateClusterRequest(labels={"x": "y" * (2 << 20)})
    error = await refused(rpc.clusters.CreateCluster(request, metadata=told()))
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    assert await rpc.clusters.ListClusters(clusters.ListClustersRequest(), metadata=told())


async def test_a_create_is_sent_twice(rpc: Rpc) -> None:
    """With a key of its own it makes one cluster."""
    template = (await rpc.service.template())["uuid"]
    request = clusters.CreateClusterRequest(cluster_template_id=template, request_key="mine")
    answers = [await rpc.clusters.CreateCluster(request, metadata=told()) for _ in range(2)]
    assert answers[0] == answers[1]
    assert len((await rpc.service.everything())["clusters"]) == 1


async def test_a_caller_that_leaves(rpc: Rpc) -> None:
    """What was begun for it comes to its end: a cluster that is stored is started too."""
    template = (await rpc.service.template())["uuid"]
    request = clusters.CreateClusterRequest(name="left", cluster_template_id=template)
    calls = [rpc.clusters.CreateCluster(request, metadata=told()) for _ in range(3)]
    for number, call in enumerate(calls):
        await asyncio.sleep(0.003 * number)
        call.cancel()
    await rpc.server.stop()
    stored = (await rpc.service.everything())["clusters"]
    assert len(stored) == len(rpc.service.operations.started)


async def test_streams_of_one_user_are_bounded(rpc: Rpc) -> None:
    """One more than the most is refused; one that has ended makes room."""
    uuid = await rpc.service.built()
    request = clusters.WatchClusterRequest(cluster=uuid)
    streams: list[Any] = [rpc.clusters.WatchCluster(request, metadata=told()) for _ in range(20)]
    for stream in streams:
        assert (await stream.read()).cluster.uuid == uuid
    error = await refused(listed(rpc.clusters.WatchCluster(request, metadata=told())))
    assert error.code() is StatusCode.RESOURCE_EXHAUSTED
    other: Any = rpc.clusters.WatchCluster(request, metadata=told("colleague-token"))
    assert (await other.read()).cluster.uuid == uuid
    streams[0].cancel()
    async with asyncio.timeout(10):
        while True:
            another: Any = rpc.clusters.WatchCluster(request, metadata=told())
            try:
                assert (await another.read()).cluster.uuid == uuid
                break
            except grpc.aio.AioRpcError:
                await asyncio.sleep(0.05)
    for stream in (*streams, other, another):
        stream.cancel()


async def test_a_revoked_token_ends_the_stream(rpc: Rpc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights are looked at with every look."""
    from tests.integration.api import cloud

    uuid = await rpc.service.built()
    stream: Any = rpc.clusters.WatchCluster(
        clusters.WatchClusterRequest(cluster=uuid), metadata=told("colleague-token")
    )
    assert (await stream.read()).cluster.uuid == uuid
    monkeypatch.delitem(cloud.PEOPLE, "colleague-token")
    error = await refused(asyncio.wait_for(listed(stream), 10))
    assert error.code() is StatusCode.UNAUTHENTICATED


async def test_a_stop_ends_streams_at_once(rpc: Rpc) -> None:
    """Who watches is told to come again; health says that it stops."""
    uuid = await rpc.service.built()
    stub: Any = health_pb2_grpc.HealthStub(rpc.channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service="jeroboam.v1.Clusters"))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    stream: Any = rpc.clusters.WatchCluster(
        clusters.WatchClusterRequest(cluster=uuid), metadata=told()
    )
    assert (await stream.read()).cluster.uuid == uuid
    started = asyncio.get_running_loop().time()
    _, error = await asyncio.gather(rpc.server.stop(), refused(listed(stream)))
    assert error.code() is StatusCode.UNAVAILABLE
    assert asyncio.get_running_loop().time() - started < 1.5


async def test_reflection(rpc: Rpc) -> None:
    """A client without our files learns the services, their methods and their messages."""

    def learn() -> tuple[list[str], list[str]]:
        with grpc.insecure_channel(rpc.address) as channel:
            database = ProtoReflectionDescriptorDatabase(channel)
            services = list(database.get_services())
            file = database.FindFileContainingSymbol("jeroboam.v1.Clusters")
            return services, [method.name for method in file.service[0].method]

    services, methods = await asyncio.to_thread(learn)
    assert {"jeroboam.v1.Clusters", "jeroboam.v1.Operations"} <= set(services)
    assert {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"} <= set(services)
    assert "WatchCluster" in methods


async def test_a_port_that_is_taken(rpc: Rpc) -> None:
    """A second server does not share the port: it says what to set."""
    from jeroboam.errors import ConfigurationError

    port = int(rpc.address.rpartition(":")[2])
    with pytest.raises(ConfigurationError, match="JEROBOAM_GRPC_PORT"):
        async with answering(rpc.service) as second:
            await second.server.start(port)
