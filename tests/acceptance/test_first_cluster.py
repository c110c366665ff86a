"""Clusters of the real driver on the real cloud, through the API: how they end, what they leave."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from tests import logins
from tests.acceptance.stack import Stack, new_template, running_stack, wait_for

END_SECONDS = 150


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("first")) as stack:
        yield stack


@pytest.fixture(scope="module")
def tenant(stack: Stack) -> Connection:
    return stack.connect()


@pytest.fixture(scope="module")
def template(tenant: Connection) -> str:
    return new_template(tenant, "first", network_driver="calico", floating_ip_enabled=True)


@pytest.fixture
def one_server(cloud: Devcloud, tenant: Connection, stack: Stack) -> Iterator[None]:
    """The tenant may have one server, and a cluster needs two."""
    admin = stack.connect("admin")
    project = logins.project_of(tenant)
    admin.set_compute_quotas(project, instances=1)
    yield
    admin.set_compute_quotas(project, instances=-1)


def create(tenant: Connection, template: str, query: str = "") -> str:
    body = {"name": "first", "cluster_template_id": template, "keypair": "demo"}
    magnum = tenant.container_infrastructure_management
    answer = magnum.post(
        f"/clusters{query}",
        json=body,
        headers={"OpenStack-API-Version": "container-infra latest"},
    )
    assert answer.status_code == 202, answer.text
    return str(answer.json()["uuid"])


def show(tenant: Connection, cluster: str) -> dict[str, Any]:
    answer = tenant.container_infrastructure_management.get(f"/clusters/{cluster}")
    body: dict[str, Any] = answer.json()
    return body


def ended(tenant: Connection, cluster: str) -> dict[str, Any]:
    wait_for(
        lambda: not show(tenant, cluster)["status"].endswith("IN_PROGRESS"),
        END_SECONDS,
        "the operation ends",
    )
    return show(tenant, cluster)


def delete(tenant: Connection, cluster: str) -> None:
    magnum = tenant.container_infrastructure_management
    magnum.delete_cluster(cluster)
    wait_for(lambda: not list(magnum.clusters()), END_SECONDS, "the cluster is gone")


Inventory = dict[str, set[str]]


def inventory(tenant: Connection, stack: Stack) -> Inventory:
    """Return the ids of everything that a cluster could leave in the tenant's project."""
    project = tenant.current_project_id
    network = tenant.network
    groups = network.security_groups(project_id=project)
    trusts = stack.connect("admin").identity.get("/OS-TRUST/trusts").json()["trusts"]
    return {
        "stacks": {one.id for one in tenant.orchestration.stacks()},
        "servers": {one.id for one in tenant.compute.servers()},
        "server groups": {one.id for one in tenant.compute.server_groups()},
        "ports": {one.id for one in network.ports(project_id=project)},
        "networks": {one.id for one in network.networks(project_id=project)},
        "routers": {one.id for one in network.routers(project_id=project)},
        "floating IPs": {one.id for one in network.ips(project_id=project)},
        "security groups": {one.id for one in groups},
        "trusts": {one["id"] for one in trusts if one["project_id"] == project},
    }


@pytest.fixture
def remains(tenant: Connection, stack: Stack) -> Callable[[], Inventory]:
    """Return what there is now and was not there before the test, by kind."""
    before = inventory(tenant, stack)

    def compare() -> Inventory:
        now = inventory(tenant, stack)
        return {kind: ids - before[kind] for kind, ids in now.items() if ids - before[kind]}

    return compare


def test_a_cluster_from_birth_to_death(
    stack: Stack, tenant: Connection, template: str, remains: Callable[[], Inventory]
) -> None:
    """It ends COMPLETE with addresses that exist; after its deletion nothing of it is left."""
    cluster = create(tenant, template)
    shown = ended(tenant, cluster)
    assert shown["status"] == "CREATE_COMPLETE", shown["status_reason"]
    addresses = {ip.floating_ip_address for ip in tenant.network.ips()}
    assert shown["api_address"].split("//")[1].split(":")[0] in addresses
    assert {server.status for server in tenant.compute.servers()} == {"ACTIVE"}
    check_no_secrets(stack, cluster)
    check_log_chain(stack, cluster)
    delete(tenant, cluster)
    wait_for(lambda: remains() == {}, 20, "nothing is left")


def check_no_secrets(stack: Stack, cluster: str) -> None:
    """Neither the run's history nor any log holds a key."""
    history = stack.temporal_history(cluster)
    logs = stack.api.log.read_text() + stack.worker.log.read_text()
    for text in (history, logs):
        assert "PRIVATE KEY" not in text
        assert "LS0tLS1CRUdJTiBQUklWQVRF" not in text, "a key in Base64"


def check_log_chain(stack: Stack, cluster: str) -> None:
    """One request id ties the API's line, the workflow's steps and the driver's call together."""
    lines = [
        json.loads(line)
        for log in (stack.api.log, stack.worker.log)
        for line in log.read_text().splitlines()
        if cluster in line
    ]
    accepted = next(line for line in lines if line.get("logger", "").startswith("jeroboam.api"))
    submitted = next(line for line in lines if line["event"] == "stack_submitted")
    for name in ("request_id", "operation_id", "cluster_id"):
        assert submitted[name] == accepted[name]


@pytest.mark.usefixtures("one_server")
def test_quota_of_the_cloud(
    tenant: Connection, template: str, remains: Callable[[], Inventory]
) -> None:
    """A create that meets the cloud's quota fails with Nova's own words; what exists is kept."""
    started = time.monotonic()
    cluster = create(tenant, template)
    shown = ended(tenant, cluster)
    assert time.monotonic() - started < END_SECONDS
    assert shown["status"] == "CREATE_FAILED"
    assert "Quota exceeded" in shown["status_reason"]
    assert any("Quota exceeded" in reason for reason in shown["faults"].values())
    assert len(remains()["stacks"]) == 1
    delete(tenant, cluster)
    wait_for(lambda: remains() == {}, 20, "nothing is left")


@pytest.mark.usefixtures("one_server")
def test_quota_with_roll_back(
    tenant: Connection, template: str, remains: Callable[[], Inventory]
) -> None:
    """When the tenant asked for it, a failed create takes away what it has built."""
    cluster = create(tenant, template, "?rollback=true")
    shown = ended(tenant, cluster)
    assert shown["status"] == "CREATE_FAILED"
    assert "Quota exceeded" in shown["status_reason"]
    assert "rolled back" in shown["status_reason"]
    # Heat lists a deleted stack for a moment; the trust is the cluster's and stays with it.
    wait_for(lambda: remains().keys() == {"trusts"}, 20, "only the trust is left")
    delete(tenant, cluster)
    wait_for(lambda: remains() == {}, 20, "nothing is left")


def test_a_delete_overtakes_a_create(
    stack: Stack, tenant: Connection, template: str, remains: Callable[[], Inventory]
) -> None:
    """A delete in the middle of a create is accepted at once and leaves nothing behind."""
    slow = stack.cloud.add_fault(Fault(target="node", action="delay", seconds=60))
    cluster = create(tenant, template)
    wait_for(lambda: bool(list(tenant.compute.servers())), 60, "a server exists")
    delete(tenant, cluster)
    wait_for(lambda: remains() == {}, 20, "nothing is left")
    stack.cloud.faults.clear(slow.id)
