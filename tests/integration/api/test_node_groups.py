"""Node groups are made, changed and removed over HTTP."""

from typing import Any

import pytest

from jeroboam.models import OperationKind, OperationState, Status
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import BASE, Service, error_of


async def post(service: Service, ident: str, version: str = "1.14", **body: Any) -> Any:
    return await service.call(
        "POST", f"/v1/clusters/{ident}/nodegroups", json={"name": "big"} | body, version=version
    )


async def patch(service: Service, ident: str, group: str, *operations: Any) -> Any:
    path = f"/v1/clusters/{ident}/nodegroups/{group}"
    return await service.call("PATCH", path, json=operations)


def replace(path: str, value: Any) -> dict[str, Any]:
    return {"op": "replace", "path": path, "value": value}


async def test_a_group_is_added(service: Service) -> None:
    """The body is the whole group, with what it has from the cluster; row and operation exist."""
    uuid = await service.built(labels={"a": "1"}, flavor_id="m1.small")
    response = await post(
        service,
        "mine",
        node_count=2,
        max_node_count=5,
        labels={"b": "2"},
        merge_labels=True,
        node_labels={"disk": "fast"},
        node_taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
    )
    assert response.status_code == 202, response.text
    body = response.json()
    operation = service.operations.started[-1]
    assert response.headers["jeroboam-operation"] == operation.uuid
    assert operation.kind is OperationKind.CREATE_NODE_GROUP
    group = await service.store.clusters.node_group(uuid, "big")
    assert operation.parameters.group is not None
    assert operation.parameters.group.uuid == group.uuid == body["uuid"]
    assert group.status is Status.CREATE_IN_PROGRESS
    assert body.pop("created_at").endswith("+00:00")
    assert body == {
        "id": None,
        "uuid": group.uuid,
        "name": "big",
        "cluster_id": uuid,
        "project_id": PROJECT,
        "flavor_id": "m1.small",
        "image_id": "fake-image",
        "docker_volume_size": None,
        "labels": {"a": "1", "b": "2"},
        "merge_labels": True,
        "labels_added": {"b": "2"},
        "labels_overridden": {},
        "labels_skipped": {},
        "node_labels": {"disk": "fast"},
        "node_taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
        "node_count": 2,
        "min_node_count": 0,
        "max_node_count": 5,
        "role": "worker",
        "is_default": False,
        "node_addresses": [],
        "stack_id": None,
        "status": "CREATE_IN_PROGRESS",
        "status_reason": None,
        "version": None,
        "updated_at": None,
        "links": [
            {"href": f"{BASE}/v1/clusters/{uuid}/nodegroups/{group.uuid}", "rel": "self"},
            {"href": f"{BASE}/clusters/{uuid}/nodegroups/{group.uuid}", "rel": "bookmark"},
        ],
    }
    cluster = (await service.call("GET", f"/v1/clusters/{uuid}")).json()
    assert cluster["status"] == "UPDATE_IN_PROGRESS"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"name": "default-worker"}, 409, "already exists in the cluster mine"),
        ({"min_node_count": 2}, 409, "min_node_count (2) should be less or equal to node_count"),
        ({"node_count": 3, "max_node_count": 2}, 409, "node_count (3) should be less or equal to"),
        ({"min_node_count": 3, "max_node_count": 2}, 409, "min_node_count (3) should be less"),
        ({"node_taints": [{"key": "a", "effect": "Never"}]}, 409, "node_taints[0].effect must be"),
        ({"node_taints": [{"effect": "NoSchedule"}]}, 409, "node_taints[0].key is required"),
        ({"node_taints": ["a=b:NoSchedule"]}, 409, "must be an object with key, effect"),
        ({"node_labels": {"kubernetes.io/role": "x"}}, 409, "restricted Kubernetes namespace"),
        ({"node_labels": {"a b": "x"}}, 409, "'a b' is no label key of Kubernetes"),
        ({"role": "master", "node_taints": []}, 400, "Creating master nodegroups"),
        ({"role": "master", "node_labels": {"a": "b"}}, 409, "may not be set on master"),
        ({"flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"flavor_id": "diskless"}, 400, "has no root disk"),
        ({"image_id": "absent"}, 400, "Unable to find image absent"),
        ({"labels": {"fake_fail": "explode"}}, 400, "is not valid for the fake driver"),
        ({"name": None}, 400, "field/attribute name"),
        ({"name": "a/b"}, 400, "field/attribute name"),
        ({"name": "n" * 64}, 400, "field/attribute name"),
        ({"node_count": -1}, 400, "field/attribute node_count"),
        ({"node_labels": {"a": ["b"]}}, 400, "field/attribute node_labels"),
        ({"node_taints": "a"}, 400, "field/attribute node_taints"),
        ({"stack_id": "x"}, 400, "Cannot set read only field"),
        ({"project_id": "x"}, 400, "Cannot set read only field"),
        ({"colour": "red"}, 400, "Unknown attribute: colour"),
    ],
)
async def test_what_cannot_work_is_refused(
    service: Service, body: dict[str, Any], status: int, message: str
) -> None:
    """Input errors of node groups are conflicts, as in Magnum; nothing is written."""
    uuid = await service.built()
    before = await service.everything()
    response = await post(service, uuid, **body)
    assert (response.status_code, message in error_of(response)["detail"]) == (
        status,
        True,
    ), response.text
    assert await service.everything() == before


async def test_what_magnum_accepts_is_accepted(service: Service) -> None:
    """Zero nodes at 1.9, an own hostname label, a free role; what is not the user's is ignored."""
    uuid = await service.built()
    response = await post(
        service,
        uuid,
        version="1.9",
        node_count=0,
        role="edge",
        node_labels={"kubernetes.io/hostname": "x", "node.kubernetes.io/y": ""},
        node_taints=[{"key": "a", "value": None, "effect": "NoExecute"}],
        is_default=True,
        status="CREATE_COMPLETE",
        cluster_id="00000000-0000-4000-8000-000000000000",
        max_node_count=0,
    )
    assert response.status_code == 202, response.text
    body = response.json()
    assert (body["node_count"], body["role"], body["is_default"]) == (0, "edge", False)
    assert (body["cluster_id"], body["status"]) == (uuid, "CREATE_IN_PROGRESS")
    assert body["node_taints"] == [{"key": "a", "effect": "NoExecute"}]


async def test_a_cluster_without_an_api_takes_no_group(service: Service) -> None:
    """A cluster that is being built has no address of its API yet."""
    uuid = await service.cluster((await service.template())["uuid"])
    response = await post(service, uuid)
    assert response.status_code == 409
    assert error_of(response)["detail"] == "Cluster API address is not available yet"


async def test_a_group_that_could_not_be_built_can_go(service: Service) -> None:
    """Its row tells why; it can be deleted, and its name is taken until then."""
    uuid = await service.built()
    await post(service, uuid)
    await service.fail(uuid, node_group_status=Status.CREATE_FAILED)
    assert (await post(service, uuid)).status_code == 409
    response = await service.call("DELETE", f"/v1/clusters/{uuid}/nodegroups/big")
    assert (response.status_code, response.content) == (204, b"")


async def test_a_group_is_changed(service: Service) -> None:
    """Bounds, labels and taints change by a patch; the body is the group as it shall be."""
    uuid = await service.built()
    await post(service, uuid, node_count=2, node_labels={"a": "1"})
    await service.finish(uuid)
    response = await patch(
        service,
        uuid,
        "big",
        replace("/min_node_count", "1"),
        replace("/max_node_count", 4),
        replace("/node_labels", '{"b": "2"}'),
        replace("/node_taints", '[{"key": "gpu", "effect": "NoSchedule"}]'),
    )
    assert response.status_code == 202, response.text
    body = response.json()
    expected: dict[str, Any] = {
        "min_node_count": 1,
        "max_node_count": 4,
        "node_labels": {"b": "2"},
        "node_taints": [{"key": "gpu", "effect": "NoSchedule"}],
    }
    assert body.items() >= (expected | {"status": "UPDATE_IN_PROGRESS"}).items()
    operation = service.operations.started[-1]
    assert response.headers["jeroboam-operation"] == operation.uuid
    assert operation.kind is OperationKind.UPDATE_NODE_GROUP
    path = f"/v1/clusters/{uuid}/nodegroups/big"
    before = (await service.call("GET", path)).json()
    assert (before["min_node_count"], before["node_labels"]) == (0, {"a": "1"})
    await service.finish(uuid)
    assert (await service.call("GET", path)).json().items() >= expected.items()


async def test_what_is_removed_has_its_default_again(service: Service) -> None:
    """Without a minimum it is zero, without a maximum there is none."""
    uuid = await service.built()
    await post(service, uuid, node_count=2, min_node_count=1, max_node_count=3)
    await service.finish(uuid)
    removals = [
        {"op": "remove", "path": path}
        for path in ("/min_node_count", "/max_node_count", "/node_labels", "/node_taints")
    ]
    body = (await patch(service, uuid, "big", *removals)).json()
    assert (body["min_node_count"], body["max_node_count"]) == (0, None)
    assert (body["node_labels"], body["node_taints"]) == ({}, [])


@pytest.mark.parametrize(
    ("operation", "status", "message"),
    [
        (replace("/node_count", 3), 400, "'/node_count' is an internal attribute"),
        (replace("/name", "x"), 400, "'/name' is an internal attribute"),
        (replace("/labels", "{}"), 400, "'/labels' is an internal attribute"),
        (replace("/flavor_id", "x"), 400, "'/flavor_id' is an internal attribute"),
        (replace("/merge_labels", "x"), 400, "'/merge_labels' is an internal attribute"),
        (replace("/uuid", "x"), 400, "'/uuid' is an internal attribute"),
        (replace("/colour", "x"), 400, "no such attribute"),
        (replace("/max_node_count", "many"), 400, "field/attribute max_node_count"),
        (replace("/max_node_count", -1), 400, "field/attribute max_node_count"),
        (replace("/max_node_count", 1), 409, "node_count (2) should be less or equal to"),
        (replace("/min_node_count", 3), 409, "min_node_count (3) should be less or equal to"),
        (replace("/node_taints", "gpu"), 400, "is no mapping or list"),
        (replace("/node_taints", '["gpu"]'), 409, "must be an object"),
        (replace("/node_labels", '{"k8s.io/x": "y"}'), 409, "restricted Kubernetes namespace"),
        (replace("/node_labels", '["a"]'), 400, "field/attribute node_labels"),
    ],
)
async def test_other_changes_are_refused(
    service: Service, operation: dict[str, Any], status: int, message: str
) -> None:
    """What cannot change is 400, what cannot be is 409; nothing is written."""
    uuid = await service.built()
    await post(service, uuid, node_count=2)
    await service.finish(uuid)
    before = await service.everything()
    response = await patch(service, uuid, "big", operation)
    assert (response.status_code, message in error_of(response)["detail"]) == (
        status,
        True,
    ), response.text
    assert await service.everything() == before


async def test_masters_take_no_labels_or_taints(service: Service) -> None:
    """The control plane's labels and taints are its own; its bounds may change."""
    uuid = await service.built()
    refused = await patch(service, uuid, "default-master", replace("/node_labels", '{"a": "b"}'))
    assert (refused.status_code, "on master nodegroups" in refused.text) == (409, True)
    change = replace("/max_node_count", 5)
    assert (await patch(service, uuid, "default-master", change)).status_code == 202


async def test_a_group_is_removed(service: Service) -> None:
    """A delete is 204 with the operation in a header; it is never rolled back."""
    uuid = await service.built()
    await post(service, uuid)
    await service.finish(uuid)
    group = await service.store.clusters.node_group(uuid, "big")
    response = await service.call("DELETE", f"/v1/clusters/mine/nodegroups/{group.uuid}")
    assert (response.status_code, response.content) == (204, b"")
    operation = service.operations.started[-1]
    assert response.headers["jeroboam-operation"] == operation.uuid
    assert operation.kind is OperationKind.DELETE_NODE_GROUP
    assert (operation.parameters.node_group, operation.rollback) == (group.uuid, False)
    shown = (await service.call("GET", f"/v1/clusters/{uuid}/nodegroups/big")).json()
    assert shown["status"] == "DELETE_IN_PROGRESS"
    await service.apply(operation, state=OperationState.SUCCEEDED, remove_node_group=group.uuid)
    gone = await service.call("GET", f"/v1/clusters/{uuid}/nodegroups/big")
    assert gone.status_code == 404


@pytest.mark.parametrize(
    ("group", "status"), [("default-worker", 400), ("default-master", 400), ("absent", 404)]
)
async def test_default_groups_go_with_their_cluster_only(
    service: Service, group: str, status: int
) -> None:
    """A default group cannot be deleted."""
    uuid = await service.built()
    response = await service.call("DELETE", f"/v1/clusters/{uuid}/nodegroups/{group}")
    assert response.status_code == status


async def test_a_driver_without_the_ability_says_so(service: Service) -> None:
    """The driver is named, with whom to ask, and no row is left behind."""
    template = await service.template(image_id="plain-image")
    uuid = await service.built(template=template["uuid"])
    response = await post(service, uuid)
    assert response.status_code == 400
    assert "driver plain of this cluster cannot create node group" in error_of(response)["detail"]
    assert len(await service.store.clusters.node_groups([uuid])) == 1
    groups = (await service.call("GET", f"/v1/clusters/{uuid}/nodegroups")).json()["nodegroups"]
    assert len(groups) == 2


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
@pytest.mark.parametrize(("version", "hidden"), [("1.8", True), ("1.9", False)])
async def test_the_gates_of_node_groups(
    service: Service, method: str, version: str, hidden: bool
) -> None:
    """Node groups need 1.9."""
    path = "/v1/clusters/x/nodegroups" + ("" if method == "POST" else "/y")
    response = await service.call(method, path, version=version)
    assert (response.status_code == 406) is hidden
