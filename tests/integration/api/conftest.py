"""The whole application over ASGI on a real SQLite store; only the cloud is made up."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

import aiosqlite
import httpx
import pytest
from temporalio.client import Client

from jeroboam import temporal
from jeroboam.activities.planning import Planner
from jeroboam.api.http.app import create_app
from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.drivers.registry import DriverRegistry
from jeroboam.models import (
    ClusterOutputs,
    ClusterSpec,
    Node,
    NodeGroup,
    Operation,
    OperationState,
    Recorded,
    Transition,
    utc_now,
)
from jeroboam.models.lifecycle import TRAITS
from jeroboam.models.quota import QuotaResource
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from jeroboam.workflows.coe_client import CoeClient
from jeroboam.workflows.schedule_client import ScheduleClient
from jeroboam.workflows.signing_client import SigningClient
from tests.integration.api import cloud as people
from tests.integration.api.cloud import FakeCloud, FakeTrusts, RecordingOperations
from tests.integration.api.drivers import registry
from tests.integration.api.hooks import kit

BASE = "http://jeroboam.test"


@dataclass
class Service:
    """The service under test, with what stands around it."""

    app: Any
    settings: Settings
    store: Store
    cloud: FakeCloud
    trusts: FakeTrusts
    operations: RecordingOperations
    client: httpx.AsyncClient
    limits: dict[QuotaResource, int] = field(default_factory=dict)

    async def call(
        self,
        method: str,
        path: str,
        *,
        token: str | None = "member-token",
        version: str | None = "1.14",
        headers: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> httpx.Response:
        """Send one request."""
        sent = dict(headers or {})
        if token:
            sent["X-Auth-Token"] = token
        if version:
            sent["OpenStack-API-Version"] = f"container-infra {version}"
        return await self.client.request(method, path, headers=sent, **kwargs)

    async def template(self, token: str = "member-token", **attributes: Any) -> dict[str, Any]:
        """Create a template that works."""
        body = {"name": "small", "coe": "kubernetes", "image_id": "fake-image"} | attributes
        response = await self.call("POST", "/v1/clustertemplates", token=token, json=body)
        assert response.status_code == 201, response.text
        created: dict[str, Any] = response.json()
        return created

    async def cluster(self, template: str, token: str = "member-token", **attributes: Any) -> str:
        """Create a cluster that works and return its uuid."""
        body = {"name": "mine", "cluster_template_id": template} | attributes
        response = await self.call("POST", "/v1/clusters", token=token, json=body)
        assert response.status_code == 202, response.text
        return str(response.json()["uuid"])

    async def act(self, cluster: str, action: str, **kwargs: Any) -> httpx.Response:
        """Ask for an action on a cluster."""
        return await self.call("POST", f"/v1/clusters/{cluster}/actions/{action}", **kwargs)

    async def built(self, **attributes: Any) -> str:
        """Return the uuid of a cluster that is up, with its nodes."""
        template = attributes.pop("template", None) or (await self.template())["uuid"]
        uuid = await self.cluster(template, **attributes)
        await self.finish(uuid)
        return uuid

    async def finish(self, uuid: str) -> None:
        """Write what the run of the operation at work would write when all went well."""
        (operation,) = await self.store.operations.active(uuid)
        words = TRAITS[operation.kind].cluster
        spec, target = await self.store.clusters.spec_and_target(operation)
        nodes = {group.uuid: _nodes(spec, group) for group in target.node_groups}
        await self.apply(
            operation,
            state=OperationState.SUCCEEDED,
            cluster_status=words and words.complete,
            node_group_status=words and words.complete,
            commit=True,
            outputs=ClusterOutputs(api_address="https://192.0.2.1:6443", nodes=nodes),
        )

    async def fail(self, uuid: str, **fields: Any) -> Operation:
        """Write what the run of the operation at work would write when it failed."""
        (operation,) = await self.store.operations.active(uuid)
        words = TRAITS[operation.kind].cluster
        values = {"state": OperationState.FAILED, "reason": "No valid host."}
        await self.apply(operation, **values, cluster_status=words and words.failed, **fields)
        return operation

    async def apply(self, operation: Operation, **fields: Any) -> None:
        """Write one transition as the operation's run would."""
        stored = await self.store.operations.get(operation.uuid)
        transition = Transition(
            operation_id=operation.uuid,
            cluster_id=operation.cluster_id,
            seq=stored.seq + 1,
            at=utc_now(),
            **({"state": OperationState.RUNNING} | fields),
        )
        assert await self.store.operations.apply(transition) is Recorded.WRITTEN

    async def everything(self) -> dict[str, list[Any]]:
        """Return all rows of the database."""
        async with aiosqlite.connect(self.settings.state_directory / "jeroboam.sqlite") as database:
            tables = await database.execute_fetchall(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            )
            return {
                name: list(await database.execute_fetchall(f"SELECT * FROM {name}"))
                for (name,) in tables
            }


def _nodes(spec: ClusterSpec, group: NodeGroup) -> tuple[Node, ...]:
    names = [f"{spec.cluster.name}-{group.name}-{n}" for n in range(group.node_count)]
    return tuple(Node(name=name, id=str(uuid5(NAMESPACE_DNS, name))) for name in names)


def error_of(response: httpx.Response) -> dict[str, Any]:
    """Return the only error of an answer."""
    (error,) = response.json()["errors"]
    assert isinstance(error, dict)
    return error


async def nobody() -> Client:
    """Return a client of a Temporal that does not answer; tests of schedules have a real one."""
    return await temporal.connect(Settings(temporal_address="127.0.0.1:1"), lazy=True)


@pytest.fixture(scope="session")
async def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "template.sqlite"
    store = await Store.open(f"sqlite+aiosqlite:///{path}", migrate=True)
    await store.close()
    return path


@pytest.fixture
async def service(database: Path, tmp_path: Path) -> AsyncIterator[Service]:
    shutil.copy(database, tmp_path / "jeroboam.sqlite")
    settings = Settings(
        state_directory=tmp_path, cloud="testcloud", max_clusters_per_project=3, list_limit=5
    )
    # The store sees what a test changes in here.
    limits = dict(settings.quotas)
    store = await Store.open(
        settings.resolved_database_url, hooks_cipher=Cipher(bytes(32)), quotas=limits
    )
    async with serving(settings, store, RecordingOperations(store), registry()) as service:
        service.limits = limits
        yield service
    await store.close()


@asynccontextmanager
async def serving(
    settings: Settings,
    store: Store,
    operations: Any,
    drivers: DriverRegistry,
    calls: CoeClient | None = None,
    signer: SigningClient | None = None,
) -> AsyncIterator[Service]:
    """Yield the service on a store; ``operations`` starts what it accepts."""
    made_up, trusts, hooks = FakeCloud(), FakeTrusts(), kit()
    app = create_app(
        Dependencies(
            settings=settings,
            store=store,
            drivers=drivers,
            operations=operations,
            planner=Planner(store, drivers, hooks.registry),
            schedules=ScheduleClient(await nobody(), store, settings),
            coe=calls or CoeClient(await nobody(), settings.task_queue),
            signer=signer or SigningClient(await nobody(), settings.task_queue),
            authenticate=people.authenticate,
            authorizer=Authorizer(),
            directory=made_up.directory,
            trusts=trusts,
            probes={"database": store.ping},
            hooks=hooks,
        )
    )
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield Service(app, settings, store, made_up, trusts, operations, client)
