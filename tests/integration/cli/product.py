"""The whole product in the test's process: the API on a port, the engine, a real Temporal."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from temporalio.client import Client

from jeroboam.activities.planning import Planner
from jeroboam.api.http.app import create_app
from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.models import ClusterSpec
from jeroboam.workflows.coe_client import CoeClient
from jeroboam.workflows.schedule_client import ScheduleClient
from jeroboam.workflows.signing_client import SigningClient
from tests.integration.api import cloud as people
from tests.integration.api.cloud import PROJECT, FakeCloud, FakeTrusts
from tests.integration.api.hooks import kit
from tests.integration.cli.loopback import LoopbackApi
from tests.integration.engine import Engine, running_engine


@dataclass
class Product:
    """All of it."""

    engine: Engine
    api: LoopbackApi

    async def cluster(self, name: str, **labels: str) -> ClusterSpec:
        """Build a cluster of the member's project."""
        spec = await self.engine.create(name=name, project_id=PROJECT, user_id="u1", labels=labels)
        await self.engine.settled(spec)
        return await self.engine.spec(spec)


@asynccontextmanager
async def running_product(client: Client, directory: Path) -> AsyncIterator[Product]:
    """Yield the product; it stops when the block ends."""
    async with running_engine(client, directory) as engine:
        drivers = DriverRegistry([DriverEntry(FakeDriver(engine.fakes))])
        hooks = kit()
        app = create_app(
            Dependencies(
                settings=engine.settings,
                store=engine.store,
                drivers=drivers,
                operations=engine.operations,
                planner=Planner(engine.store, drivers, hooks.registry),
                schedules=ScheduleClient(client, engine.store, engine.settings),
                coe=CoeClient(client, engine.settings.task_queue),
                signer=SigningClient(client, engine.settings.task_queue),
                authenticate=people.authenticate,
                authorizer=Authorizer(),
                directory=FakeCloud().directory,
                trusts=FakeTrusts(),
                probes={"database": engine.store.ping},
                hooks=hooks,
            )
        )
        api = LoopbackApi(app)
        api.start()
        try:
            yield Product(engine, api)
        finally:
            await api.stop()
