"""What is refused before the 202, measured against a real Glance, Nova and Neutron."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from tests import logins
from tests.acceptance.stack import Stack, running_stack, wait_for

OUT_OF_TREE = """
from jeroboam.drivers.base import Provides
from jeroboam.drivers.fake.driver import FakeDriver

class Twin(FakeDriver):
    name = "{name}"

    @property
    def provides(self):
        return (Provides("vm", "ubuntu", "kubernetes"),)
"""


def install_driver(folder: Path, name: str) -> None:
    """Install a driver that no package of ours knows, as an operator would: on the path."""
    (folder / f"{name}.py").write_text(OUT_OF_TREE.format(name=name))
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[jeroboam.drivers]\n{name} = {name}:Twin\n")


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("drivers")
    for name in ("left_twin", "right_twin", "idle_driver"):
        install_driver(folder, name)
    with running_stack(
        cloud,
        tmp_path_factory.mktemp("validation"),
        PYTHONPATH=str(folder),
        JEROBOAM_DISABLED_DRIVERS="idle_driver",
        JEROBOAM_MAX_CLUSTERS_PER_PROJECT="2",
        JEROBOAM_MAX_BODY_BYTES="20000",
    ) as stack:
        yield stack


@pytest.fixture(scope="module")
def demo(stack: Stack) -> Connection:
    return stack.connect("demo")


@pytest.fixture(scope="module")
def private(demo: Connection) -> Iterator[str]:
    """A network of the project, with a subnet."""
    network = demo.network.create_network(name="validation")
    subnet = demo.network.create_subnet(
        name="validation-subnet", network_id=network.id, ip_version=4, cidr="10.77.0.0/24"
    )
    yield str(network.id)
    demo.network.delete_subnet(subnet)
    demo.network.delete_network(network)


class Caller:
    """Speaks HTTP as one of the users, at the newest microversion."""

    def __init__(self, stack: Stack, cloud: str) -> None:
        token = logins.token_of(stack.connect(cloud).session)
        self.client = httpx.Client(
            base_url=f"{stack.url}/v1",
            headers={"X-Auth-Token": token, "OpenStack-API-Version": "container-infra latest"},
            timeout=60,
        )

    def template(self, **attributes: Any) -> httpx.Response:
        body = {"name": "t", "coe": "kubernetes", "image_id": "fake-os"} | attributes
        return self.client.post("/clustertemplates", json=body)

    def cluster(self, template: str, **attributes: Any) -> httpx.Response:
        body = {"name": "c", "cluster_template_id": template} | attributes
        return self.client.post("/clusters", json=body)


@pytest.fixture(scope="module")
def caller(stack: Stack) -> Iterator[Caller]:
    caller = Caller(stack, "demo")
    with caller.client:
        yield caller


@pytest.fixture(scope="module")
def template(caller: Caller) -> str:
    response = caller.template(name="validation")
    assert response.status_code == 201, response.text
    return str(response.json()["uuid"])


def detail(response: httpx.Response) -> str:
    return str(response.json()["errors"][0]["detail"])


@pytest.mark.parametrize(
    ("attributes", "status", "message"),
    [
        ({"image_id": "absent"}, 400, "Unable to find image absent"),
        ({"image_id": "9d1cbd67-0d09-4b8f-a5b1-5b7d8e6d3c11"}, 400, "Unable to find image"),
        ({"image_id": "cirros"}, 400, "does not declare its distribution"),
        ({"image_id": "ubuntu-kube", "coe": "swarm"}, 400, "No driver builds swarm on ubuntu"),
        ({"image_id": "ubuntu-kube"}, 409, "left_twin, right_twin"),
        ({"image_id": "ubuntu-kube", "driver": "idle_driver"}, 400, "is disabled"),
        ({"driver": "absent"}, 400, "is not installed"),
        ({"flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"master_flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"external_network_id": "absent"}, 400, "Unable to find external network absent"),
        ({"external_network_id": "validation"}, 400, "Unable to find external network"),
        ({"fixed_network": "absent"}, 400, "Unable to find fixed network absent"),
        ({"fixed_subnet": "absent"}, 400, "Unable to find fixed subnet absent"),
    ],
)
def test_templates_that_the_cloud_cannot_serve(
    caller: Caller, private: str, attributes: dict[str, Any], status: int, message: str
) -> None:
    """Each thing that does not exist, or no driver fits, is refused with its own message."""
    response = caller.template(**attributes)
    assert (response.status_code, message in detail(response)) == (status, True), response.text


def test_names_and_ids_of_real_things_are_accepted(
    caller: Caller, demo: Connection, private: str
) -> None:
    """Image, flavor, networks and subnet are found by name and by id."""
    named = caller.template(
        name="by-name",
        flavor_id="m1.small",
        master_flavor_id="m1.small",
        external_network_id="public",
        fixed_network="validation",
        fixed_subnet="validation-subnet",
    )
    assert named.status_code == 201, named.text
    image = logins.required(demo.image.find_image("fake-os"))
    flavor = logins.required(demo.compute.find_flavor("m1.small"))
    public = logins.required(demo.network.find_network("public"))
    identified = caller.template(
        name="by-id",
        image_id=image.id,
        flavor_id=flavor.id,
        external_network_id=public.id,
        fixed_network=private,
    )
    assert identified.status_code == 201, identified.text
    for response in (named, identified):
        uuid = response.json()["uuid"]
        assert caller.client.delete(f"/clustertemplates/{uuid}").status_code == 204


def test_an_explicit_driver_settles_the_ambiguity(caller: Caller) -> None:
    """Of two out-of-tree drivers for one image the template's choice is taken."""
    response = caller.template(name="twin", image_id="ubuntu-kube", driver="right_twin")
    assert response.status_code == 201, response.text
    body = response.json()
    assert (body["driver"], body["cluster_distro"]) == ("right_twin", "ubuntu")
    assert caller.client.delete("/clustertemplates/twin").status_code == 204


@pytest.mark.parametrize(
    ("attributes", "status", "message"),
    [
        ({"cluster_template_id": "absent"}, 404, "could not be found"),
        ({"keypair": "absent"}, 404, "Unable to find keypair absent"),
        ({"flavor_id": "absent"}, 400, "Unable to find flavor absent"),
        ({"fixed_network": "absent"}, 400, "Unable to find fixed network absent"),
        ({"master_count": 2}, 400, "size cannot be an even number"),
        ({"master_count": 3}, 400, "master_count must be 1 when master_lb_enabled is False"),
        ({"labels": {"a": {"b": "c"}}}, 400, "labels.a"),
        ({"name": "n" * 243}, 400, "field/attribute name"),
        ({"colour": "red"}, 400, "Unknown attribute: colour"),
    ],
)
def test_clusters_that_cannot_be_built(
    caller: Caller, template: str, attributes: dict[str, Any], status: int, message: str
) -> None:
    """Mistakes are told at once and leave nothing behind."""
    response = caller.cluster(template, **attributes)
    assert (response.status_code, message in detail(response)) == (status, True), response.text
    assert caller.client.get("/clusters").json() == {"clusters": []}


def test_key_pairs_belong_to_users(stack: Stack, template: str, caller: Caller) -> None:
    """A key pair of another user in the same project cannot be found."""
    stack.connect("demo-admin").compute.create_keypair(name="admins-key")
    try:
        response = caller.cluster(template, keypair="admins-key")
        assert (response.status_code, detail(response)) == (
            404,
            "Unable to find keypair admins-key.",
        )
    finally:
        stack.connect("demo-admin").compute.delete_keypair("admins-key")


@pytest.mark.parametrize(
    ("content", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"name=c", "application/x-www-form-urlencoded", 415),
        (b"{" + b" " * 20_000 + b"}", "application/json", 413),
    ],
)
def test_bodies_that_are_not_acceptable(
    caller: Caller, content: bytes, content_type: str, status: int
) -> None:
    """Not JSON, of another type, or too large: each has its code, over a real socket too."""
    response = caller.client.post(
        "/clusters", content=content, headers={"Content-Type": content_type}
    )
    assert response.status_code == status
    assert response.json()["errors"][0]["status"] == status


@pytest.mark.parametrize("action", ["fail", "drop"])
@pytest.mark.parametrize(
    ("service", "attributes"),
    [
        ("glance", {}),
        ("nova", {"flavor_id": "m1.small"}),
        ("neutron", {"external_network_id": "public"}),
    ],
)
def test_a_service_that_is_down_is_503(
    stack: Stack, caller: Caller, service: str, attributes: dict[str, Any], action: str
) -> None:
    """When a service breaks, the user learns which one, and that it is not the request."""
    stack.cloud.add_fault(Fault(target="api", action=action, service=service))
    try:
        response = caller.template(**attributes)
    finally:
        stack.cloud.clear_faults()
    assert response.status_code == 503, response.text
    assert service.capitalize() in detail(response)


def test_the_quota_is_per_project(caller: Caller, template: str) -> None:
    """The third cluster of a project of two is 403; after a delete there is room again."""
    made = [caller.cluster(template, name=f"c{number}") for number in range(3)]
    assert [response.status_code for response in made] == [202, 202, 403]
    assert "maximum clusters per project, 2" in detail(made[2])
    for response in made[:2]:
        uuid = response.json()["uuid"]
        assert caller.client.delete(f"/clusters/{uuid}").status_code == 204
    wait_for(
        lambda: caller.client.get("/clusters").json() == {"clusters": []}, 60, "clusters are gone"
    )


def test_quotas_are_for_projects_that_exist(stack: Stack) -> None:
    """Keystone is asked for the project; what could lead to another path of it is no id."""
    project = logins.project_of(stack.connect("demo"))
    with Caller(stack, "admin").client as client:
        for absent in ("0" * 32, "../users", "a b"):
            refused = client.post("/quotas", json={"project_id": absent, "hard_limit": 1})
            assert refused.status_code == 404, refused.text
            assert f"Project {absent} could not be found" in detail(refused)
        made = client.post("/quotas", json={"project_id": project, "resource": "Core"})
        assert made.status_code == 201, made.text
        assert client.delete(f"/quotas/{project}/Core").status_code == 204
