"""A delete by force, by the real client, with Heat at work and without it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from tests.acceptance.stack import Stack, new_template, running_stack, wait_for

pytestmark = pytest.mark.timeout(600)

JEROBOAM = Path(sys.executable).with_name("jeroboam")
SECONDS = 300


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The product, with a worker that waits for less long than a real one for a dead backend."""
    with running_stack(cloud, tmp_path_factory.mktemp("force")) as stack:
        stack.worker.kill()
        stack.worker.command = [sys.executable, "-m", "tests.acceptance.hasty_worker"]
        stack.worker.start()
        yield stack


@pytest.fixture(scope="module")
def tenant(stack: Stack) -> Connection:
    connection = stack.connect()
    new_template(connection, "forced", network_driver="flannel")
    return connection


@pytest.fixture(autouse=True)
def nothing_stays(stack: Stack, tenant: Connection) -> Iterator[None]:
    """What is there after a test was there before; a test that fails leaves nothing either."""
    before = inventory(tenant)
    yield
    stack.cloud.start_service("heat")
    remove_stacks(stack, tenant)
    wait_for(lambda: inventory(tenant) == before, 60, "all is gone")


def inventory(tenant: Connection) -> dict[str, set[str]]:
    """Return what the tenant has, from the services themselves."""
    mine = {"project_id": tenant.current_project_id}
    network = tenant.network
    trusts = tenant.identity.get(f"/OS-TRUST/trusts?trustor_user_id={tenant.current_user_id}")
    return {
        "servers": {one.name for one in tenant.compute.servers()},
        "server groups": {one.name for one in tenant.compute.server_groups()},
        "networks": {one.name for one in network.networks(**mine)},
        "routers": {one.name for one in network.routers(**mine)},
        "ports": {one.id for one in network.ports(**mine)},
        "security groups": {one.name for one in network.security_groups(**mine)},
        "floating IPs": {one.name for one in network.ips(**mine)},
        "trusts": {one["id"] for one in trusts.json()["trusts"]},
    }


def remove_stacks(stack: Stack, tenant: Connection) -> None:
    """Remove the tenant's stacks as the tenant would."""

    def names() -> list[str]:
        return [one.name for one in tenant.orchestration.stacks()]

    for name in names():
        stack.openstack("stack", "delete", "--yes", name)
    wait_for(lambda: not names(), SECONDS, "the stacks are gone")


def jeroboam(
    stack: Stack, *arguments: str, cloud: str = "demo"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(JEROBOAM), "--os-cloud", cloud, *arguments],
        env={**os.environ, "OS_CLIENT_CONFIG_FILE": str(stack.cloud.clouds_yaml), "CI": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def create(stack: Stack, name: str) -> None:
    stack.openstack(
        *("coe", "cluster", "create", name, "--cluster-template", "forced", "--keypair", "demo")
    )


def show(stack: Stack, name: str) -> dict[str, str]:
    found: dict[str, str] = stack.openstack("coe", "cluster", "show", name, "-f", "json")
    return found


def force(stack: Stack, name: str) -> str:
    """Delete by force, as an administrator, and look on to the end; return what was printed."""
    asked = ("cluster", "delete", show(stack, name)["uuid"], "--force", "--yes", "--wait")
    refused = jeroboam(stack, *asked)
    assert refused.returncode != 0
    assert "cluster:force_delete" in refused.stderr
    done = jeroboam(stack, *asked, cloud="admin")
    assert done.returncode == 0, done.stdout + done.stderr
    assert stack.openstack("coe", "cluster", "list", "-f", "json") == []
    return done.stdout + done.stderr


def test_heat_works(stack: Stack, tenant: Connection) -> None:
    """In the middle of a create a delete by force leaves nothing."""
    before = inventory(tenant)
    create(stack, "torn")
    wait_for(lambda: bool(list(tenant.compute.servers())), 90, "a server exists")
    printed = force(stack, "torn")
    assert "Left in the cloud" not in printed
    assert inventory(tenant) == before
    wait_for(lambda: not list(tenant.orchestration.stacks()), 30, "Heat shows no stack")


def test_heat_is_down(stack: Stack, tenant: Connection) -> None:
    """Without Heat the record goes, and the user reads what is left, which is theirs to remove."""
    before = inventory(tenant)
    create(stack, "stuck")
    wait_for(lambda: show(stack, "stuck")["status"] == "CREATE_COMPLETE", SECONDS, "it is up")
    (heat_stack,) = tenant.orchestration.stacks()
    left = {f"{one.name} ({one.id})" for one in tenant.compute.servers()}
    stack.cloud.kill_service("heat")
    printed = " ".join(force(stack, "stuck").split())
    operation = newest_operation(stack)
    assert operation["state"] == "SUCCEEDED"
    for name in (*left, f"{heat_stack.name} ({heat_stack.id})"):
        assert name in printed
        assert name in operation["reason"]
    assert inventory(tenant)["trusts"] == before["trusts"]
    stack.cloud.start_service("heat")
    remove_stacks(stack, tenant)
    assert inventory(tenant) == before


def newest_operation(stack: Stack) -> dict[str, str]:
    listed = json.loads(jeroboam(stack, "operation", "list", "-f", "json").stdout)
    newest: dict[str, str] = max(listed, key=lambda one: one["created_at"])
    shown = jeroboam(stack, "operation", "show", newest["uuid"], "-f", "json")
    found: dict[str, str] = json.loads(shown.stdout)
    return found
