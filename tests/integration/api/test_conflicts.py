"""One operation at a time: who is refused, with what words, and that one always wins."""

import asyncio
from typing import Any

import pytest

from jeroboam.errors import OperationInProgressError
from jeroboam.models import OperationKind, OperationState, Status, StepRecord, StepState
from tests.integration.api.conftest import Service, error_of

CHANGES: dict[str, tuple[str, str, Any]] = {
    "patch": ("PATCH", "", [{"op": "replace", "path": "/node_count", "value": 2}]),
    "resize": ("POST", "/actions/resize", {"node_count": 2}),
    "upgrade": ("POST", "/actions/upgrade", {"cluster_template": "small"}),
    "rebuild": ("POST", "/actions/rebuild", {}),
    "reboot": ("POST", "/actions/reboot", {"type": "soft"}),
    "check": ("POST", "/actions/check_health", {}),
    "add group": ("POST", "/nodegroups", {"name": "big"}),
    "change group": (
        "PATCH",
        "/nodegroups/default-worker",
        [{"op": "replace", "path": "/max_node_count", "value": 9}],
    ),
    "drop group": ("DELETE", "/nodegroups/extra", None),
}


async def with_extra(service: Service) -> str:
    """Return a cluster with one group more, so that all changes are possible."""
    uuid = await service.built()
    group = {"name": "extra"}
    response = await service.call("POST", f"/v1/clusters/{uuid}/nodegroups", json=group)
    assert response.status_code == 202, response.text
    await service.finish(uuid)
    return uuid


async def change(service: Service, uuid: str, name: str, query: str = "") -> Any:
    method, path, body = CHANGES[name]
    return await service.call(method, f"/v1/clusters/{uuid}{path}{query}", json=body)


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
@pytest.mark.parametrize("name", CHANGES)
async def test_a_second_operation_is_told_of_the_first(
    service: Service, name: str, query: str
) -> None:
    """The refusal names the running operation, its kind and its step, for people and programs."""
    uuid = await with_extra(service)
    assert (await change(service, uuid, "resize")).status_code == 202
    running = service.operations.started[-1]
    step = "Resize default-worker from 1 to 2"
    await service.apply(running, steps=[StepRecord(name=step, state=StepState.RUNNING)])
    before = await service.everything()
    response = await change(service, uuid, name, query)
    assert response.status_code == 409
    error = error_of(response)
    assert error["operation"] == {"uuid": running.uuid, "kind": "resize", "step": step}
    assert all(word in error["detail"] for word in (running.uuid, "resize", step))
    assert {"code", "detail", "links", "request_id", "status", "title"} < error.keys()
    assert await service.everything() == before


async def test_before_its_first_step_an_operation_has_none(service: Service) -> None:
    """An operation that waits for a worker holds the cluster as well."""
    uuid = await with_extra(service)
    await change(service, uuid, "rebuild")
    error = error_of(await change(service, uuid, "resize"))
    assert error["operation"]["step"] is None


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
@pytest.mark.parametrize("name", CHANGES)
async def test_a_cluster_that_was_never_complete_cannot_change(
    service: Service, name: str, query: str
) -> None:
    """The refusal says what can be done instead; a health check is possible."""
    uuid = await service.cluster((await service.template())["uuid"])
    await service.fail(uuid)
    response = await change(service, uuid, name.replace("drop group", "resize"), query)
    if name == "check":
        assert response.is_success
        return
    assert response.status_code == 409
    detail = error_of(response)["detail"]
    if name != "add group":
        assert "Retry its creation, or delete it" in detail


@pytest.mark.parametrize("name", CHANGES)
async def test_a_failed_change_blocks_nothing(service: Service, name: str) -> None:
    """After a change that failed each other one is accepted; Magnum refuses some for ever."""
    uuid = await with_extra(service)
    await change(service, uuid, "resize")
    await service.fail(uuid)
    assert (await change(service, uuid, name)).is_success


async def test_of_many_requests_one_is_accepted(service: Service) -> None:
    """Whatever is asked at the same moment, one wins and all others are told who."""
    uuid = await with_extra(service)
    started = len(service.operations.started)
    names = [*CHANGES, *CHANGES, *CHANGES]
    responses = await asyncio.gather(*(change(service, uuid, name) for name in names))
    won = [response for response in responses if response.is_success]
    lost = [response for response in responses if not response.is_success]
    assert len(won) == 1
    assert {response.status_code for response in lost} == {409}
    (operation,) = service.operations.started[started:]
    assert {error_of(one)["operation"]["uuid"] for one in lost} == {operation.uuid}
    assert [one.uuid for one in await service.store.operations.active(uuid)] == [operation.uuid]


async def test_a_race_that_the_engine_decides_is_a_conflict(service: Service) -> None:
    """When a run holds the cluster of which the database knew nothing, the request is refused."""
    uuid = await with_extra(service)
    service.operations.error = OperationInProgressError("another", "resize", None)
    response = await change(service, uuid, "rebuild")
    assert response.status_code == 409
    assert error_of(response)["operation"]["uuid"] == "another"


@pytest.mark.parametrize("force", [False, True])
async def test_a_delete_takes_over_from_anything(service: Service, force: bool) -> None:
    """A delete is accepted over a running operation, once; its header names the removal."""
    uuid = await with_extra(service)
    await change(service, uuid, "rebuild")
    path = f"/v1/clusters/{uuid}" + ("?force=true" if force else "")
    first = await service.call("DELETE", path, token="admin-token")
    again = await service.call("DELETE", path, token="admin-token")
    assert (first.status_code, again.status_code) == (204, 204)
    (operation,) = service.operations.deleted
    kind = OperationKind.FORCE_DELETE if force else OperationKind.DELETE
    assert (operation.kind, operation.rollback) == (kind, False)
    assert first.headers["jeroboam-operation"] == operation.uuid
    assert again.headers["jeroboam-operation"] == operation.uuid


async def test_force_takes_over_from_a_delete_and_not_the_other_way(service: Service) -> None:
    """A removal that is stuck goes on by force; then a plain delete is that one."""
    uuid = await service.built()
    for query in ("", "?force=true", ""):
        await service.call("DELETE", f"/v1/clusters/{uuid}{query}", token="admin-token")
    kinds = [operation.kind for operation in service.operations.deleted]
    assert kinds == [OperationKind.DELETE, OperationKind.FORCE_DELETE]


async def test_nothing_is_accepted_over_a_failed_delete_but_deletes(service: Service) -> None:
    """A cluster that is half gone can only go; the refusal says so."""
    uuid = await with_extra(service)
    await service.call("DELETE", f"/v1/clusters/{uuid}")
    (operation,) = service.operations.deleted
    await service.apply(operation, state=OperationState.FAILED, cluster_status=Status.DELETE_FAILED)
    response = await change(service, uuid, "resize")
    assert response.status_code == 409
    assert "Delete it again" in error_of(response)["detail"]
    assert (await service.call("DELETE", f"/v1/clusters/{uuid}")).status_code == 204
