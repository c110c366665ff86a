"""One stage for all tests of hooks as steps; each finds it empty."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack

import httpx
import pytest
from temporalio.client import Client

from jeroboam.hooks.callbacks import Callbacks
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.hooks.kit import HookKit
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.registry import HookRegistry
from jeroboam.hooks.targets import Targets
from tests.integration.engine import running_engine
from tests.integration.hook_steps.stage import (
    BASE,
    Brittle,
    HookedDriver,
    Journal,
    Stage,
    application,
)
from tests.integration.hooks.receiver import Receiver, receiving


@pytest.fixture(scope="package")
def journal() -> Journal:
    return Journal()


@pytest.fixture(scope="package")
def server() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture(scope="package")
async def everything(
    temporal_client: Client,
    tmp_path_factory: pytest.TempPathFactory,
    server: Receiver,
    journal: Journal,
) -> AsyncIterator[Stage]:
    HookedDriver.journal = journal
    kit = HookKit(
        registry=HookRegistry([Brittle(journal)], DeclaredHooks()),
        outbound=GuardedOutbound(Targets([server.url.removesuffix("/hook")])),
        callbacks=Callbacks(bytes(32), BASE),
    )
    directory = tmp_path_factory.mktemp("hooks")
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(
            running_engine(temporal_client, directory, kit=kit, driver=HookedDriver)
        )
        transport = httpx.ASGITransport(app=application(engine, kit))
        api = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url=BASE))
        yield Stage(engine, server, journal, api)


@pytest.fixture
async def stage(everything: Stage) -> AsyncIterator[Stage]:
    """The stage with no declarations, a quiet receiver and an empty journal."""
    fresh, journal = Receiver(), everything.journal
    kept = everything.receiver.url
    vars(everything.receiver).update(vars(fresh) | {"url": kept})
    journal.lines.clear()
    journal.keys.clear()
    journal.crashes = 0
    yield everything
    for one in await everything.engine.store.hooks.list():
        await everything.engine.store.hooks.delete(one.uuid)
