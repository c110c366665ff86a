"""A stored operation is a promise: what Temporal does not take over now, it is given later."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from temporalio.client import Client

from jeroboam import temporal
from jeroboam.errors import StoreUnavailableError
from jeroboam.models import OperationKind, OperationState
from jeroboam.settings import Settings
from jeroboam.workflows import client as operations
from jeroboam.workflows.client import OperationClient
from jeroboam.workflows.runs import Runs
from tests.conftest import free_port
from tests.integration.api.conftest import Service


@contextmanager
def silent_port() -> Iterator[int]:
    """Yield a port where somebody listens and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(100)
        yield listener.getsockname()[1]


async def client_of(port: int) -> Client:
    return await temporal.connect(Settings(temporal_address=f"127.0.0.1:{port}"), lazy=True)


async def defective(*_: object, **__: object) -> None:
    raise KeyError("a defect")


Break = Callable[[Service], Awaitable[None]]


@pytest.fixture(params=["refuses", "is silent", "has a defect"])
async def lose_temporal(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Break]:
    """Give a service a real client of a Temporal that cannot be used."""
    monkeypatch.setattr(operations, "START_SECONDS", 0.5)
    if request.param == "has a defect":
        monkeypatch.setattr(Runs, "start", defective)
    with silent_port() as silent:
        client = await client_of(silent if request.param == "is silent" else free_port())

        async def lose(service: Service) -> None:
            state = service.app.state
            broken = OperationClient(client, service.store, service.settings)
            state.dependencies = replace(state.dependencies, operations=broken)

        yield lose


async def pending(service: Service, uuid: str) -> tuple[str, OperationKind]:
    """Return the one operation of a cluster, which waits for the reconciler."""
    (operation,) = await service.store.operations.active(uuid)
    assert operation.state is OperationState.PENDING
    return operation.uuid, operation.kind


async def test_create(service: Service, lose_temporal: Break) -> None:
    """A cluster that is stored is not lost."""
    template = await service.template()
    await lose_temporal(service)
    uuid = await service.cluster(template["uuid"])
    assert (await pending(service, uuid))[1] is OperationKind.CREATE


async def test_change(service: Service, lose_temporal: Break) -> None:
    """A change that is accepted waits; the answer names it."""
    uuid = await service.built()
    await lose_temporal(service)
    response = await service.act(uuid, "rebuild", json={})
    assert response.status_code == 202
    assert await pending(service, uuid) == (response.json()["operation_id"], OperationKind.REBUILD)


@pytest.mark.parametrize("force", [False, True])
async def test_delete(service: Service, lose_temporal: Break, force: bool) -> None:
    """A delete waits too, whatever its kind."""
    uuid = await service.built()
    await lose_temporal(service)
    path = f"/v1/clusters/{uuid}?force={force}"
    assert (await service.call("DELETE", path, token="admin-token")).status_code == 204
    kind = OperationKind.FORCE_DELETE if force else OperationKind.DELETE
    assert (await pending(service, uuid))[1] is kind


async def test_retry(service: Service, lose_temporal: Break) -> None:
    """An operation that was taken up again is pending, so the answer is that it goes on."""
    uuid = await service.built()
    assert (await service.act(uuid, "rebuild", json={})).status_code == 202
    failed = await service.fail(uuid)
    await lose_temporal(service)
    response = await service.call("POST", f"/v1/operations/{failed.uuid}/retry")
    assert response.status_code == 202, response.text
    assert await pending(service, uuid) == (failed.uuid, OperationKind.REBUILD)


async def test_nothing_is_promised_without_a_row(
    service: Service, monkeypatch: pytest.MonkeyPatch, lose_temporal: Break
) -> None:
    """A delete whose row cannot be written fails."""
    uuid = await service.built()
    await lose_temporal(service)

    async def fail(_: Any) -> None:
        raise StoreUnavailableError("The database does not answer.")

    monkeypatch.setattr(service.store.operations, "add", fail)
    assert (await service.call("DELETE", f"/v1/clusters/{uuid}")).status_code == 503
    assert await service.store.operations.active(uuid) == []
