"""Every command that magnumclient adds to ``openstack``, in the order of a user's life."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID
from openstack.connection import Connection

from tests import logins
from tests.acceptance.clients.command_line import CommandLine, command_line, every_command
from tests.acceptance.clients.signing import signing_request
from tests.acceptance.stack import Stack, wait_for

SECONDS = 60

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def openstack(stack: Stack) -> Iterator[CommandLine]:
    with command_line(stack.cloud.clouds_yaml, stack.directory) as client:
        yield client


def wait_until(openstack: CommandLine, cluster: str, status: str) -> None:
    wait_for(
        lambda: openstack.json("coe", "cluster", "show", cluster)["status"] == status,
        SECONDS,
        f"{cluster} is {status}",
    )


def test_every_command_works(
    stack: Stack, demo: Connection, openstack: CommandLine, tmp_path: Path
) -> None:
    """Templates, clusters, node groups, certificates, quotas: each command does what it says."""
    templates(openstack)
    create(openstack)
    node_groups(openstack)
    changes(openstack)
    certificates(openstack, tmp_path)
    rotations(openstack)
    administration(openstack, logins.project_of(demo))
    removal(openstack)
    assert openstack.ran == every_command()


def templates(openstack: CommandLine) -> None:
    for name in ("first", "second"):
        openstack(
            *("coe", "cluster", "template", "create", name, "--coe", "kubernetes"),
            *("--image", "fake-os", "--external-network", "public", "--keypair", "demo"),
            *("--flavor", "m1.small", "--master-flavor", "m1.small", "--dns-nameserver", "1.1.1.1"),
            *("--labels", "fake_create_seconds=1,unused=1", "--docker-volume-size", "5"),
            *("--network-driver", "flannel", "--volume-driver", "cinder", "--tags", "a"),
            *("--http-proxy", "http://192.0.2.1", "--no-proxy", "192.0.2.2", "--registry-enabled"),
            *("--insecure-registry", "192.0.2.3", "--server-type", "vm", "--floating-ip-enabled"),
        )
    listed = openstack.json("coe", "cluster", "template", "list", "--sort-key", "name")
    assert [one["name"] for one in listed] == ["first", "second"]
    openstack(
        *("coe", "cluster", "template", "update", "first", "--name", "renamed"),
        *("--label", "extra=1", "--docker-volume-size", "7", "--no-label", "unused"),
    )
    shown = openstack.json("coe", "cluster", "template", "show", "renamed")
    assert shown["labels"] == {"fake_create_seconds": "1", "extra": "1"}
    assert (shown["docker_volume_size"], shown["image_id"]) == (7, "fake-os")


def create(openstack: CommandLine) -> None:
    printed = openstack(
        *("coe", "cluster", "create", "mine", "--cluster-template", "renamed"),
        *("--node-count", "2", "--timeout", "30", "--keypair", "demo", "--flavor", "m1.small"),
        *("--labels", "fake_delete_seconds=1", "--merge-labels", "--floating-ip-disabled"),
    )
    assert "Request to create cluster" in printed
    wait_until(openstack, "mine", "CREATE_COMPLETE")
    (listed,) = openstack.json("coe", "cluster", "list", "--limit", "1", "--sort-dir", "desc")
    assert (listed["name"], listed["node_count"], listed["master_count"]) == ("mine", 2, 1)
    shown = openstack.json("coe", "cluster", "show", "mine")
    assert shown["labels_added"] == {"fake_delete_seconds": "1"}
    assert (shown["create_timeout"], shown["floating_ip_enabled"]) == (30, False)
    assert shown["cluster_id"] == f"fake-{shown['uuid']}"
    assert len(shown["node_addresses"]) == 2


def node_groups(openstack: CommandLine) -> None:
    openstack(
        *("coe", "nodegroup", "create", "mine", "more", "--node-count", "1", "--min-nodes", "1"),
        *("--max-nodes", "3", "--role", "worker", "--flavor", "m1.small", "--image", "fake-os"),
        *("--labels", "a=b", "--merge-labels", "--node-labels", "disk=ssd"),
        *("--node-taints", "only=this:NoSchedule"),
    )
    wait_until(openstack, "mine", "UPDATE_COMPLETE")
    listed = openstack.json("coe", "nodegroup", "list", "mine", "--role", "worker")
    assert [one["name"] for one in listed] == ["default-worker", "more"]
    openstack("coe", "nodegroup", "update", "mine", "more", "--max-nodes", "4")
    wait_until(openstack, "mine", "UPDATE_COMPLETE")
    shown = openstack.json("coe", "nodegroup", "show", "mine", "more")
    assert (shown["node_count"], shown["min_node_count"], shown["max_node_count"]) == (1, 1, 4)
    assert shown["node_labels"] == {"disk": "ssd"}
    openstack("coe", "nodegroup", "delete", "mine", "more")
    wait_for(
        lambda: len(openstack.json("coe", "nodegroup", "list", "mine")) == 2, SECONDS, "it is gone"
    )
    wait_until(openstack, "mine", "UPDATE_COMPLETE")


def changes(openstack: CommandLine) -> None:
    openstack("coe", "cluster", "update", "mine", "--node-count", "3", "--rollback")
    wait_until(openstack, "mine", "UPDATE_COMPLETE")
    openstack("coe", "cluster", "resize", "mine", "1", "--nodegroup", "default-worker")
    wait_until(openstack, "mine", "UPDATE_COMPLETE")
    assert openstack.json("coe", "cluster", "show", "mine")["node_count"] == 1
    openstack("coe", "cluster", "upgrade", "mine", "second", "--max-batch-size", "1")
    wait_until(openstack, "mine", "UPDATE_COMPLETE")
    second = openstack.json("coe", "cluster", "template", "show", "second")
    shown = openstack.json("coe", "cluster", "show", "mine")
    assert shown["cluster_template_id"] == second["uuid"]
    refused = openstack.attempt("coe", "cluster", "update", "mine", "--master-count", "3")
    assert refused["code"] == 1
    assert "cannot change" in refused["err"].lower()


def certificates(openstack: CommandLine, directory: Path) -> None:
    authority = x509.load_pem_x509_certificate(openstack("coe", "ca", "show", "mine").encode())
    request = directory / "request.pem"
    request.write_bytes(signing_request("someone"))
    signed = x509.load_pem_x509_certificate(
        openstack("coe", "ca", "sign", "mine", str(request)).encode()
    )
    signed.verify_directly_issued_by(authority)
    assert signed.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "someone"
    shell = openstack("coe", "cluster", "config", "mine", "--dir", str(directory), "--force")
    assert f"export KUBECONFIG={directory}/config" in shell
    config = yaml.safe_load((directory / "config").read_text())
    assert config["clusters"][0]["cluster"]["server"].startswith("https://")
    assert "client-certificate-data" in config["users"][0]["user"]


def rotations(openstack: CommandLine) -> None:
    before = openstack("coe", "ca", "show", "mine")
    openstack("coe", "ca", "rotate", "mine")
    wait_until(openstack, "mine", "UPDATE_COMPLETE")
    assert openstack("coe", "ca", "show", "mine") != before
    # The fake driver calls no cloud in the name of an owner, so there is nothing to rotate.
    refused = openstack.refused("coe", "credential", "rotate", "mine")
    assert "does not act for its owner (HTTP 400)" in refused


def administration(openstack: CommandLine, project: str) -> None:
    one = ("--project-id", project, "--resource", "Cluster")
    openstack("coe", "quotas", "create", *one, "--hard-limit", "5", cloud="admin")
    assert "| 5 " in openstack("coe", "quotas", "show", *one)
    openstack("coe", "quotas", "update", *one, "--hard-limit", "6", cloud="admin")
    listed = openstack("coe", "quotas", "list", "--all-tenants", cloud="admin")
    assert project in listed
    openstack("coe", "quotas", "delete", *one, cloud="admin")
    assert "| 20 " in openstack("coe", "quotas", "show", *one)
    stats = openstack("coe", "stats", "list", project)
    assert "| clusters | 1 " in stats
    (service,) = openstack.json("coe", "service", "list", cloud="admin")
    assert (service["id"], service["binary"], service["state"]) == (1, "magnum-conductor", "up")


def removal(openstack: CommandLine) -> None:
    openstack("coe", "cluster", "delete", "mine")
    wait_for(lambda: openstack.json("coe", "cluster", "list") == [], SECONDS, "it is gone")
    openstack("coe", "cluster", "template", "delete", "renamed", "second")
    assert openstack.json("coe", "cluster", "template", "list") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            (
                *("coe", "cluster", "template", "create", "wrong", "--coe", "kubernetes"),
                *("--image", "fake-os", "--flavor", "m1.giant", "--external-network", "public"),
            ),
            "Unable to find flavor m1.giant (HTTP 400)",
        ),
        (("coe", "cluster", "show", "absent"), "Cluster absent could not be found (HTTP 404)"),
        (("coe", "service", "list"), "Policy doesn't allow magnum-service:get_all to be performed"),
    ],
    ids=["bad request", "not found", "forbidden"],
)
def test_refusals_reach_the_terminal(
    openstack: CommandLine, arguments: tuple[str, ...], words: str
) -> None:
    """What the service says is what the user reads, and the exit code is 1."""
    refused = openstack.attempt(*arguments)
    assert refused["code"] == 1
    assert words in refused["err"], json.dumps(refused)


def test_the_command_as_a_process(stack: Stack, openstack: CommandLine) -> None:
    """Started by a shell, as users do, it gives the same list."""
    listing = ("coe", "cluster", "template", "list")
    assert stack.openstack(*listing, "-f", "json") == openstack.json(*listing)
