"""Rebuild, reboot and health check: the actions that Magnum does not have."""

from typing import Any

import pytest

from jeroboam.models import OperationKind, Parameters, Status
from tests.integration.api.conftest import Service, error_of


@pytest.mark.parametrize(
    ("action", "body", "kind", "status"),
    [
        ("rebuild", None, OperationKind.REBUILD, Status.UPDATE_IN_PROGRESS),
        ("rebuild", {}, OperationKind.REBUILD, Status.UPDATE_IN_PROGRESS),
        ("reboot", {"type": "soft"}, OperationKind.SOFT_REBOOT, Status.UPDATE_IN_PROGRESS),
        ("reboot", {"type": "hard"}, OperationKind.HARD_REBOOT, Status.UPDATE_IN_PROGRESS),
        ("check_health", None, OperationKind.CHECK_HEALTH, Status.CREATE_COMPLETE),
        ("check_health", {}, OperationKind.CHECK_HEALTH, Status.CREATE_COMPLETE),
    ],
)
async def test_an_action_on_the_whole_cluster(
    service: Service, action: str, body: Any, kind: OperationKind, status: Status
) -> None:
    """The answer names cluster and operation; it works with every microversion."""
    uuid = await service.built()
    response = await service.act("mine", action, json=body, version=None)
    assert response.status_code == 202, response.text
    operation = service.operations.started[-1]
    assert response.json() == {"uuid": uuid, "operation_id": operation.uuid}
    assert response.headers["jeroboam-operation"] == operation.uuid
    assert (operation.kind, operation.rollback) == (kind, False)
    assert operation.parameters == Parameters()
    assert (await service.store.clusters.spec(uuid)).cluster.status is status


async def test_groups_nodes_and_batches_are_resolved(service: Service) -> None:
    """Groups and nodes are named as people do; the operation has uuids and names."""
    uuid = await service.built(node_count=3)
    spec = await service.store.clusters.spec(uuid)
    (workers,) = spec.workers
    body = {
        "type": "hard",
        "node_groups": ["default-worker", workers.uuid],
        "nodes": [workers.nodes[2].id, workers.nodes[0].name],
        "batch_size": 2,
    }
    assert (await service.act(uuid, "reboot", json=body)).status_code == 202
    assert service.operations.started[-1].parameters == Parameters(
        node_groups=(workers.uuid,),
        nodes=(workers.nodes[2].name, workers.nodes[0].name),
        batch_size=2,
    )


async def test_all_at_once_is_a_batch_size_of_null(service: Service) -> None:
    """By default it is one node at a time; ``null`` takes all of a group together."""
    uuid = await service.built(node_count=3)
    for body, sizes in (({}, [1, 1, 1, 1]), ({"batch_size": None}, [1, 3])):
        response = await service.act(uuid, "rebuild?dry_run=true", json=body)
        steps = response.json()["plan"]["steps"]
        assert len([step for step in steps if step["action"] == "submit"]) == len(sizes)


@pytest.mark.parametrize("action", ["rebuild", "reboot"])
@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"node_groups": ["absent"]}, 404, "Node group absent"),
        ({"nodes": ["absent"]}, 400, "mine-default-master-0, mine-default-worker-0"),
        (
            {"node_groups": ["default-worker"], "nodes": ["mine-default-master-0"]},
            400,
            "No such node in the node groups default-worker",
        ),
        ({"nodes": ["0"]}, 400, "No such node"),
        ({"nodes": []}, 400, "field/attribute nodes"),
        ({"node_groups": []}, 400, "field/attribute node_groups"),
        ({"node_groups": "default-worker"}, 400, "field/attribute node_groups"),
        ({"batch_size": 0}, 400, "field/attribute batch_size"),
        ({"colour": "red"}, 400, "Unknown attribute: colour"),
    ],
)
async def test_what_cannot_work_is_refused(
    service: Service, action: str, body: dict[str, Any], status: int, message: str
) -> None:
    """An empty list is no way to say all, and a node must be in the groups that are named."""
    uuid = await service.built()
    before = await service.everything()
    body = body | ({"type": "soft"} if action == "reboot" else {})
    response = await service.act(uuid, action, json=body)
    assert (response.status_code, message in error_of(response)["detail"]) == (
        status,
        True,
    ), response.text
    assert await service.everything() == before


@pytest.mark.parametrize("body", [{}, {"type": "warm"}, {"type": None}, None])
async def test_the_type_of_a_reboot_must_be_said(service: Service, body: Any) -> None:
    """Nobody cuts the power by leaving something out."""
    uuid = await service.built()
    assert (await service.act(uuid, "reboot", json=body)).status_code == 400


@pytest.mark.parametrize("action", ["rebuild", "reboot", "check_health"])
async def test_a_driver_without_the_ability_says_so(service: Service, action: str) -> None:
    """The driver is named, with whom to ask."""
    template = await service.template(image_id="plain-image")
    uuid = await service.built(template=template["uuid"])
    body = {"type": "soft"} if action == "reboot" else None
    response = await service.act(uuid, action, json=body)
    assert response.status_code == 400
    assert "driver plain of this cluster cannot" in error_of(response)["detail"]


async def test_unknown_actions_and_arguments_do_not_exist(service: Service) -> None:
    """There is no route for another action, and only ``dry_run`` is an argument."""
    uuid = await service.built()
    assert (await service.act(uuid, "explode")).status_code == 404
    assert (await service.act(uuid, "rebuild?rollback=true")).status_code == 400
