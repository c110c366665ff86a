"""The service ``jeroboam.v1.Clusters``."""

from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from google.protobuf.message import Message

from jeroboam.api.grpc import messages
from jeroboam.api.grpc.calls import Calls, Context
from jeroboam.api.grpc.door import Request
from jeroboam.api.grpc.v1 import clusters_pb2 as wire
from jeroboam.api.grpc.v1 import clusters_pb2_grpc as stubs
from jeroboam.api.grpc.watching import Watching
from jeroboam.api.http.answers import OPERATION_HEADER

NodeWork = wire.RebuildClusterRequest | wire.RebootClusterRequest

CLUSTERS = "/v1/clusters"
REQUEST_KEY = "idempotency-key"


def cluster_path(ident: str, *more: str) -> str:
    """Return the path of a cluster."""
    return _path(CLUSTERS, ident, *more)


def _path(collection: str, ident: str, *more: str) -> str:
    return "/".join((collection, messages.segment("cluster", ident), *more))


class ClustersService(stubs.ClustersServicer):
    """Answers calls about clusters.

    Args:
        calls: Passes them on.
        watching: Tells of changes.
    """

    def __init__(self, calls: Calls, watching: Watching) -> None:
        self._calls = calls
        self._watching = watching

    async def CreateCluster(  # noqa: D102, N802 - described in the protocol
        self, request: wire.CreateClusterRequest, context: Context
    ) -> wire.Accepted:
        body = messages.body_of(request, "rollback", "dry_run", "request_key")
        headers = {REQUEST_KEY: request.request_key} if request.request_key else {}
        return await self._accepted(context, request, "POST", CLUSTERS, body, headers)

    async def GetCluster(  # noqa: D102, N802
        self, request: wire.GetClusterRequest, context: Context
    ) -> wire.Cluster:
        answer = await self._calls.ask(context, Request("GET", cluster_path(request.cluster)))
        return messages.fill(wire.Cluster(), answer.body)

    async def ListClusters(  # noqa: D102, N802
        self, request: wire.ListClustersRequest, context: Context
    ) -> wire.ListClustersResponse:
        query = {
            **messages.page(request.page_size, request.page_token),
            "sort_key": request.sort_key or None,
            "sort_dir": request.sort_dir or None,
        }
        answer = await self._calls.ask(context, Request("GET", f"{CLUSTERS}/detail", query))
        found = [messages.fill(wire.Cluster(), one) for one in answer.body["clusters"]]
        return wire.ListClustersResponse(
            clusters=found, next_page_token=messages.next_token(answer.body)
        )

    async def ResizeCluster(  # noqa: D102, N802
        self, request: wire.ResizeClusterRequest, context: Context
    ) -> wire.Accepted:
        return await self._act(context, request, "resize", _plain(request))

    async def UpgradeCluster(  # noqa: D102, N802
        self, request: wire.UpgradeClusterRequest, context: Context
    ) -> wire.Accepted:
        return await self._act(context, request, "upgrade", _plain(request))

    async def RebuildCluster(  # noqa: D102, N802
        self, request: wire.RebuildClusterRequest, context: Context
    ) -> wire.Accepted:
        return await self._act(context, request, "rebuild", _node_work(request))

    async def RebootCluster(  # noqa: D102, N802
        self, request: wire.RebootClusterRequest, context: Context
    ) -> wire.Accepted:
        return await self._act(context, request, "reboot", _node_work(request))

    async def CheckClusterHealth(  # noqa: D102, N802
        self, request: wire.CheckClusterHealthRequest, context: Context
    ) -> wire.Accepted:
        return await self._act(context, request, "check_health", {})

    async def RotateClusterCa(  # noqa: D102, N802
        self, request: wire.RotateClusterCaRequest, context: Context
    ) -> wire.Accepted:
        path = _path("/v1/certificates", request.cluster)
        return await self._accepted(context, request, "PATCH", path, None, {})

    async def RotateClusterCredential(  # noqa: D102, N802
        self, request: wire.RotateClusterCredentialRequest, context: Context
    ) -> wire.Accepted:
        path = _path("/v1/credentials", request.cluster)
        return await self._accepted(context, request, "PATCH", path, None, {})

    async def DeleteCluster(  # noqa: D102, N802
        self, request: wire.DeleteClusterRequest, context: Context
    ) -> wire.Accepted:
        ident = request.cluster
        if not request.dry_run and not _is_uuid(ident):
            # The answer to a delete names its operation and not the cluster.
            answer = await self._calls.ask(context, Request("GET", cluster_path(ident)))
            ident = answer.body["uuid"]
        accepted = await self._accepted(context, request, "DELETE", cluster_path(ident), None, {})
        if not request.dry_run:
            accepted.cluster_id = ident
        return accepted

    async def WatchCluster(  # noqa: D102, N802
        self, request: wire.WatchClusterRequest, context: Context
    ) -> AsyncIterator[wire.ClusterEvent]:
        path = cluster_path(request.cluster)
        async for event in self._watching.cluster(context, path, request):
            yield event

    async def _act(
        self, context: Context, request: Any, action: str, body: Mapping[str, Any]
    ) -> wire.Accepted:
        path = cluster_path(request.cluster, "actions", action)
        return await self._accepted(context, request, "POST", path, body, {})

    async def _accepted(
        self,
        context: Context,
        request: Any,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        headers: Mapping[str, str],
    ) -> wire.Accepted:
        query = {"dry_run": messages.yes(request.dry_run), **_flags(request)}
        asked = Request(method, path, query, body, headers)
        answer = await self._calls.ask(context, asked)
        told = answer.body or {}
        if request.dry_run:
            return messages.fill(wire.Accepted(), {k: told[k] for k in ("plan", "changes")})
        operation_id = answer.headers.get(OPERATION_HEADER.lower(), "")
        return wire.Accepted(cluster_id=told.get("uuid", ""), operation_id=operation_id)


def _is_uuid(ident: str) -> bool:
    try:
        return str(UUID(ident)) == ident
    except ValueError:
        return False


def _flags(request: Message) -> dict[str, str | None]:
    """Return the query arguments that only some calls have."""
    names = request.DESCRIPTOR.fields_by_name
    flags: dict[str, str | None] = {}
    if "rollback" in names:
        flags["rollback"] = messages.choice(request, "rollback")
    if "force" in names:
        flags["force"] = messages.yes(bool(request.force))  # type: ignore[attr-defined]
    return flags


def _plain(request: Message) -> dict[str, Any]:
    return messages.body_of(request, "cluster", "rollback", "dry_run")


def _node_work(request: NodeWork) -> dict[str, Any]:
    """Return the body of work on nodes, in which "not given" and "empty" are not the same."""
    body = messages.body_of(request, "cluster", "dry_run", "whole_groups", "node_groups", "nodes")
    if request.HasField("node_groups"):
        body["node_groups"] = list(request.node_groups.names)
    if request.HasField("nodes"):
        body["nodes"] = list(request.nodes.names)
    if request.whole_groups:
        body["batch_size"] = None
    return body
