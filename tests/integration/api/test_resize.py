"""``POST /v1/clusters/{id}/actions/resize``."""

from typing import Any

import pytest

from jeroboam.models import OperationKind, Status
from tests.integration.api.conftest import Service, error_of


async def resize(service: Service, ident: str, **kwargs: Any) -> Any:
    version = kwargs.pop("version", "1.14")
    query = kwargs.pop("query", "")
    return await service.act(ident, f"resize{query}", json=kwargs, version=version)


async def test_the_default_workers_are_resized(service: Service) -> None:
    """Without a node group it is the default workers; Magnum's body, our header."""
    uuid = await service.built()
    response = await resize(service, "mine", node_count=4, nodegroup=None, nodes_to_remove=None)
    assert (response.status_code, response.json()) == (202, {"uuid": uuid})
    operation = service.operations.started[-1]
    assert response.headers["jeroboam-operation"] == operation.uuid
    spec = await service.store.clusters.spec(uuid)
    assert operation.kind is OperationKind.RESIZE
    assert operation.parameters.node_group == spec.workers[0].uuid
    assert operation.parameters.node_count == 4
    assert (operation.rollback, operation.user_id) == (True, "u1")
    assert operation.request_id == response.headers["x-openstack-request-id"]
    assert spec.cluster.status is Status.UPDATE_IN_PROGRESS
    assert spec.workers[0].status is Status.UPDATE_IN_PROGRESS
    assert spec.masters.status is Status.CREATE_COMPLETE


@pytest.mark.parametrize("by", ["name", "id", "upper id", "number"])
async def test_nodes_are_named_in_several_ways(service: Service, by: str) -> None:
    """A node is its name, its server's id or its number; the operation knows the name."""
    uuid = await service.built(node_count=3)
    node = (await service.store.clusters.spec(uuid)).workers[0].nodes[1]
    named = {"name": node.name, "id": node.id, "upper id": node.id.upper(), "number": "1"}[by]
    response = await resize(service, uuid, node_count=2, nodes_to_remove=[named, named])
    assert response.status_code == 202, response.text
    assert service.operations.started[-1].parameters.nodes_to_remove == (node.name,)


@pytest.mark.parametrize("named", ["absent", "7", "mine-default-master-0", ""])
async def test_an_unknown_node_is_told_which_there_are(service: Service, named: str) -> None:
    """A node that is not in the group is 400, with the names of those that are."""
    uuid = await service.built(node_count=2)
    response = await resize(service, uuid, node_count=1, nodes_to_remove=[named])
    assert response.status_code == 400
    if named:
        detail = error_of(response)["detail"]
        assert f"No such node in node group default-worker: {named}" in detail
        assert "mine-default-worker-0, mine-default-worker-1" in detail


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "node_count. Mandatory field missing"),
        ({"node_count": -1}, 400, "field/attribute node_count"),
        ({"node_count": "many"}, 400, "field/attribute node_count"),
        ({"node_count": 2, "nodegroup": "absent"}, 404, "Node group absent"),
        ({"node_count": 2, "nodegroup": ""}, 400, "field/attribute nodegroup"),
        ({"node_count": 2, "colour": "red"}, 400, "Unknown attribute: colour"),
        ({"node_count": 2, "nodes_to_remove": "mine"}, 400, "field/attribute nodes_to_remove"),
        ({"node_count": 1}, 400, "Resizing default-worker outside the allowed range"),
        ({"node_count": 2, "nodegroup": "default-master"}, 400, "odd number of nodes"),
    ],
)
async def test_what_cannot_work_is_refused(
    service: Service, body: dict[str, Any], status: int, message: str
) -> None:
    """Each mistake has its code; nothing is written."""
    uuid = await service.built(labels={"min_node_count": "2"}, node_count=2)
    before = await service.everything()
    response = await resize(service, uuid, **body)
    assert (response.status_code, message in error_of(response)["detail"]) == (status, True)
    assert await service.everything() == before


async def test_the_bounds_of_a_group_hold(service: Service) -> None:
    """The maximum of a node group counts; one of zero is none, as in Magnum."""
    uuid = await service.built()
    path = f"/v1/clusters/{uuid}/nodegroups/default-worker"
    for highest, status in ((2, 400), (0, 202)):
        change = [{"op": "replace", "path": "/max_node_count", "value": highest}]
        assert (await service.call("PATCH", path, json=change)).status_code == 202
        await service.finish(uuid)
        assert (await resize(service, uuid, node_count=3)).status_code == status


async def test_the_control_plane_is_the_driver_s_to_resize(service: Service) -> None:
    """The fake driver takes an odd number of masters; a driver with no rule of its own none."""
    uuid = await service.built()
    assert (await resize(service, uuid, node_count=3, nodegroup="default-master")).is_success
    template = await service.template(name="plain", image_id="plain-image")
    plain = await service.built(template=template["uuid"], name="plain")
    response = await resize(service, plain, node_count=3, nodegroup="default-master")
    assert response.status_code == 400
    assert "is not supported by the driver plain" in error_of(response)["detail"]


@pytest.mark.parametrize(
    ("version", "count", "status"),
    [("1.6", 2, 406), ("1.7", 2, 202), ("1.9", 0, 400), ("1.10", 0, 202)],
)
async def test_the_gates_of_a_resize(
    service: Service, version: str, count: int, status: int
) -> None:
    """Resizing needs 1.7, and zero nodes 1.10."""
    uuid = await service.built()
    assert (await resize(service, uuid, node_count=count, version=version)).status_code == status


async def test_a_resize_to_the_same_size_is_an_operation(service: Service) -> None:
    """It leads a cluster that is half changed back to its size, and clients wait for its end."""
    uuid = await service.built(node_count=2)
    assert (await resize(service, uuid, node_count=2)).status_code == 202
    await service.fail(uuid)
    assert (await resize(service, uuid, node_count=2)).status_code == 202
    await service.finish(uuid)
    assert (await service.store.clusters.spec(uuid)).cluster.status is Status.UPDATE_COMPLETE


async def test_the_rollback_of_a_resize_can_be_turned_off(service: Service) -> None:
    """``?rollback=false`` keeps what was done, for inspection; other arguments do not exist."""
    uuid = await service.built()
    assert (await resize(service, uuid, node_count=2, query="?other=1")).status_code == 400
    assert (await resize(service, uuid, node_count=2, query="?rollback=false")).is_success
    assert service.operations.started[-1].rollback is False
