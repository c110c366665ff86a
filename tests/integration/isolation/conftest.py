"""The service with everything in it that the matrix asks for."""

import dataclasses
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest

from jeroboam.api.http import coe
from jeroboam.drivers.base import Provides
from jeroboam.drivers.coe_api import CoeApi, SupportsCoeApi
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.settings import Settings
from jeroboam.store import Cipher, Store
from tests.integration.api.cloud import RecordingOperations
from tests.integration.api.conftest import database, serving
from tests.integration.isolation.world import QuietCalls, QuietSchedules, QuietSigner, World

__all__ = ["database"]


class Speaking(FakeDriver, SupportsCoeApi):
    """The fake driver with the routes that an installed driver declares."""

    api: ClassVar[CoeApi]

    @property
    def provides(self) -> Sequence[Provides]:
        return (Provides(server_type="vm", os=self.api.coe, coe="kubernetes"),)

    @property
    def coe_api(self) -> CoeApi:
        return self.api


def installed_apis(directory: Path) -> Sequence[CoeApi]:
    """Return what all installed drivers add to the API, drivers of other authors included."""
    registry = DriverRegistry.load(Settings(state_directory=directory, cloud="testcloud"))
    return coe.collect([entry.driver for entry in registry.entries()], ())


def speaking(api: CoeApi) -> DriverEntry:
    name = f"speaks_{api.coe}"
    return DriverEntry(type(name, (Speaking,), {"name": name, "api": api})())


@pytest.fixture(scope="session")
async def world(database: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    directory = tmp_path_factory.mktemp("isolation")
    shutil.copy(database, directory / "jeroboam.sqlite")
    settings = Settings(
        state_directory=directory, cloud="testcloud", max_clusters_per_project=100, list_limit=100
    )
    apis = installed_apis(directory)
    drivers = DriverRegistry([DriverEntry(FakeDriver()), *map(speaking, apis)])
    store = await Store.open(settings.resolved_database_url, hooks_cipher=Cipher(bytes(32)))
    operations = RecordingOperations(store)
    async with serving(settings, store, operations, drivers) as service:
        dependencies = service.app.state.dependencies
        service.app.state.dependencies = dataclasses.replace(
            dependencies, schedules=QuietSchedules(), coe=QuietCalls(), signer=QuietSigner()
        )
        service.cloud.images |= {f"{api.coe}-image": {"magnum_distro": api.coe} for api in apis}
        world = World(service)
        await world.build([api.coe for api in apis])
        world.keep()
        yield world
    await store.close()
