"""Every operation on a living cluster, by the real clients, on the real cloud.

One cluster is led through its life. What happened is asked of Nova and Heat, not of the product.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from tests import logins
from tests.acceptance.stack import Stack, new_template, running_stack, wait_for

pytestmark = pytest.mark.timeout(900)

JEROBOAM = Path(sys.executable).with_name("jeroboam")
NAME = "life"
SECONDS = 240


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("life")) as stack:
        yield stack


@pytest.fixture(scope="module")
def tenant(stack: Stack) -> Connection:
    return stack.connect()


@pytest.fixture(scope="module", autouse=True)
def cluster(stack: Stack, tenant: Connection) -> Iterator[str]:
    """A cluster of one master and two workers, which the tests of this module change in turn."""
    for name, version in (("old", "v1.36.0"), ("new", "v1.37.0")):
        # A master that is replaced needs a volume of its own for what etcd keeps.
        labels = {"kube_tag": version, "etcd_volume_size": "1"}
        new_template(tenant, name, keypair_id="demo", labels=labels)
    stack.openstack(
        *("coe", "cluster", "create", NAME, "--cluster-template", "old", "--node-count", "2")
    )
    shown = until(stack, "CREATE_COMPLETE")
    yield shown["uuid"]
    stack.openstack("coe", "cluster", "delete", NAME)
    wait_for(lambda: not list(tenant.compute.servers(name=NAME)), SECONDS, "all servers are gone")
    wait_for(lambda: not stacks(tenant), 30, "all stacks are gone")


def jeroboam(stack: Stack, *arguments: str, check: bool = True) -> str:
    """Run the product's own command-line client and return what it prints."""
    done = subprocess.run(
        [str(JEROBOAM), "--os-cloud", "demo", *arguments],
        env={**os.environ, "OS_CLIENT_CONFIG_FILE": str(stack.cloud.clouds_yaml), "CI": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0 or not check, f"{arguments}: {done.stdout}\n{done.stderr}"
    return done.stdout if check else done.stderr


def show(stack: Stack) -> dict[str, Any]:
    found: dict[str, Any] = stack.openstack("coe", "cluster", "show", NAME, "-f", "json")
    return found


def until(stack: Stack, status: str) -> dict[str, Any]:
    """Wait until the cluster is no longer in progress; it must then have the status."""
    wait_for(
        lambda: not show(stack)["status"].endswith("_IN_PROGRESS"), SECONDS, "the operation ends"
    )
    shown = show(stack)
    assert shown["status"] == status, shown["status_reason"]
    return shown


def servers(tenant: Connection) -> dict[str, str]:
    """Return the ids of the cluster's servers by their names, as Nova knows them."""
    return {one.name: one.id for one in tenant.compute.servers() if one.name.startswith(NAME)}


def stacks(tenant: Connection) -> set[str]:
    """Return the ids of the cluster's stacks, as Heat knows them."""
    return {one.id for one in tenant.orchestration.stacks() if one.name.startswith(NAME)}


def actions(tenant: Connection, server: str) -> list[str]:
    """Return what Nova itself wrote down that was done with a server."""
    return [one.action for one in tenant.compute.server_actions(server)]


def newest_operation(stack: Stack) -> dict[str, Any]:
    listed = json.loads(jeroboam(stack, "operation", "list", "--cluster", NAME, "-f", "json"))
    newest = max(listed, key=lambda one: one["created_at"])
    shown: dict[str, Any] = json.loads(
        jeroboam(stack, "operation", "show", newest["uuid"], "-f", "json")
    )
    return shown


def test_resize(stack: Stack, tenant: Connection) -> None:
    """Workers are added; those that were there, and the master, stay what they are."""
    before = servers(tenant)
    stack.openstack("coe", "cluster", "resize", NAME, "3")
    until(stack, "UPDATE_COMPLETE")
    after = servers(tenant)
    assert len(after) == len(before) + 1
    assert before.items() <= after.items()


def test_resize_removes_the_named_node(stack: Stack, tenant: Connection) -> None:
    """Of three workers the one that is named goes."""
    before = servers(tenant)
    doomed = sorted(name for name in before if "worker" in name)[1]
    stack.openstack(*("coe", "cluster", "resize", NAME, "2", "--nodes-to-remove", before[doomed]))
    until(stack, "UPDATE_COMPLETE")
    assert servers(tenant).keys() == before.keys() - {doomed}


def test_update(stack: Stack, tenant: Connection) -> None:
    """The old way to resize, as Terraform does it."""
    stack.openstack("coe", "cluster", "update", "--node-count", "1", NAME)
    until(stack, "UPDATE_COMPLETE")
    assert len(servers(tenant)) == 2


@pytest.mark.parametrize(("how", "action"), [("--soft", "SOFT"), ("--hard", "HARD")])
def test_reboot(stack: Stack, tenant: Connection, how: str, action: str) -> None:
    """Nova's own log tells of one reboot of each server; ids stay."""
    before = {name: len(actions(tenant, one)) for name, one in servers(tenant).items()}
    ids = servers(tenant)
    jeroboam(stack, "cluster", "reboot", NAME, how, "--wait")
    assert servers(tenant) == ids
    for name, server in ids.items():
        done = actions(tenant, server)[: len(actions(tenant, server)) - before[name]]
        assert done.count("reboot") == 1, (action, done)


def test_rebuild(stack: Stack, tenant: Connection) -> None:
    """A worker is set up anew: same server, same address; the others are left alone."""
    ids = servers(tenant)
    worker = next(name for name in ids if "worker" in name)
    addresses = tenant.compute.get_server(ids[worker]).addresses
    api_address = show(stack)["api_address"]
    jeroboam(stack, "cluster", "rebuild", NAME, "--node", worker, "--wait")
    assert servers(tenant) == ids
    counts = {name: actions(tenant, one).count("rebuild") for name, one in ids.items()}
    assert counts == {name: int(name == worker) for name in ids}
    assert tenant.compute.get_server(ids[worker]).addresses == addresses
    assert show(stack)["api_address"] == api_address


def test_node_group(stack: Stack, tenant: Connection) -> None:
    """A group of its own flavor is built, listed, bounded and removed, with its stack."""
    before = servers(tenant)
    old = stacks(tenant)
    stack.openstack(
        *("coe", "nodegroup", "create", NAME, "big", "--node-count", "1", "--flavor", "m1.small")
    )
    until(stack, "UPDATE_COMPLETE")
    new = servers(tenant).keys() - before.keys()
    assert len(new) == 1
    assert len(stacks(tenant) - old) == 1
    stack.openstack("coe", "nodegroup", "update", "--max-nodes", "4", NAME, "big")
    until(stack, "UPDATE_COMPLETE")
    group = stack.openstack("coe", "nodegroup", "show", NAME, "big", "-f", "json")
    assert (group["max_node_count"], group["status"]) == (4, "UPDATE_COMPLETE")
    stack.openstack("coe", "cluster", "resize", NAME, "2", "--nodegroup", "big")
    until(stack, "UPDATE_COMPLETE")
    assert len(servers(tenant)) == len(before) + 2
    stack.openstack("coe", "nodegroup", "delete", NAME, "big")
    until(stack, "UPDATE_COMPLETE")
    assert servers(tenant) == before
    assert stacks(tenant) == old


def test_upgrade(stack: Stack, tenant: Connection) -> None:
    """All nodes are replaced, addresses stay, and the cluster has the new template."""
    before = {
        name: tenant.compute.get_server(one).addresses for name, one in servers(tenant).items()
    }
    ids = servers(tenant)
    stack.openstack("coe", "cluster", "upgrade", NAME, "new")
    shown = until(stack, "UPDATE_COMPLETE")
    assert shown["coe_version"] == "v1.37.0"
    after = servers(tenant)
    assert after.keys() == ids.keys()
    assert not set(after.values()) & set(ids.values())
    fixed = {
        name: tenant.compute.get_server(one).addresses for name, one in servers(tenant).items()
    }
    assert fixed == before


def test_an_upgrade_down_is_refused(stack: Stack) -> None:
    """Versions never go down: refused before anything is touched."""
    refused = stack.run_openstack("coe", "cluster", "upgrade", NAME, "old")
    assert refused.returncode != 0
    assert "v1.36.0" in refused.stderr
    assert show(stack)["status"] == "UPDATE_COMPLETE"


def test_plan_touches_nothing(stack: Stack, tenant: Connection) -> None:
    """A dry run prints the steps and leaves cluster, servers and records as they are."""
    before = servers(tenant), newest_operation(stack)["uuid"]
    printed = jeroboam(stack, "cluster", "plan", "rebuild", NAME)
    assert "Rebuild" in printed
    assert (servers(tenant), newest_operation(stack)["uuid"]) == before


def test_failed_resize_is_rolled_back(stack: Stack, tenant: Connection) -> None:
    """A resize that meets the quota tells Nova's reason and returns to the previous size."""
    admin, project = stack.connect("admin"), logins.project_of(tenant)
    before = servers(tenant)
    admin.set_compute_quotas(project, instances=len(before) + 1)
    try:
        stack.openstack("coe", "cluster", "resize", NAME, "4")
        shown = until(stack, "ROLLBACK_COMPLETE")
    finally:
        admin.set_compute_quotas(project, instances=-1)
    assert "Quota exceeded" in shown["status_reason"]
    assert servers(tenant) == before
    assert shown["node_count"] == 1
    operation = newest_operation(stack)
    jeroboam(stack, "operation", "retry", operation["uuid"])
    until(stack, "UPDATE_COMPLETE")
    assert len(servers(tenant)) == len(before) + 3


def test_health(stack: Stack) -> None:
    """A check tells of each node and of the API, which here nobody runs."""
    jeroboam(stack, "cluster", "check-health", NAME, "--wait")
    shown = show(stack)
    assert shown["health_status"] in {"UNKNOWN", "UNHEALTHY"}
    assert shown["health_status_reason"]


def test_the_record(stack: Stack, cluster: str) -> None:
    """Each operation has its steps with times, and history holds no key."""
    operation = newest_operation(stack)
    assert operation["kind"] == "check_health"
    assert all(step["state"] == "SUCCEEDED" for step in operation["steps"])
    assert "PRIVATE KEY" not in stack.temporal_history(cluster)
    logs = stack.api.log.read_text() + stack.worker.log.read_text()
    assert "PRIVATE KEY" not in logs
