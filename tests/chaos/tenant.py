"""What a user does, over the HTTP API; a request that meets a dead API is sent again."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from jeroboam.errors import JeroboamError, NotFoundError
from jeroboam.models import Cluster, Operation, OperationKind, Parameters
from jeroboam.store import OperationFilter, Page, Scope, Store

T = TypeVar("T")

PATIENCE_SECONDS = 60.0
TRANSIENT = frozenset({500, 502, 503, 504})


class RefusedError(Exception):
    """The API said no."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"{response.status_code} {response.text}")
        self.status = response.status_code


@dataclass
class Tenant:
    """A user with all rights.

    Args:
        store: Tells whether a request came through whose answer was lost.
    """

    http: httpx.AsyncClient
    store: Store

    async def template(self, name: str, labels: Mapping[str, str], **fields: Any) -> str:
        """Make a template; return its uuid."""
        body = {
            "name": name,
            "coe": "kubernetes",
            "image_id": "fake-image",
            "labels": dict(labels),
            **fields,
        }
        return str((await self._send("POST", "/v1/clustertemplates", body))["uuid"])

    async def create(self, body: dict[str, Any], *, rollback: bool) -> Operation:
        """Ask for a cluster; return the operation."""
        path = f"/v1/clusters?rollback={str(rollback).lower()}"
        await self._until_stored(
            lambda: self._send_once("POST", path, body), lambda: self._by_name(body["name"])
        )
        cluster = await self._by_name(body["name"])
        assert cluster is not None
        return await self._newest(cluster.uuid, set())

    async def ask(self, cluster: Cluster, kind: OperationKind, parameters: Parameters) -> Operation:
        """Ask for an operation on a cluster; return it."""
        known = {one.uuid for one in await self.operations(cluster.uuid)}
        method, path, body = request(cluster.uuid, kind, parameters)

        async def stored() -> Operation | None:
            new = [one for one in await self.operations(cluster.uuid) if one.uuid not in known]
            return next((one for one in new if one.kind is kind), None)

        await self._until_stored(lambda: self._send_once(method, path, body), stored)
        return await self._newest(cluster.uuid, known)

    async def control(self, operation: Operation, verb: str) -> str:
        """Cancel or retry an operation; return what the API says."""
        answer = await self._send("POST", f"/v1/operations/{operation.uuid}/{verb}", None)
        return str(answer.get("message", ""))

    async def operations(self, cluster_id: str) -> list[Operation]:
        """Return a cluster's operations, newest first."""
        page = Page(limit=1000, sort_key="id", sort_dir="desc")
        wanted = OperationFilter(cluster_id=cluster_id)
        return await self.read(lambda: self.store.operations.list(Scope(None), page, wanted))

    async def read(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Return what the store says, as soon as the database answers."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return await ask()
            except JeroboamError as error:
                if not error.retryable or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.2)

    async def _newest(self, cluster_id: str, known: set[str]) -> Operation:
        new = [one for one in await self.operations(cluster_id) if one.uuid not in known]
        assert new, f"lost: cluster {cluster_id} has no new operation"
        return new[0]

    async def _by_name(self, name: str) -> Cluster | None:
        try:
            return await self.read(lambda: self.store.clusters.get(name, Scope(None)))
        except NotFoundError:
            return None

    async def _until_stored(self, send: Any, stored: Any) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                await send()
            except (httpx.TransportError, RefusedError) as error:
                if isinstance(error, RefusedError) and error.status not in TRANSIENT:
                    raise
                await asyncio.sleep(0.3)
                if await stored() is not None:
                    return
                if time.monotonic() > deadline:
                    raise
            else:
                return

    async def _send(self, method: str, path: str, body: Any) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return await self._send_once(method, path, body)
            except (httpx.TransportError, RefusedError) as error:
                final = isinstance(error, RefusedError) and error.status not in TRANSIENT
                if final or time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.3)

    async def _send_once(self, method: str, path: str, body: Any) -> dict[str, Any]:
        response = await self.http.request(method, path, json=body)
        if response.is_error:
            raise RefusedError(response)
        return dict(response.json()) if response.content else {}


Request = tuple[str, str, Any]


def request(cluster: str, kind: OperationKind, parameters: Parameters) -> Request:
    """Return how an operation is asked for: method, path, body."""
    if kind in _ROTATED:
        return "PATCH", f"/v1/{_ROTATED[kind]}/{cluster}", None
    method, path, body = _REQUESTS[kind](parameters)
    return method, f"/v1/clusters/{cluster}{path}", body


def _update(parameters: Parameters) -> Request:
    return "PATCH", "", [_replaced("node_count", parameters.node_count)]


def _resize(parameters: Parameters) -> Request:
    body = {
        "node_count": parameters.node_count,
        "nodegroup": parameters.node_group,
        "nodes_to_remove": list(parameters.nodes_to_remove),
    }
    return "POST", "/actions/resize", body


def _upgrade(parameters: Parameters) -> Request:
    body: dict[str, Any] = {"cluster_template": parameters.cluster_template_id}
    if parameters.batch_size:
        body["max_batch_size"] = parameters.batch_size
    return "POST", "/actions/upgrade", body


def _rebuild(parameters: Parameters) -> Request:
    return "POST", "/actions/rebuild", _chosen(parameters)


def _reboot(kind: str) -> Callable[[Parameters], Request]:
    return lambda parameters: ("POST", "/actions/reboot", _chosen(parameters) | {"type": kind})


def _create_group(parameters: Parameters) -> Request:
    group = parameters.group
    body = {"name": group.name, "node_count": group.node_count} if group else None
    return "POST", "/nodegroups", body


def _update_group(parameters: Parameters) -> Request:
    most = parameters.group.max_node_count if parameters.group else None
    path = f"/nodegroups/{parameters.node_group}"
    return "PATCH", path, [_replaced("max_node_count", most)]


def _replaced(name: str, value: int | None) -> dict[str, Any]:
    return {"op": "replace", "path": f"/{name}", "value": value}


def _chosen(parameters: Parameters) -> dict[str, Any]:
    chosen: dict[str, Any] = {"batch_size": parameters.batch_size}
    if parameters.nodes:
        chosen["nodes"] = list(parameters.nodes)
    if parameters.node_groups:
        chosen["node_groups"] = list(parameters.node_groups)
    return chosen


_ROTATED = {
    OperationKind.ROTATE_CA: "certificates",
    OperationKind.ROTATE_CREDENTIAL: "credentials",
}
_REQUESTS: Mapping[OperationKind, Callable[[Parameters], Request]] = {
    OperationKind.DELETE: lambda _: ("DELETE", "", None),
    OperationKind.FORCE_DELETE: lambda _: ("DELETE", "?force=true", None),
    OperationKind.UPDATE: _update,
    OperationKind.RESIZE: _resize,
    OperationKind.UPGRADE: _upgrade,
    OperationKind.REBUILD: _rebuild,
    OperationKind.SOFT_REBOOT: _reboot("soft"),
    OperationKind.HARD_REBOOT: _reboot("hard"),
    OperationKind.CREATE_NODE_GROUP: _create_group,
    OperationKind.UPDATE_NODE_GROUP: _update_group,
    OperationKind.DELETE_NODE_GROUP: lambda one: ("DELETE", f"/nodegroups/{one.node_group}", None),
    OperationKind.CHECK_HEALTH: lambda _: ("POST", "/actions/check_health", None),
}
