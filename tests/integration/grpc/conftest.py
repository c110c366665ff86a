"""The gRPC server on the whole application, with real clients."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from temporalio.client import Client

from jeroboam.api.grpc.server import GrpcServer
from jeroboam.api.grpc.v1.clusters_pb2_grpc import ClustersStub
from jeroboam.api.grpc.v1.operations_pb2_grpc import OperationsStub
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.settings import Settings
from tests.integration.api.conftest import Service, database, service, serving
from tests.integration.engine import running_engine

if TYPE_CHECKING:
    from jeroboam.api.grpc.v1.clusters_pb2_grpc import ClustersAsyncStub
    from jeroboam.api.grpc.v1.operations_pb2_grpc import OperationsAsyncStub

__all__ = ["database", "service"]

LOOK_SECONDS = 0.05


@dataclass
class Rpc:
    """A server with a client's stubs, and the application behind it."""

    server: GrpcServer
    address: str
    channel: grpc.aio.Channel
    clusters: "ClustersAsyncStub"
    operations: "OperationsAsyncStub"
    service: Service


def told(token: str | None = "member-token", **more: str) -> tuple[tuple[str, str], ...]:
    """Return the metadata of a call."""
    tokens = {"x-auth-token": token} if token else {}
    return tuple((tokens | more).items())


@asynccontextmanager
async def answering(service: Service, **changed: Any) -> AsyncIterator[Rpc]:
    """Serve an application by gRPC; yield a client of it."""
    settings = service.settings.model_copy(update={"shutdown_grace_seconds": 2.0, **changed})
    server = GrpcServer(service.app, settings, look_seconds=LOOK_SECONDS)
    address = f"127.0.0.1:{await server.start(0)}"
    async with grpc.aio.insecure_channel(address) as channel:
        clusters: Any = ClustersStub(channel)
        operations: Any = OperationsStub(channel)
        yield Rpc(server, address, channel, clusters, operations, service)
    await server.stop()


@pytest.fixture
async def rpc(service: Service) -> AsyncIterator[Rpc]:
    """The service without an engine: what it accepts stays as it is until a test says more."""
    async with answering(service) as rpc:
        yield rpc


@pytest.fixture(scope="module")
async def live(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Rpc]:
    """The service with the real engine and the fake driver."""
    directory = tmp_path_factory.mktemp("grpc")
    async with running_engine(temporal_client, directory) as engine:
        drivers = DriverRegistry([DriverEntry(FakeDriver(engine.fakes))])
        settings: Settings = engine.settings.model_copy(update={"max_clusters_per_project": 100})
        async with (
            serving(settings, engine.store, engine.operations, drivers) as service,
            answering(service) as rpc,
        ):
            yield rpc
