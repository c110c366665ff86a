"""``PATCH /v1/clusters/{id}``: the number of workers, and reports of health."""

from typing import Any

import pytest

from jeroboam.models import HealthStatus, OperationKind, Parameters, Status
from jeroboam.store import Scope
from tests.integration.api.conftest import Service, error_of


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


async def patch(service: Service, ident: str, *operations: Any, **kwargs: Any) -> Any:
    query = kwargs.pop("query", "")
    return await service.call("PATCH", f"/v1/clusters/{ident}{query}", json=operations, **kwargs)


@pytest.mark.parametrize(
    ("operation", "count"),
    [
        (replace("/node_count", 3), 3),
        (replace("/node_count", "3"), 3),
        (replace("/node_count", 0), 0),
        ({"op": "remove", "path": "/node_count"}, 1),
    ],
)
async def test_a_new_number_of_workers_is_an_operation(
    service: Service, operation: dict[str, Any], count: int
) -> None:
    """The answer is Magnum's; row, status and start belong to the operation in the header."""
    uuid = await service.built(node_count=2)
    response = await patch(service, uuid, operation)
    assert (response.status_code, response.json()) == (202, {"uuid": uuid})
    started = service.operations.started[-1]
    assert response.headers["jeroboam-operation"] == started.uuid
    spec = await service.store.clusters.spec(uuid)
    assert started.kind is OperationKind.UPDATE
    assert started.parameters == Parameters(node_group=spec.workers[0].uuid, node_count=count)
    assert started.rollback
    assert spec.cluster.status is Status.UPDATE_IN_PROGRESS
    # The row keeps the last good state until the operation has succeeded.
    assert spec.workers[0].node_count == 2
    await service.finish(uuid)
    assert (await service.store.clusters.spec(uuid)).workers[0].node_count == count


@pytest.mark.parametrize(
    ("query", "expected"), [("?rollback=False", False), ("?rollback=True", True), ("", True)]
)
async def test_a_change_is_rolled_back_unless_it_shall_not_be(
    service: Service, query: str, expected: bool
) -> None:
    """The argument reaches the operation; without it a failed change is undone."""
    uuid = await service.built()
    await patch(service, uuid, replace("/node_count", 2), query=query)
    assert service.operations.started[-1].rollback is expected


async def test_health_is_written_at_once(service: Service) -> None:
    """A health report is no operation, and is accepted while one is at work."""
    uuid = await service.cluster((await service.template())["uuid"])
    started = len(service.operations.started)
    response = await patch(
        service,
        uuid,
        replace("/health_status", "UNHEALTHY"),
        replace("/health_status_reason", '{"api": "ok", "node-0.Ready": false}'),
        token="colleague-token",
    )
    assert (response.status_code, response.json()) == (202, {"uuid": uuid})
    assert "jeroboam-operation" not in response.headers
    assert len(service.operations.started) == started
    cluster = await service.store.clusters.get(uuid, Scope(None))
    assert cluster.health_status is HealthStatus.UNHEALTHY
    assert cluster.health_status_reason == {"api": "ok", "node-0.Ready": "False"}
    assert cluster.status is Status.CREATE_IN_PROGRESS
    assert (await patch(service, uuid, {"op": "remove", "path": "/health_status"})).is_success
    assert (await service.store.clusters.get(uuid, Scope(None))).health_status is None


async def test_health_and_size_go_together(service: Service) -> None:
    """One patch may hold both; a size that is refused leaves the health as it was."""
    uuid = await service.built()
    both = (replace("/health_status", "HEALTHY"), replace("/node_count", 2))
    assert (await patch(service, uuid, *both)).status_code == 202
    cluster = await service.store.clusters.get(uuid, Scope(None))
    assert (cluster.health_status, cluster.status) == ("HEALTHY", "UPDATE_IN_PROGRESS")
    refused = (replace("/health_status", "UNKNOWN"), replace("/node_count", 3))
    assert (await patch(service, uuid, *refused)).status_code == 409
    assert (await service.store.clusters.get(uuid, Scope(None))).health_status == "HEALTHY"


async def test_nothing_is_asked_and_nothing_happens(service: Service) -> None:
    """An empty patch, and one that changes nothing, are accepted without an operation."""
    uuid = await service.built()
    started = len(service.operations.started)
    for operations in ((), (replace("/name", "mine"),)):
        assert (await patch(service, uuid, *operations)).status_code == 202
    assert len(service.operations.started) == started


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (replace("/name", "other"), "cannot change cluster property(ies) name"),
        (replace("/master_count", 3), "cannot change cluster property(ies) master_count"),
        (replace("/labels", '{"a": "1"}'), "cannot change cluster property(ies) labels"),
        ({"op": "remove", "path": "/keypair"}, "cannot change cluster property(ies) keypair"),
        ({"op": "remove", "path": "/cluster_template_id"}, "is a mandatory attribute"),
        (replace("/uuid", "x"), "is an internal attribute"),
        (replace("/stack_id", "x"), "is an internal attribute"),
        (replace("/api_address", "x"), "is an internal attribute"),
        ({"op": "add", "path": "/colour", "value": "red"}, "Adding a new attribute /colour"),
        ({"op": "add", "path": "/node_count", "value": 2}, "has existed, please use 'replace'"),
        ({"op": "replace", "path": "/node_count"}, "operations needs value"),
        (replace("/node_count", {"a": 1}), "Invalid input for field/attribute"),
        (replace("/node_count", -1), "Invalid input for field/attribute node_count"),
        (replace("/node_count", "many"), "Invalid input for field/attribute node_count"),
        (replace("/node_count", 10**12), "Invalid input for field/attribute node_count"),
        (replace("/health_status", "FINE"), "Value should be one of: HEALTHY"),
        (replace("/health_status_reason", "ok"), "is no mapping"),
        (replace("/health_status_reason", "[1]"), "field/attribute health_status_reason"),
        (replace("/health_status_reason", '{"a": {}}'), "field/attribute health_status_reason"),
        ({"op": "move", "path": "/name"}, "Invalid input for field/attribute"),
        ("remove", "Invalid input for field/attribute"),
    ],
)
async def test_all_else_is_refused(service: Service, operation: Any, message: str) -> None:
    """Only three properties may change; anything else is 400 in Magnum's words."""
    uuid = await service.built(keypair="mykey")
    before = await service.everything()
    response = await patch(service, uuid, operation)
    assert response.status_code == 400
    assert message in error_of(response)["detail"]
    assert await service.everything() == before


async def test_a_patch_is_a_list(service: Service) -> None:
    """A body that is no list of operations is 400."""
    uuid = await service.built()
    response = await service.call("PATCH", f"/v1/clusters/{uuid}", json={"node_count": 2})
    assert response.status_code == 400


@pytest.mark.parametrize(
    ("version", "query", "count", "status"),
    [
        ("1.2", "?rollback=True", 2, 400),
        ("1.3", "?rollback=True", 2, 202),
        ("1.1", "", 2, 202),
        ("1.9", "", 0, 400),
        ("1.10", "", 0, 202),
        ("1.14", "?other=1", 2, 400),
        ("1.14", "?rollback=perhaps", 2, 400),
    ],
)
async def test_the_gates_of_a_patch(
    service: Service, version: str, query: str, count: int, status: int
) -> None:
    """Roll-back needs 1.3 and zero nodes 1.10; other arguments do not exist."""
    uuid = await service.built()
    operation = replace("/node_count", count)
    response = await patch(service, uuid, operation, query=query, version=version)
    assert response.status_code == status, response.text


async def test_the_bounds_of_the_default_group_hold(service: Service) -> None:
    """A size below the group's minimum is refused with the range."""
    uuid = await service.built(labels={"min_node_count": "2"}, node_count=2)
    response = await patch(service, uuid, replace("/node_count", 1))
    assert response.status_code == 400
    assert "min_node_count = 2" in error_of(response)["detail"]
