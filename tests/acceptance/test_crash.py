"""Any process may die in the middle of a create; the create ends well, with exactly one stack."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from tests.acceptance.stack import Stack, new_template, running_stack, wait_for

CREATE_SECONDS = 150
SLOW_NODE = Fault(target="node", action="delay", seconds=12, count=4)
"""Nodes that boot slowly hold the stack open while something is being killed."""


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("crash")) as stack:
        yield stack


@pytest.fixture(scope="module")
def tenant(stack: Stack) -> Connection:
    return stack.connect()


@pytest.fixture(scope="module")
def template(tenant: Connection) -> str:
    return new_template(tenant, "crash", network_driver="flannel", floating_ip_enabled=False)


@pytest.fixture
def cluster(stack: Stack, tenant: Connection, template: str) -> Iterator[str]:
    """A cluster in the middle of its creation; removed, and its remains checked, afterwards."""
    stack.cloud.add_fault(SLOW_NODE)
    magnum = tenant.container_infrastructure_management
    created = magnum.create_cluster(name="crash", cluster_template_id=template, keypair="demo")
    wait_for(lambda: bool(stacks(tenant)), 60, "a stack begins")
    wait_for(lambda: bool(list(tenant.compute.servers())), 60, "a server exists")
    yield str(created.id)
    stack.cloud.clear_faults()
    magnum.delete_cluster(created.id, ignore_missing=True)
    wait_for(lambda: not list(magnum.clusters()), 120, "the cluster is gone")
    # Heat lists a stack for a moment after its deletion is complete.
    wait_for(lambda: not stacks(tenant), 10, "its stack is gone")
    assert not list(tenant.compute.servers())


def stacks(tenant: Connection) -> list[str]:
    return [stack.id for stack in tenant.orchestration.stacks()]


def finish(stack: Stack, tenant: Connection, cluster: str) -> None:
    """Wait for the create's end and check that it built one of everything."""
    magnum = tenant.container_infrastructure_management

    def complete() -> bool:
        found = magnum.get_cluster(cluster)
        assert not found.status.endswith("FAILED"), found.to_dict()
        return str(found.status) == "CREATE_COMPLETE"

    wait_for(complete, CREATE_SECONDS, "the create ends")
    assert len(stacks(tenant)) == 1
    assert len(list(tenant.compute.servers())) == 2


def test_worker_dies(stack: Stack, tenant: Connection, cluster: str) -> None:
    """The worker is killed while it waits for Heat; the next one goes on."""
    stack.worker.kill()
    stack.worker.start()
    finish(stack, tenant, cluster)


def test_api_dies(stack: Stack, tenant: Connection, cluster: str) -> None:
    """The API is killed; the work goes on without it, and it answers again when it is back."""
    stack.api.kill()
    time.sleep(1)
    stack.api.start()
    finish(stack, tenant, cluster)


def test_temporal_dies(stack: Stack, tenant: Connection, cluster: str) -> None:
    """The Temporal server is killed; worker and API find it again by themselves."""
    stack.temporal.kill()
    time.sleep(3)
    stack.temporal.start()
    finish(stack, tenant, cluster)


def test_heat_dies(stack: Stack, tenant: Connection, cluster: str) -> None:
    """Heat is killed, its engine with it; the create ends well with the same stack."""
    before = stacks(tenant)
    stack.cloud.kill_service("heat")
    time.sleep(5)
    reason = tenant.container_infrastructure_management.get_cluster(cluster).status_reason
    assert "Wait for the backend" in str(reason)
    stack.cloud.start_service("heat")
    finish(stack, tenant, cluster)
    assert stacks(tenant) == before


def test_worker_stops_in_good_order(stack: Stack, tenant: Connection, cluster: str) -> None:
    """A worker that is asked to stop does so within its grace period, in the middle of a wait."""
    started = time.monotonic()
    assert stack.worker.stop() == 0
    assert time.monotonic() - started < 20
    stack.worker.start()
    finish(stack, tenant, cluster)


def test_unreachable_heat_is_waited_for(
    stack: Stack, tenant: Connection, template: str, tmp_path: Path
) -> None:
    """A create that finds Heat down waits, says so to the tenant, and goes on."""
    magnum = tenant.container_infrastructure_management
    stack.cloud.stop_service("heat")
    created = magnum.create_cluster(name="patient", cluster_template_id=template, keypair="demo")

    def said() -> bool:
        reason = str(magnum.get_cluster(created.id).status_reason)
        return "Submit to the backend" in reason and "attempt" in reason

    wait_for(said, 30, "the tenant is told")
    stack.cloud.start_service("heat")
    finish(stack, tenant, created.id)
    magnum.delete_cluster(created.id)
    wait_for(lambda: not list(magnum.clusters()), 120, "the cluster is gone")
