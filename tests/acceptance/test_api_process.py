"""The API as a process: alone, stopped, and started twice."""

import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from devcloud import Devcloud, Fault
from jeroboam.api.grpc.v1.clusters_pb2 import ListClustersRequest
from jeroboam.api.grpc.v1.clusters_pb2_grpc import ClustersStub
from tests import logins
from tests.acceptance.stack import JEROBOAM, Stack, wait_for
from tests.conftest import TemporalServer, free_port

TEMPLATE = {"name": "alone", "coe": "kubernetes", "image_id": "fake-os"}


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """An API without a worker, and without a Temporal server."""
    directory = tmp_path_factory.mktemp("alone")
    own = {"JEROBOAM_GRPC_PORT": str(free_port())}
    stack = Stack(cloud, TemporalServer(directory, free_port()), directory, own)
    stack.api.start()
    yield stack
    stack.api.kill()


@pytest.fixture(scope="module")
def client(stack: Stack) -> Iterator[httpx.Client]:
    connection = stack.connect("demo")
    headers = {
        "X-Auth-Token": logins.token_of(connection.session),
        "OpenStack-API-Version": "container-infra latest",
    }
    with httpx.Client(base_url=f"{stack.url}/v1", headers=headers, timeout=60) as client:
        yield client


def test_requests_are_accepted_without_temporal(stack: Stack, client: httpx.Client) -> None:
    """Clusters are accepted and say that they wait; health tells which service is missing."""
    template = client.post("/clustertemplates", json=TEMPLATE)
    assert template.status_code == 201, template.text
    uuid = template.json()["uuid"]
    created = client.post("/clusters", json={"name": "c", "cluster_template_id": uuid})
    assert created.status_code == 202, created.text
    path = f"/clusters/{created.json()['uuid']}"
    assert client.get(path).json()["status_reason"] == "create: accepted, waits for a worker"
    assert client.delete(path).status_code == 204
    health = httpx.get(f"{stack.url}/healthcheck?detailed")
    assert health.status_code == 503
    assert health.json()["services"] == {
        "database": "ok",
        "keystone": "ok",
        "temporal": "unavailable",
    }


def test_grpc_with_a_token_of_keystone(stack: Stack, client: httpx.Client) -> None:
    """A tenant's token shows the same by gRPC; one that Keystone has never made shows nothing."""
    token = logins.token_of(stack.connect("demo").session)
    with grpc.insecure_channel(f"127.0.0.1:{stack.environment['JEROBOAM_GRPC_PORT']}") as channel:
        stub = ClustersStub(channel)
        request = ListClustersRequest()
        listed = stub.ListClusters(request, metadata=(("x-auth-token", token),), timeout=60)
        shown = client.get("/clusters").json()["clusters"]
        assert shown
        assert [one.uuid for one in listed.clusters] == [one["uuid"] for one in shown]
        with pytest.raises(grpc.RpcError) as caught:
            stub.ListClusters(request, metadata=(("x-auth-token", "made-up"),), timeout=60)
        error: Any = caught.value
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED


def test_a_taken_port_is_one_line(stack: Stack, tmp_path: Path) -> None:
    """A second API on the same port ends at once with one line that names the setting."""
    own = {"JEROBOAM_STATE_DIRECTORY": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [str(JEROBOAM), "serve"],
        env={**os.environ, **stack.environment, **own},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if "JEROBOAM_API_PORT" in line]
    assert "Address already in use" in line
    assert "Traceback" not in done.stderr


def test_a_stop_finishes_the_requests_at_hand(stack: Stack, client: httpx.Client) -> None:
    """On SIGTERM a running request gets its answer, and the process ends with success."""
    delay = Fault(target="api", action="delay", service="glance", seconds=2.0, count=1)
    stack.cloud.add_fault(delay)

    def create() -> Any:
        return client.post("/clustertemplates", json=TEMPLATE | {"name": "last"})

    try:
        with ThreadPoolExecutor() as threads:
            answer = threads.submit(create)
            wait_for(lambda: matched(stack), 20, "Glance is asked")
            assert stack.api.stop() == 0
            assert answer.result().status_code == 201
    finally:
        stack.cloud.clear_faults()
    assert "api_stopped" in stack.api.log.read_text()


def matched(stack: Stack) -> bool:
    return any(fault.matches for fault in stack.cloud.faults.rules())
