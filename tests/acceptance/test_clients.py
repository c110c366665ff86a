"""The clients that people use, unmodified: the command line and openstacksdk."""

from collections.abc import Iterator
from typing import Any

import openstack.exceptions
import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from tests import logins
from tests.acceptance.stack import Stack, running_stack, wait_for

SECONDS = 60

# Each command of the client costs seconds of processor time.
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("clients")) as stack:
        yield stack


@pytest.fixture(scope="module")
def demo(stack: Stack) -> Connection:
    return stack.connect("demo")


def json_of(stack: Stack, *arguments: str, cloud: str = "demo") -> Any:
    return stack.openstack("coe", *arguments, "-f", "json", cloud=cloud)


def test_the_command_line_leads_a_cluster_through_its_life(stack: Stack, demo: Connection) -> None:
    """Template and cluster are made, listed, shown, changed and deleted by ``openstack coe``."""
    magnum = demo.container_infrastructure_management
    stack.openstack(
        *("coe", "cluster", "template", "create", "cli-template"),
        *(
            "--coe",
            "kubernetes",
            "--image",
            "fake-os",
            "--labels",
            "fake_create_seconds=2,unused=1",
        ),
        *("--external-network", "public", "--flavor", "m1.small", "--keypair", "demo"),
    )
    (listed,) = json_of(stack, "cluster", "template", "list")
    assert listed["name"] == "cli-template"
    stack.openstack(
        *("coe", "cluster", "template", "update", "cli-template", "--name", "renamed"),
        *("--label", "extra=1", "--docker-volume-size", "7", "--no-label", "unused"),
    )
    shown = json_of(stack, "cluster", "template", "show", "renamed")
    assert shown["image_id"] == "fake-os"
    assert shown["labels"] == {"fake_create_seconds": "2", "extra": "1"}
    assert shown["docker_volume_size"] == 7
    printed = stack.openstack(
        *("coe", "cluster", "create", "cli-cluster", "--cluster-template", "renamed"),
        *("--node-count", "2", "--labels", "fake_delete_seconds=1", "--merge-labels"),
    )
    assert "Request to create cluster" in printed
    wait_for(
        lambda: logins.required(magnum.find_cluster("cli-cluster")).status == "CREATE_COMPLETE",
        SECONDS,
        "the cluster is complete",
    )
    cluster = json_of(stack, "cluster", "show", "cli-cluster")
    assert (cluster["node_count"], cluster["master_count"]) == (2, 1)
    assert cluster["labels_added"] == {"fake_delete_seconds": "1"}
    assert len(cluster["node_addresses"]) == 2
    assert cluster["cluster_id"] == f"fake-{cluster['uuid']}"
    groups = json_of(stack, "nodegroup", "list", "cli-cluster")
    assert [group["name"] for group in groups] == ["default-master", "default-worker"]
    worker = json_of(stack, "nodegroup", "show", "cli-cluster", "default-worker")
    assert worker["node_count"] == 2
    stack.openstack("coe", "cluster", "delete", "cli-cluster")
    wait_for(lambda: not list(magnum.clusters()), SECONDS, "the cluster is gone")
    assert json_of(stack, "cluster", "list") == []
    stack.openstack("coe", "cluster", "template", "delete", "renamed")


def test_the_command_line_shows_our_words(stack: Stack) -> None:
    """Refusals reach the user's terminal with the sentence that says what to do."""
    refused = stack.run_openstack(
        *("coe", "cluster", "template", "create", "wrong"),
        *("--coe", "kubernetes", "--image", "fake-os", "--flavor", "m1.giant"),
        *("--external-network", "public"),
    )
    assert refused.returncode == 1
    assert "Unable to find flavor m1.giant (HTTP 400)" in refused.stderr
    absent = stack.run_openstack("coe", "cluster", "show", "absent")
    assert "Cluster absent could not be found (HTTP 404)" in absent.stderr
    denied = stack.run_openstack("coe", "service", "list")
    assert "Policy doesn't allow magnum-service:get_all to be performed" in denied.stderr
    unserved = stack.run_openstack("coe", "stats", "list", "any-project")
    assert "is not available in this version of the service (HTTP 501)" in unserved.stderr


def test_administrators_list_services_by_the_command_line(stack: Stack) -> None:
    """The worker is the one service, under Magnum's name for it."""
    (service,) = json_of(stack, "service", "list", cloud="admin")
    assert (service["id"], service["binary"], service["state"]) == (1, "magnum-conductor", "up")


def test_openstacksdk_leads_a_cluster_through_its_life(stack: Stack, demo: Connection) -> None:
    """The SDK's proxy, at its default version, creates, finds, updates, waits and deletes."""
    magnum = demo.container_infrastructure_management
    template = magnum.create_cluster_template(
        name="sdk-template",
        coe="kubernetes",
        image_id="fake-os",
        keypair_id="demo",
        is_floating_ip_enabled=False,
        labels={"fake_create_seconds": "1", "number": 3, "flag": True},
    )
    found_template = logins.required(magnum.find_cluster_template("sdk-template"))
    assert found_template.uuid == template.id
    assert magnum.get_cluster_template(template.id).labels["number"] == "3"
    changed = magnum.update_cluster_template(template, name="sdk-renamed")
    assert changed.name == "sdk-renamed"
    created = magnum.create_cluster(
        name="sdk-cluster", cluster_template_id=template.id, node_count=1
    )
    found = logins.required(magnum.find_cluster("sdk-cluster"))
    assert found.uuid == created.id
    assert [cluster.id for cluster in magnum.clusters()] == [created.id]
    wait_for(
        lambda: magnum.get_cluster(created.id).status == "CREATE_COMPLETE",
        SECONDS,
        "the cluster is complete",
    )
    complete = magnum.get_cluster(created.id)
    assert complete.stack_id == f"fake-{created.id}"
    assert complete.coe_version
    assert complete.is_floating_ip_enabled is False
    magnum.delete_cluster(created.id)
    wait_for(lambda: not list(magnum.clusters()), SECONDS, "the cluster is gone")
    with pytest.raises(openstack.exceptions.NotFoundException):
        magnum.get_cluster(created.id)
    magnum.delete_cluster_template(template.id)
    assert list(magnum.cluster_templates()) == []


def test_openstacksdk_shows_our_words(demo: Connection) -> None:
    """The SDK's exceptions carry the status and the request id."""
    with pytest.raises(openstack.exceptions.BadRequestException) as refused:
        demo.container_infrastructure_management.create_cluster_template(
            name="wrong", coe="kubernetes", image_id="absent"
        )
    assert refused.value.status_code == 400
    assert "Unable to find image absent" in logins.required(refused.value.response).text


def test_openstacksdk_lists_services_for_administrators(stack: Stack) -> None:
    """The SDK reads the list of services."""
    (service,) = stack.connect("admin").container_infrastructure_management.services()
    assert service.state == "up"
    assert service.report_count > 0
