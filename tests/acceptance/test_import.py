"""A cluster that Magnum's Heat driver has built is taken over, and led through its life."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from openstack.connection import Connection

from devcloud import Devcloud
from jeroboam.certificates import issue_cluster_secrets
from tests.acceptance import magnum_stacks
from tests.acceptance.stack import JEROBOAM, Stack, running_stack, wait_for
from tests.devcloud.stacks import Stacks, unique

pytestmark = [
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::openstack.warnings._RemovedInSDKWarning"),
]

SECONDS = 120
UUID = str(uuid4())


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("import")) as stack:
        yield stack


@pytest.fixture(scope="module")
def tenant(stack: Stack) -> Connection:
    return stack.connect()


@pytest.fixture(scope="module")
def stacks(tenant: Connection) -> Iterator[Stacks]:
    made = Stacks(tenant)
    yield made
    made.clean()


@pytest.fixture(scope="module")
def name() -> str:
    return unique("old")


@pytest.fixture(scope="module")
def main(stacks: Stacks, name: str) -> str:
    """The stack of a cluster with a master and two workers."""
    ident = magnum_stacks.create_cluster(stacks, name, UUID)
    assert stacks.settled(ident)["stack_status"] == "CREATE_COMPLETE", stacks.show(ident)
    return ident


@pytest.fixture(scope="module")
def gpu(stacks: Stacks, name: str, main: str) -> str:
    """The stack of its further node group."""
    ident = magnum_stacks.create_group(stacks, name, "gpu", UUID, main)
    assert stacks.settled(ident)["stack_status"] == "CREATE_COMPLETE", stacks.show(ident)
    return ident


def jeroboam(stack: Stack, *arguments: str, cloud: str = "demo") -> Any:
    """Run the command line; return its JSON or text, or what it says when it refuses."""
    done = subprocess.run(
        [str(JEROBOAM), "--os-cloud", cloud, *arguments, "-f", "json"],
        env={**os.environ, "OS_CLIENT_CONFIG_FILE": str(stack.cloud.clouds_yaml), "CI": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        return done.stderr
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(done.stdout)
    return done.stdout


def state_of(stacks: Stacks, *idents: str) -> list[Any]:
    """Return all by which a change of stacks could be seen."""
    shown = [stacks.show(ident) for ident in idents]
    events = [
        stacks.heat.get(f"/stacks/{one['stack_name']}/{one['id']}/events").json() for one in shown
    ]
    return [
        [(one["updated_time"], one["tags"], one["parameters"], one["outputs"]) for one in shown],
        events,
    ]


def settled(tenant: Connection, status: str) -> None:
    """Wait until the cluster is no longer in progress; it must then have the status."""
    magnum = tenant.container_infrastructure_management
    wait_for(
        lambda: not magnum.get_cluster(UUID).status.endswith("_IN_PROGRESS"), SECONDS, "its end"
    )
    shown = magnum.get_cluster(UUID)
    assert shown.status == status, shown.status_reason


def resize(stack: Stack, tenant: Connection, count: int, **more: str) -> None:
    """Ask for another number of workers, and wait for them."""
    answer = tenant.session.post(
        f"{stack.url}/v1/clusters/{UUID}/actions/resize",
        json={"node_count": count, **more},
        headers={"OpenStack-API-Version": "container-infra 1.9"},
    )
    assert answer.status_code == 202, answer.text
    settled(tenant, "UPDATE_COMPLETE")


def servers(tenant: Connection, name: str) -> dict[str, str]:
    """Return the ids of the cluster's servers by their names without the stacks' ids."""
    return {one.name: one.id for one in tenant.compute.servers() if one.name.startswith(f"{name}-")}


def test_the_dry_run_tells_what_is_recognised(stack: Stack, main: str, gpu: str) -> None:
    """uuid, version, nodes and node groups are found; what cannot be done is said with why."""
    report = jeroboam(stack, "cluster", "import", main, "--dry-run")
    assert (report["imported"], report["uuid"], report["obstacles"]) == (False, UUID, [])
    assert (report["coe"], report["master_count"], report["node_count"]) == ("kubernetes", 1, 3)
    groups = {one["name"]: one for one in report["node_groups"]}
    assert set(groups) == {"default-master", "default-worker", "gpu"}
    assert groups["gpu"]["stack_id"] == gpu
    assert [len(one["nodes"]) for one in report["node_groups"]] == [1, 2, 1]
    assert all(node["status"] == "ACTIVE" for node in groups["default-worker"]["nodes"])
    assert report["labels"] == {"kube_tag": magnum_stacks.KUBE_TAG}
    assert report["operations"]["choose which workers go"] is None
    assert "Magnum removed it" in report["operations"]["upgrade"]
    assert "of-the-trustee" not in json.dumps(report)
    assert not list(stack.connect().container_infrastructure_management.clusters())


def test_what_cannot_be_taken_over_is_refused(
    stack: Stack, main: str, gpu: str, stacks: Stacks
) -> None:
    """Node groups, stacks of others and stacks of something else are refused with the reason."""
    assert "is a node group" in jeroboam(stack, "cluster", "import", gpu)
    nested = stacks.resources(main, "physical_resource_id")["kube_minions"]
    assert "Name the outermost one" in jeroboam(stack, "cluster", "import", nested)
    other = stacks.create("other", {"heat_template_version": magnum_stacks.VERSION})
    assert "none of Magnum's" in jeroboam(stack, "cluster", "import", other)
    stranger = jeroboam(stack, "cluster", "import", main, cloud="other")
    assert "could not be found in your project" in stranger
    assert "is no node group" in jeroboam(stack, "cluster", "import", main, "--node-group", other)


def test_the_import_changes_nothing_in_the_cloud(
    stack: Stack, main: str, gpu: str, stacks: Stacks, tmp_path: Path
) -> None:
    """The cluster is shown by Magnum's clients, its CA signs, and its stacks are as they were."""
    secrets = issue_cluster_secrets("old")
    certificate, key = tmp_path / "ca.crt", tmp_path / "ca.key"
    certificate.write_text(secrets.kubernetes.certificate)
    key.write_text(secrets.etcd.private_key)
    keys = ("--ca-cert", str(certificate), "--ca-key", str(key))
    assert "is not that of" in jeroboam(stack, "cluster", "import", main, *keys)
    key.write_text(secrets.kubernetes.private_key)
    before = state_of(stacks, main, gpu)
    report = jeroboam(stack, "cluster", "import", main, *keys)
    assert report["imported"], report
    assert report["operations"]["certificates"] is None
    assert state_of(stacks, main, gpu) == before
    shown = stack.openstack("coe", "cluster", "show", UUID, "-f", "json")
    assert shown["status"] == "CREATE_COMPLETE"
    assert (shown["uuid"], shown["node_count"], shown["master_count"]) == (UUID, 3, 1)
    assert shown["api_address"].endswith(":6443")
    assert (shown["cluster_id"], shown["coe_version"]) == (main, magnum_stacks.KUBE_TAG)
    assert f"({UUID}) already" in jeroboam(stack, "cluster", "import", main)
    path = f"/v1/clusters/{UUID}/kubernetes/kubeconfig/admin"
    wait_for(lambda: _posted(stack, path) == 200, 30, "the keys have arrived")
    answer = stack.connect().session.post(f"{stack.url}{path}", json={})
    config = yaml.safe_load(answer.json()["kubeconfig"])
    assert config["clusters"][0]["cluster"]["server"] == shown["api_address"]


def _posted(stack: Stack, path: str) -> int:
    session = stack.connect().session
    return int(session.post(f"{stack.url}{path}", json={}, raise_exc=False).status_code)


def test_workers_come_and_the_named_one_goes(stack: Stack, tenant: Connection, name: str) -> None:
    """Two become three, then the first one goes, and no other is touched by it."""
    before = servers(tenant, name)
    stack.openstack("coe", "cluster", "resize", UUID, "3")
    settled(tenant, "UPDATE_COMPLETE")
    grown = servers(tenant, name)
    assert before.items() < grown.items()
    (first,) = (one for one in before if one.endswith("-node-0") and "gpu" not in one)
    jeroboam(stack, "cluster", "resize", UUID, "2", "--remove", first, "--wait")
    settled(tenant, "UPDATE_COMPLETE")
    left = servers(tenant, name)
    assert left == {key: value for key, value in grown.items() if key != first}


def test_node_group_and_reboot(stack: Stack, tenant: Connection, name: str) -> None:
    """A node group is resized in its own stack, and a node of it is rebooted."""
    before = servers(tenant, name)
    resize(stack, tenant, 2, nodegroup="gpu")
    (new,) = servers(tenant, name).keys() - before.keys()
    assert "gpu" in new
    jeroboam(stack, "cluster", "reboot", UUID, "--hard", "--node", new, "--wait")
    settled(tenant, "UPDATE_COMPLETE")
    ident = servers(tenant, name)[new]
    assert "reboot" in [one.action for one in tenant.compute.server_actions(ident)]
    headers = {"OpenStack-API-Version": "container-infra 1.9"}
    refused = tenant.session.post(
        f"{stack.url}/v1/clusters/{UUID}/nodegroups",
        json={"name": "more"},
        headers=headers,
        raise_exc=False,
    )
    assert "gets no further node groups" in refused.text
    upgrade = jeroboam(stack, "cluster", "upgrade", UUID, f"{name}-imported")
    assert "cannot upgrade" in str(upgrade)


def test_the_credential_is_rotated(stack: Stack, tenant: Connection) -> None:
    """Heat goes over all stacks with the new trust, and nothing of the cluster changes."""
    before = {one.id: one.name for one in tenant.compute.servers()}
    jeroboam(stack, "cluster", "rotate-credential", UUID, "--wait")
    settled(tenant, "UPDATE_COMPLETE")
    assert {one.id: one.name for one in tenant.compute.servers()} == before


def test_the_delete_leaves_nothing(
    stack: Stack, tenant: Connection, stacks: Stacks, name: str, main: str, gpu: str
) -> None:
    """Node groups' stacks go before the cluster's, with all servers."""
    magnum = tenant.container_infrastructure_management
    magnum.delete_cluster(UUID)
    wait_for(lambda: not list(magnum.clusters()), SECONDS, "the cluster is gone")
    assert servers(tenant, name) == {}
    gone = [stacks.heat.get(f"/stacks/{one}") for one in (main, gpu)]
    assert all(
        one.status_code == 404 or one.json()["stack"]["stack_status"] == "DELETE_COMPLETE"
        for one in gone
    )
