"""One engine for all tests of schedules."""

from collections.abc import AsyncIterator

import pytest
from temporalio.client import Client

from jeroboam.workflows.schedule_client import ScheduleClient
from tests.integration.engine import running_engine
from tests.integration.schedules.scheduling import Scheduling


@pytest.fixture(scope="module")
async def scheduling(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Scheduling]:
    directory = tmp_path_factory.mktemp("scheduling")
    async with running_engine(temporal_client, directory) as engine:
        yield Scheduling(engine, ScheduleClient(engine.client, engine.store, engine.settings))
