"""The whole application over ASGI on a real SQLite store; only the cloud is made up."""

import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from jeroboam.activities.planning import Planner
from jeroboam.api.http.app import create_app
from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.hooks.registry import HookRegistry
from jeroboam.settings import Settings
from jeroboam.store import Store
from tests.integration.api import cloud as people
from tests.integration.api.cloud import FakeCloud, FakeTrusts, RecordingOperations
from tests.integration.api.drivers import registry

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


def error_of(response: httpx.Response) -> dict[str, Any]:
    """Return the only error of an answer."""
    (error,) = response.json()["errors"]
    assert isinstance(error, dict)
    return error


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
    store = await Store.open(settings.resolved_database_url)
    made_up, trusts, operations = FakeCloud(), FakeTrusts(), RecordingOperations(store)
    drivers = registry()
    app = create_app(
        Dependencies(
            settings=settings,
            store=store,
            drivers=drivers,
            operations=operations,
            planner=Planner(store, drivers, HookRegistry(())),
            authenticate=people.authenticate,
            authorizer=Authorizer(),
            directory=made_up.directory,
            trusts=trusts,
            probes={"database": store.ping},
        )
    )
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        yield Service(app, settings, store, made_up, trusts, operations, client)
    await store.close()
