"""Clusters and node groups over HTTP."""

from typing import Any

import pytest

from jeroboam.errors import CloudUnavailableError, StoreUnavailableError
from jeroboam.models import (
    ClusterOutputs,
    OperationKind,
    OperationState,
    Status,
    StepNote,
    StepRecord,
    StepState,
    Transition,
    utc_now,
)
from jeroboam.store import Scope
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import BASE, Service, error_of


async def post(service: Service, template: str, *, version: str = "1.14", **attributes: Any) -> Any:
    body = {"name": "mine", "cluster_template_id": template} | attributes
    return await service.call("POST", "/v1/clusters", json=body, version=version)


async def show(service: Service, ident: str, **kwargs: Any) -> dict[str, Any]:
    response = await service.call("GET", f"/v1/clusters/{ident}", **kwargs)
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


async def apply(service: Service, uuid: str, **fields: Any) -> None:
    """Write what the workflow of the newest operation would write."""
    operation = service.operations.started[-1]
    values = {
        "operation_id": operation.uuid,
        "cluster_id": uuid,
        "seq": 1,
        "at": utc_now(),
        "state": OperationState.RUNNING,
    }
    await service.store.operations.apply(Transition.model_validate(values | fields))


async def test_creating_answers_202_with_the_uuid_alone(service: Service) -> None:
    """The body is the uuid; row, default groups and operation are stored, and it is started."""
    template = await service.template(labels={"a": "1"})
    response = await post(service, template["uuid"], node_count=2)
    assert response.status_code == 202
    (uuid,) = response.json().values()
    spec = await service.store.clusters.spec(uuid)
    assert spec.cluster.status is Status.CREATE_IN_PROGRESS
    assert (spec.cluster.driver, spec.cluster.driver_version) == ("fake", "1.0.0")
    assert spec.cluster.cloud == "testcloud"
    assert spec.cluster.trust_id is None
    groups = {group.name: group for group in spec.node_groups}
    assert groups.keys() == {"default-master", "default-worker"}
    assert {group.node_count for group in spec.workers} == {2}
    assert spec.masters.node_count == 1
    assert all(group.is_default for group in spec.node_groups)
    assert all(group.labels == {"a": "1"} for group in spec.node_groups)
    (operation,) = service.operations.started
    assert (operation.kind, operation.cluster_id) == (OperationKind.CREATE, uuid)
    assert operation.request_id == response.headers["x-openstack-request-id"]
    assert await service.store.operations.active(uuid) == [operation]


async def test_showing_has_all_fields_of_magnum(service: Service) -> None:
    """The fields are Magnum's, with the template's values where the request had none."""
    template = await service.template(
        keypair_id="mykey", flavor_id="m1.small", fixed_network="private", labels={"a": "1"}
    )
    uuid = await service.cluster(template["uuid"], labels={"a": "2", "b": "3"})
    body = await show(service, uuid)
    assert body.pop("created_at").endswith("+00:00")
    assert body.pop("status_reason") == "create: accepted, waits for a worker"
    assert body == {
        "uuid": uuid,
        "name": "mine",
        "cluster_template_id": template["uuid"],
        "keypair": "mykey",
        "node_count": 1,
        "master_count": 1,
        "docker_volume_size": None,
        "labels": {"a": "2", "b": "3"},
        "labels_overridden": {"a": "1"},
        "labels_added": {"b": "3"},
        "labels_skipped": {},
        "merge_labels": False,
        "flavor_id": "m1.small",
        "master_flavor_id": None,
        "create_timeout": 60,
        "links": [
            {"href": f"{BASE}/v1/clusters/{uuid}", "rel": "self"},
            {"href": f"{BASE}/clusters/{uuid}", "rel": "bookmark"},
        ],
        "cluster_id": None,
        "status": "CREATE_IN_PROGRESS",
        "health_status": None,
        "health_status_reason": {},
        "discovery_url": None,
        "api_address": None,
        "coe_version": None,
        "container_version": None,
        "project_id": PROJECT,
        "user_id": "u1",
        "node_addresses": [],
        "master_addresses": [],
        "fixed_network": "private",
        "fixed_subnet": None,
        "floating_ip_enabled": True,
        "master_lb_enabled": False,
        "updated_at": None,
    }


async def test_the_list_is_shorter_than_the_detail(service: Service) -> None:
    """The plain list has Magnum's short set of fields, the detailed one all of them."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    (short,) = (await service.call("GET", "/v1/clusters")).json()["clusters"]
    assert short.keys() == {
        *("uuid", "name", "cluster_template_id", "keypair", "node_count", "master_count"),
        *("docker_volume_size", "labels", "merge_labels", "flavor_id", "master_flavor_id"),
        *("create_timeout", "links", "status", "health_status", "cluster_id"),
    }
    (full,) = (await service.call("GET", "/v1/clusters/detail")).json()["clusters"]
    shown = await show(service, uuid)
    # The running step is told by the single cluster only.
    assert full | {"status_reason": None} == shown | {"status_reason": None}


@pytest.mark.parametrize("version", ["1.1", "1.12", "1.13", "1.14"])
async def test_the_backend_id_changes_its_name_at_1_13(service: Service, version: str) -> None:
    """It is ``stack_id`` up to 1.12 and ``cluster_id`` from 1.13 on, in lists too."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    await apply(service, uuid, stack_id="backend-7")
    new = version in {"1.13", "1.14"}
    present, absent = ("cluster_id", "stack_id") if new else ("stack_id", "cluster_id")
    listed = await service.call("GET", "/v1/clusters", version=version)
    for body in (await show(service, uuid, version=version), *listed.json()["clusters"]):
        assert body[present] == "backend-7"
        assert absent not in body


async def test_the_current_step_is_the_reason_while_it_runs(service: Service) -> None:
    """The reason of a cluster in progress is the step, its attempt and the newest note."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    step = "Wait for the backend"
    await apply(service, uuid, steps=[StepRecord(name=step, state=StepState.RUNNING)])
    note = StepNote(
        operation_id=service.operations.started[0].uuid,
        step=step,
        attempt=3,
        message="Heat does not answer: connection refused",
    )
    await service.store.operations.note(note)
    assert (await show(service, uuid))["status_reason"] == (
        "create: Wait for the backend (attempt 3): Heat does not answer: connection refused"
    )


async def test_a_finished_cluster_shows_what_the_driver_reported(service: Service) -> None:
    """Addresses, versions and counts come from the outputs and the groups."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"], node_count=2)
    spec = await service.store.clusters.spec(uuid)
    outputs = ClusterOutputs(
        api_address="https://192.0.2.1:6443",
        coe_version="v1.30.0",
        node_addresses={
            spec.masters.uuid: ("192.0.2.1",),
            spec.workers[0].uuid: ("192.0.2.2", "192.0.2.3"),
        },
    )
    await apply(
        service,
        uuid,
        state=OperationState.SUCCEEDED,
        cluster_status=Status.CREATE_COMPLETE,
        node_group_status=Status.CREATE_COMPLETE,
        outputs=outputs,
    )
    body = await show(service, uuid)
    assert body["status"] == "CREATE_COMPLETE"
    assert body["api_address"] == "https://192.0.2.1:6443"
    assert body["master_addresses"] == ["192.0.2.1"]
    assert body["node_addresses"] == ["192.0.2.2", "192.0.2.3"]
    assert "faults" not in body
    group = (await service.call("GET", f"/v1/clusters/{uuid}/nodegroups/default-worker")).json()
    assert group["node_addresses"] == ["192.0.2.2", "192.0.2.3"]
    assert group["status"] == "CREATE_COMPLETE"


async def test_a_failed_cluster_shows_its_faults(service: Service) -> None:
    """Only a failed cluster has faults: why its groups and resources failed."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    await apply(
        service,
        uuid,
        state=OperationState.FAILED,
        cluster_status=Status.CREATE_FAILED,
        status_reason="No valid host.",
        faults={"node-0": "No valid host."},
    )
    body = await show(service, uuid)
    assert (body["status"], body["status_reason"]) == ("CREATE_FAILED", "No valid host.")
    assert body["faults"] == {"node-0": "No valid host."}


@pytest.mark.parametrize(
    ("attributes", "status", "message"),
    [
        ({"cluster_template_id": None}, 400, "cluster_template_id"),
        ({"cluster_template_id": "absent"}, 404, "could not be found"),
        ({"colour": "red"}, 400, "Unknown attribute: colour"),
        ({"name": "1st"}, 400, "field/attribute name"),
        ({"name": "a b"}, 400, "field/attribute name"),
        ({"name": "a\n"}, 400, "field/attribute name"),
        ({"name": "n" * 243}, 400, "field/attribute name"),
        ({"name": ""}, 400, "field/attribute name"),
        ({"node_count": -1}, 400, "field/attribute node_count"),
        ({"node_count": "many"}, 400, "field/attribute node_count"),
        ({"node_count": 10**30}, 400, "field/attribute node_count"),
        ({"master_count": 0}, 400, "field/attribute master_count"),
        ({"master_count": 2}, 400, "size cannot be an even number"),
        ({"master_count": 3}, 400, "master_count must be 1 when master_lb_enabled is False"),
        ({"create_timeout": -1}, 400, "field/attribute create_timeout"),
        ({"docker_volume_size": 0}, 400, "field/attribute docker_volume_size"),
        ({"labels": {"a": {"b": "c"}}}, 400, "field/attribute labels.a"),
        ({"labels": {"a": ["b"]}}, 400, "got 'list'"),
        ({"labels": "a=b"}, 400, "field/attribute labels"),
        ({"labels": {"fake_fail": "explode"}}, 400, "is not valid for the fake driver"),
        ({"labels": {"min_node_count": "few"}}, 400, "must be a number of nodes"),
        ({"keypair": "absent"}, 404, "Unable to find keypair absent"),
        ({"flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"master_flavor_id": "diskless"}, 400, "has no root disk"),
        ({"fixed_network": "absent"}, 400, "Unable to find fixed network absent"),
        ({"fixed_subnet": "absent"}, 400, "Unable to find fixed subnet absent"),
        ({"api_address": "https://x"}, 400, "Cannot set read only field"),
        ({"stack_id": "x"}, 400, "Cannot set read only field"),
        ({"floating_ip_enabled": "perhaps"}, 400, "field/attribute floating_ip_enabled"),
    ],
)
async def test_what_cannot_work_is_refused_before_the_202(
    service: Service, attributes: dict[str, Any], status: int, message: str
) -> None:
    """Each mistake is refused with its own code; nothing is stored or started."""
    template = await service.template()
    response = await post(service, template["uuid"], **attributes)
    assert (response.status_code, message in error_of(response)["detail"]) == (
        status,
        True,
    ), response.text
    assert (await service.store.clusters.count(Scope(PROJECT))).clusters == 0
    assert service.operations.started == []


async def test_what_magnum_ignores_is_ignored(service: Service) -> None:
    """A status in the request is accepted and has no effect; nulls mean the defaults."""
    template = await service.template()
    uuid = await service.cluster(
        template["uuid"],
        name=None,
        status="CREATE_COMPLETE",
        uuid="00000000-0000-4000-8000-000000000000",
        node_count=None,
        create_timeout=None,
        discovery_url=None,
        labels=None,
        keypair=None,
    )
    body = await show(service, uuid)
    assert uuid != "00000000-0000-4000-8000-000000000000"
    assert body["status"] == "CREATE_IN_PROGRESS"
    assert (body["node_count"], body["create_timeout"]) == (1, 60)
    assert body["name"].endswith("-cluster")


async def test_several_masters_need_a_load_balancer(service: Service) -> None:
    """Three masters are fine with the load balancer of the template or the request."""
    template = await service.template(master_lb_enabled=True)
    uuid = await service.cluster(template["uuid"], master_count=3)
    assert (await show(service, uuid))["master_count"] == 3
    plain = await service.template(name="plain")
    assert (await post(service, plain["uuid"], master_count=3)).status_code == 400
    assert (
        await post(service, plain["uuid"], master_count=3, master_lb_enabled=True)
    ).status_code == 202


@pytest.mark.parametrize(("version", "status"), [("1.9", 400), ("1.10", 202)])
async def test_zero_nodes_are_allowed_from_1_10(
    service: Service, version: str, status: int
) -> None:
    """A cluster without workers is accepted from 1.10 on."""
    template = await service.template()
    response = await post(service, template["uuid"], node_count=0, version=version)
    assert response.status_code == status


@pytest.mark.parametrize(("version", "status"), [("1.9", 400), ("1.10", 404)])
async def test_an_unknown_template_is_400_before_1_10(
    service: Service, version: str, status: int
) -> None:
    """The code for a template that does not exist changed at 1.10."""
    assert (await post(service, "absent", version=version)).status_code == status


async def test_another_project_s_template_does_not_exist(service: Service) -> None:
    """A template that the caller cannot see is as one that is not there, for admins too."""
    template = await service.template(token="stranger-token")
    assert (await post(service, template["uuid"])).status_code == 404
    response = await service.call(
        "POST",
        "/v1/clusters",
        token="admin-token",
        json={"cluster_template_id": template["uuid"]},
    )
    assert response.status_code == 404


async def test_a_hidden_template_makes_no_clusters_for_tenants(service: Service) -> None:
    """Only an administrator may use a hidden template."""
    template = await service.template(token="admin-token", hidden=True)
    assert (await post(service, template["uuid"])).status_code == 403
    await service.cluster(template["uuid"], token="admin-token")


async def test_labels_replace_or_merge(service: Service) -> None:
    """Labels of the request replace the template's, unless merging is asked for."""
    template = await service.template(labels={"a": "1", "b": "2"})
    cases: list[tuple[dict[str, Any], dict[str, str]]] = [
        ({}, {"a": "1", "b": "2"}),
        ({"labels": {"b": "3"}}, {"b": "3"}),
        ({"labels": {"b": "3"}, "merge_labels": True}, {"a": "1", "b": "3"}),
    ]
    for attributes, expected in cases:
        uuid = await service.cluster(template["uuid"], **attributes)
        assert (await show(service, uuid))["labels"] == expected


async def test_the_quota_is_403_and_counts_per_project(service: Service) -> None:
    """One project's clusters do not count against another's quota of three."""
    template = await service.template(token="admin-token", public=True)
    for _ in range(3):
        await service.cluster(template["uuid"])
    response = await post(service, template["uuid"])
    assert response.status_code == 403
    assert "maximum clusters per project, 3" in error_of(response)["detail"]
    await service.cluster(template["uuid"], token="stranger-token")


async def test_a_trust_is_made_only_for_drivers_that_use_the_cloud(service: Service) -> None:
    """The cluster carries the trust of its creator if its driver needs one."""
    twin = await service.template(image_id="twin-image", driver="first_twin")
    uuid = await service.cluster(twin["uuid"])
    cluster = await service.store.clusters.get(uuid, Scope(None))
    assert {cluster.trust_id} == service.trusts.alive
    await service.cluster((await service.template(name="no-cloud"))["uuid"])
    assert service.trusts.made == 1


async def test_the_trust_goes_when_the_cluster_is_not_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that fails after the trust was made leaves no trust behind."""
    twin = await service.template(image_id="twin-image", driver="first_twin")

    async def fail(*_: object, **__: object) -> None:
        raise StoreUnavailableError("The database does not answer.")

    monkeypatch.setattr(service.store.clusters, "create", fail)
    assert (await post(service, twin["uuid"])).status_code == 503
    assert (service.trusts.made, service.trusts.alive) == (1, set())


async def test_the_owner_is_prepared_before_the_cluster_is_stored(service: Service) -> None:
    """What a driver does with the caller's token comes first, and its refusal leaves nothing."""
    template = (await service.template())["uuid"]
    service.trusts.refusal = CloudUnavailableError("Senlin does not answer.")
    response = await post(service, template)
    assert (response.status_code, "Senlin does not" in response.text) == (503, True)
    assert (await service.call("GET", "/v1/clusters")).json()["clusters"] == []
    service.trusts.refusal = None
    await service.cluster(template)
    assert service.trusts.prepared == [("u1", "fake")] * 2


async def test_a_driver_with_a_defect_is_500_and_gives_nothing_away(service: Service) -> None:
    """A driver that raises something else than its contract says is the operator's problem."""
    template = await service.template(coe="swarm", network_driver="docker")
    response = await post(service, template["uuid"])
    assert response.status_code == 500
    assert "Driver 'broken' could not check the request" in error_of(response)["detail"]
    assert "secret-in-a-defect" not in response.text


async def test_deleting_answers_204_by_uuid_and_by_name(service: Service) -> None:
    """A delete is accepted at once, and again while it runs."""
    template = await service.template()
    uuid = await service.cluster(template["uuid"])
    for ident in (uuid, "mine", uuid):
        response = await service.call("DELETE", f"/v1/clusters/{ident}")
        assert (response.status_code, response.content) == (204, b"")
    assert {operation.cluster_id for operation in service.operations.deleted} == {uuid}
    assert {operation.kind for operation in service.operations.deleted} == {OperationKind.DELETE}
    assert (await service.call("DELETE", "/v1/clusters/absent")).status_code == 404


async def test_a_rollback_can_be_asked_for(service: Service) -> None:
    """``?rollback=true`` on a create reaches the operation; without it nothing is rolled back."""
    template = await service.template()
    body = {"name": "mine", "cluster_template_id": template["uuid"]}
    for query, expected in (("?rollback=true", True), ("?rollback=False", False), ("", False)):
        response = await service.call("POST", f"/v1/clusters{query}", json=body, version="1.14")
        assert response.status_code == 202
        assert service.operations.started[-1].rollback is expected


@pytest.mark.parametrize(("query", "version"), [("rollback=true", "1.2"), ("other=1", "1.14")])
async def test_unknown_arguments_of_a_create_are_refused(
    service: Service, query: str, version: str
) -> None:
    """Magnum knows ``rollback`` from 1.3 on; anything else is no argument at all."""
    template = await service.template()
    body = {"name": "mine", "cluster_template_id": template["uuid"]}
    response = await service.call("POST", f"/v1/clusters?{query}", json=body, version=version)
    assert response.status_code == 400
    assert not service.operations.started
