"""``POST /v1/clusters/{id}/actions/upgrade``."""

from typing import Any

import pytest

from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry
from jeroboam.models import OperationKind, Parameters, Status
from tests.integration.api.conftest import Service, error_of

OLD = {"fake_version": "v1.29.3"}
NEW = {"fake_version": "v1.30.1"}


async def upgrade(service: Service, ident: str, token: str = "member-token", **body: Any) -> Any:
    version = body.pop("version", "1.14")
    return await service.act(ident, "upgrade", json=body, version=version, token=token)


async def on_old(service: Service, **attributes: Any) -> str:
    template = await service.template(name="old", labels=OLD)
    return await service.built(template=template["uuid"], **attributes)


async def test_a_cluster_moves_to_another_template(service: Service) -> None:
    """The operation has the template's uuid; the cluster has it when the operation succeeded."""
    uuid = await on_old(service)
    template = await service.template(name="new", labels=NEW, image_id="newer-image")
    response = await upgrade(service, uuid, cluster_template="new")
    assert (response.status_code, response.json()) == (202, {"uuid": uuid})
    operation = service.operations.started[-1]
    assert response.headers["jeroboam-operation"] == operation.uuid
    assert operation.kind is OperationKind.UPGRADE
    files = DriverEntry(FakeDriver()).files
    assert operation.parameters == Parameters(
        cluster_template_id=template["uuid"],
        batch_size=1,
        driver_version=FakeDriver.version,
        driver_files=files and files.digest,
    )
    assert operation.rollback
    cluster = (await service.store.clusters.spec(uuid)).cluster
    assert cluster.status is Status.UPDATE_IN_PROGRESS
    assert cluster.cluster_template_id != template["uuid"]
    await service.finish(uuid)
    spec = await service.store.clusters.spec(uuid)
    assert spec.cluster.cluster_template_id == template["uuid"]
    assert spec.cluster.labels == NEW
    assert {group.image_id for group in spec.node_groups} == {"newer-image"}


async def test_the_batch_size_is_taken_over(service: Service) -> None:
    """``max_batch_size`` says how many nodes may be away at a time; ``null`` is one."""
    uuid = await on_old(service)
    await service.template(name="new", labels=NEW)
    for given, expected in ((3, 3), (None, 1)):
        response = await upgrade(service, uuid, cluster_template="new", max_batch_size=given)
        assert response.status_code == 202, response.text
        assert service.operations.started[-1].parameters.batch_size == expected
        await service.fail(uuid)


async def test_one_group_moves_to_the_template_of_its_cluster_only(service: Service) -> None:
    """A node group with another template than its cluster's is a conflict, as in Magnum."""
    uuid = await on_old(service)
    await service.template(name="new", labels=NEW)
    response = await upgrade(
        service, uuid, cluster_template="new", nodegroup="default-worker", max_batch_size=2
    )
    assert response.status_code == 409
    assert "only to match cluster's template (old)" in error_of(response)["detail"]
    response = await upgrade(service, uuid, cluster_template="old", nodegroup="default-worker")
    assert response.status_code == 202
    spec = await service.store.clusters.spec(uuid)
    assert service.operations.started[-1].parameters.node_group == spec.workers[0].uuid


@pytest.mark.parametrize(
    ("version", "message"),
    [("v1.28.9", "v1.28"), ("v1.31.0", "v1.31"), ("v2.30.0", "v2.30")],
)
async def test_the_driver_refuses_to_skip_or_go_back(
    service: Service, version: str, message: str
) -> None:
    """A version that is lower, or two ahead, is refused before anything is touched."""
    uuid = await on_old(service)
    await service.template(name="far", labels={"fake_version": version})
    before = await service.everything()
    response = await upgrade(service, uuid, cluster_template="far")
    assert response.status_code == 400
    detail = error_of(response)["detail"]
    assert message in detail
    assert "v1.29.3" in detail
    assert await service.everything() == before


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "cluster_template. Mandatory field missing"),
        ({"cluster_template": None}, 400, "cluster_template"),
        ({"cluster_template": "absent"}, 404, "could not be found"),
        ({"cluster_template": "foreign"}, 404, "could not be found"),
        ({"cluster_template": "hidden"}, 403, "The cluster template is hidden"),
        ({"cluster_template": "new", "max_batch_size": 0}, 400, "max_batch_size"),
        ({"cluster_template": "new", "nodegroup": "absent"}, 404, "Node group absent"),
        ({"cluster_template": "new", "colour": "red"}, 400, "Unknown attribute: colour"),
        ({"cluster_template": "plain"}, 400, "its driver is plain and the cluster's is fake"),
        ({"cluster_template": "swarm"}, 400, "its container orchestration engine is swarm"),
        ({"cluster_template": "imageless"}, 400, "Unable to find image newer-image"),
        ({"cluster_template": "former"}, 400, "versions never go down"),
    ],
)
async def test_what_cannot_work_is_refused(
    service: Service, body: dict[str, Any], status: int, message: str
) -> None:
    """Each mistake has its code; nothing is written."""
    uuid = await on_old(service)
    await service.template(name="new", labels=NEW)
    await service.template(name="plain", image_id="plain-image")
    await service.template(name="swarm", coe="swarm", network_driver="docker")
    await service.template(name="former", labels={"fake_version": "v1.20.0"})
    await service.template(name="imageless", labels=NEW, image_id="newer-image")
    await service.template(token="stranger-token", name="foreign", labels=NEW)
    await service.template(token="admin-token", name="hidden", labels=NEW, hidden=True)
    del service.cloud.images["newer-image"]
    before = await service.everything()
    response = await upgrade(service, uuid, **body)
    assert (response.status_code, message in error_of(response)["detail"]) == (
        status,
        True,
    ), response.text
    assert await service.everything() == before


async def test_an_administrator_upgrades_any_cluster(service: Service) -> None:
    """Of a foreign cluster the templates of its own project count, the hidden ones too."""
    template = await service.template(token="stranger-token", name="old", labels=OLD)
    uuid = await service.cluster(template["uuid"], token="stranger-token")
    await service.finish(uuid)
    await service.template(name="new", labels=NEW)
    refused = await upgrade(service, uuid, token="admin-token", cluster_template="new")
    assert refused.status_code == 404
    await service.template(token="stranger-token", name="new", labels=NEW)
    response = await upgrade(service, uuid, token="admin-token", cluster_template="new")
    assert response.status_code == 202, response.text


async def test_flavors_are_looked_up_again(service: Service) -> None:
    """A flavor that the cloud has not any more is found out before the nodes are replaced."""
    uuid = await on_old(service, flavor_id="m1.small")
    await service.template(name="new", labels=NEW)
    del service.cloud.flavors["m1.small"]
    response = await upgrade(service, uuid, cluster_template="new")
    assert (response.status_code, "flavor m1.small" in response.text) == (400, True)


async def test_a_driver_without_the_ability_says_so(service: Service) -> None:
    """A driver that cannot upgrade is named, with whom to ask."""
    template = await service.template(image_id="plain-image")
    uuid = await service.built(template=template["uuid"])
    response = await upgrade(service, uuid, cluster_template=template["uuid"])
    assert response.status_code == 400
    assert "driver plain of this cluster cannot upgrade" in error_of(response)["detail"]


@pytest.mark.parametrize(("version", "status"), [("1.7", 400), ("1.8", 202)])
async def test_the_gate_of_an_upgrade(service: Service, version: str, status: int) -> None:
    """Before 1.8 an upgrade is a bad request, and not 406, as in Magnum."""
    uuid = await on_old(service)
    await service.template(name="new", labels=NEW)
    response = await upgrade(service, uuid, cluster_template="new", version=version)
    assert response.status_code == status
