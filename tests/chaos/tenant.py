"""What a user does, over the HTTP API; a request that meets a dead API is sent again."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import httpx

from jeroboam.errors import JeroboamError, NotFoundError
from jeroboam.models import Cluster, Operation, OperationKind, Parameters
from jeroboam.store import OperationFilter, Page, Scope, Store

PATIENCE_SECONDS = 60.0
TRANSIENT = frozenset({500, 502, 503, 504})

REBOOT_TYPES = {OperationKind.SOFT_REBOOT: "soft", OperationKind.HARD_REBOOT: "hard"}


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

    async def template(self, name: str, **labels: str) -> str:
        """Make a template; return its uuid."""
        body = {
            "name": name,
            "coe": "kubernetes",
            "image_id": "fake-image",
            "master_lb_enabled": True,
            "labels": labels,
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

    async def ask(
        self, cluster: Cluster, kind: OperationKind, parameters: Parameters
    ) -> Operation:
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
        return await self.read(
            lambda: self.store.operations.list(
                Scope(None),
                Page(limit=1000, sort_key="id", sort_dir="desc"),
                OperationFilter(cluster_id=cluster_id),
            )
        )

    async def read(self, ask: Any) -> Any:
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
            found = await self.read(lambda: self.store.clusters.get(name, Scope(None)))
        except NotFoundError:
            return None
        return found  # type: ignore[no-any-return]

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


def request(
    cluster: str, kind: OperationKind, parameters: Parameters
) -> tuple[str, str, Any]:
    """Return how an operation is asked for: method, path, body."""
    base = f"/v1/clusters/{cluster}"
    group = parameters.group
    match kind:
        case OperationKind.DELETE:
            return "DELETE", base, None
        case OperationKind.FORCE_DELETE:
            return "DELETE", f"{base}?force=true", None
        case OperationKind.UPDATE:
            patch = [{"op": "replace", "path": "/node_count", "value": parameters.node_count}]
            return "PATCH", base, patch
        case OperationKind.RESIZE:
            body: dict[str, Any] = {
                "node_count": parameters.node_count,
                "nodegroup": parameters.node_group,
                "nodes_to_remove": list(parameters.nodes_to_remove),
            }
            return "POST", f"{base}/actions/resize", body
        case OperationKind.UPGRADE:
            body = {"cluster_template": parameters.cluster_template_id}
            if parameters.batch_size:
                body["max_batch_size"] = parameters.batch_size
            return "POST", f"{base}/actions/upgrade", body
        case OperationKind.REBUILD:
            return "POST", f"{base}/actions/rebuild", _chosen(parameters)
        case OperationKind.SOFT_REBOOT | OperationKind.HARD_REBOOT:
            body = _chosen(parameters) | {"type": REBOOT_TYPES[kind]}
            return "POST", f"{base}/actions/reboot", body
        case OperationKind.CREATE_NODE_GROUP:
            assert group
            return "POST", f"{base}/nodegroups", {"name": group.name, "node_count": group.node_count}
        case OperationKind.UPDATE_NODE_GROUP:
            assert group
            patch = [{"op": "replace", "path": "/max_node_count", "value": group.max_node_count}]
            return "PATCH", f"{base}/nodegroups/{parameters.node_group}", patch
        case OperationKind.DELETE_NODE_GROUP:
            return "DELETE", f"{base}/nodegroups/{parameters.node_group}", None
        case OperationKind.CHECK_HEALTH:
            return "POST", f"{base}/actions/check_health", None
        case OperationKind.CREATE:
            raise ValueError("A create has a request of its own.")


def _chosen(parameters: Parameters) -> dict[str, Any]:
    chosen: dict[str, Any] = {"batch_size": parameters.batch_size}
    if parameters.nodes:
        chosen["nodes"] = list(parameters.nodes)
    if parameters.node_groups:
        chosen["node_groups"] = list(parameters.node_groups)
    return chosen
