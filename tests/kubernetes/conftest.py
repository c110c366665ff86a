"""Jeroboam's API and engine, and a cluster of theirs that has a real Kubernetes control plane."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam import certificates
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.models import ClusterSpec
from jeroboam.workflows.coe_client import CoeClient
from jeroboam.workflows.signing_client import SigningClient
from tests.conftest import free_port
from tests.integration.api.conftest import Service, serving
from tests.integration.api.test_with_engine import created
from tests.integration.engine import Engine, running_engine
from tests.kubernetes.control_plane import ControlPlane
from tests.kubernetes.driver import HostedDriver
from tests.kubernetes.kubelet import Kubelets
from tests.kubernetes.programs import build


@dataclass
class Hosted:
    """The service, and one cluster with two workers."""

    service: Service
    engine: Engine
    plane: ControlPlane
    kubelets: Kubelets
    uuid: str

    async def call(self, method: str, path: str, **kwargs: Any) -> Any:
        """Send a request about the cluster."""
        return await self.service.call(
            method, f"/v1/clusters/{self.uuid}/{path}".rstrip("/"), **kwargs
        )

    async def spec(self) -> ClusterSpec:
        return await self.engine.store.clusters.spec(self.uuid)

    async def workers(self) -> list[str]:
        return [node.name for node in (await self.spec()).workers[0].nodes]


@pytest.fixture(scope="session")
def programs() -> Path:
    """Kubernetes' programs; building them takes minutes the first time."""
    return build.ensure()


@pytest.fixture(scope="package")
def monkeypatch_package() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="package")
async def hosted(
    programs: Path,
    temporal_client: Client,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch_package: pytest.MonkeyPatch,
) -> AsyncIterator[Hosted]:
    directory = tmp_path_factory.mktemp("hosted")
    port = free_port()
    HostedDriver.address = f"https://127.0.0.1:{port}"
    monkeypatch_package.setenv("JEROBOAM_DRAIN_PATIENCE_SECONDS", "2")
    async with running_engine(temporal_client, directory, driver=HostedDriver) as engine:
        drivers = DriverRegistry([DriverEntry(HostedDriver(engine.fakes))])
        calls = CoeClient(temporal_client, engine.settings.task_queue)
        settings = engine.settings.model_copy(update={"max_clusters_per_project": 100})
        signer = SigningClient(temporal_client, engine.settings.task_queue)
        async with serving(
            settings, engine.store, engine.operations, drivers, calls, signer=signer
        ) as service:
            uuid = await created(service, "hosted")
            secrets = certificates.from_mapping(await engine.store.secrets.get(uuid))
            plane = ControlPlane(programs, directory, secrets, port)
            with running_plane(plane), Kubelets(plane) as kubelets:
                found = Hosted(service, engine, plane, kubelets, uuid)
                for name in await found.workers():
                    kubelets.add(name)
                yield found


@contextmanager
def running_plane(plane: ControlPlane) -> Iterator[ControlPlane]:
    try:
        plane.start()
        yield plane
    finally:
        plane.stop()
