"""Which nodes of a swarm go, how they are emptied, and what is reserved on them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.docker.client import EngineApi
from jeroboam.drivers.nodes.drains import chosen
from jeroboam.drivers.swarm import monitor, scale
from jeroboam.drivers.swarm_fedora_atomic_v1.driver import SwarmFedoraAtomicDriver
from jeroboam.errors import ClusterUnreachableError, ConflictError
from jeroboam.models import Health, HealthStatus, Node
from tests.fakes import NoCloud
from tests.unit.drivers.docker.answers import docker_node, docker_service
from tests.unit.drivers.docker.clusters import swarm_spec
from tests.unit.drivers.docker.engine import Engine, serve
from tests.unit.drivers.heat.clusters import secrets

NODES = tuple(Node(name=f"w-{number}", id=f"server-{number}") for number in range(4))
GIB = 1 << 30


def task(service: str, node: str, state: str = "running", cpus: float = 0, memory: int = 0) -> Any:
    reserved = {"NanoCPUs": int(cpus * 1e9), "MemoryBytes": memory}
    return {
        "ID": f"{service}-{node}",
        "ServiceID": f"id-{service}",
        "NodeID": f"id-{node}-ready",
        "Spec": {"Resources": {"Reservations": reserved}},
        "Status": {"State": state},
        "DesiredState": "running",
    }


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """A swarm: w-0 is lost, w-1 has one task, w-2 has none of its own, w-3 has two."""
    tasks = [
        task("web", "w-1", cpus=1.5, memory=GIB),
        task("agent", "w-2", cpus=0.25),
        task("web", "w-3", cpus=0.5),
        task("db", "w-3"),
    ]
    services = [
        docker_service("web", {"Replicated": {"Replicas": 2}}),
        docker_service("db", {"Replicated": {"Replicas": 1}}),
        docker_service("agent", {"Global": {}}),
    ]
    nodes = [docker_node("w-0", state="down")]
    nodes += [docker_node(f"w-{number}") for number in (1, 2, 3)]
    answers = {
        "/nodes": (200, nodes),
        "/services": (200, services),
        "/tasks": (200, tasks),
        monitor.RUNNING: (200, tasks),
    }
    with serve(tmp_path, secrets().kubernetes, answers) as served:
        yield served


@pytest.fixture
def api(engine: Engine) -> Iterator[EngineApi]:
    with EngineApi.of(engine.url, secrets()) as found:
        yield found


class TestChoice:
    def test_order(self, api: EngineApi) -> None:
        """Lost nodes go first, then empty ones, then those with the fewest tasks."""
        gone = chosen(scale, api, NODES, 4, ())
        assert [node.name for node in gone] == ["w-0", "w-2", "w-1", "w-3"]

    def test_named_ones_go(self, api: EngineApi) -> None:
        """Nodes that were named go in any case; the rest is chosen."""
        gone = chosen(scale, api, NODES, 2, (NODES[3],))
        assert [node.name for node in gone] == ["w-3", "w-0"]

    def test_enough_are_named(self, api: EngineApi, engine: Engine) -> None:
        """Where all are named, nobody is asked."""
        assert chosen(scale, api, NODES, 1, (NODES[3],)) == (NODES[3],)
        assert engine.seen == []


class TestDrain:
    def test_tasks_leave(self, api: EngineApi, engine: Engine) -> None:
        """Nodes are drained and marked, and what still runs there is told."""
        for name in ("w-1", "w-3"):
            engine.answers[f"/nodes/id-{name}-ready/update?version=9"] = (200, "")
        left = scale.empty(api, (NODES[1], NODES[3]))
        assert left == {"w-1": "1 tasks are still running", "w-3": "2 tasks are still running"}
        sent = [json.loads(body) for _, body in engine.received]
        assert [one["Availability"] for one in sent] == ["drain", "drain"]
        assert all(one["Labels"] == {scale.MARK: "true"} for one in sent)
        assert all(one["Role"] == "worker" for one in sent)

    def test_lost_nodes_are_empty(self, api: EngineApi, engine: Engine) -> None:
        """Of a node that is lost, or never joined, nothing is waited for."""
        stranger = Node(name="w-9", id="server-9")
        assert scale.empty(api, (NODES[0], stranger)) == {}
        assert engine.received == []

    def test_drained_ones_are_left_alone(self, api: EngineApi, engine: Engine) -> None:
        """A repeated call changes nothing, and what others have drained stays theirs."""
        self.drain(engine, "w-2", {})
        assert set(scale.empty(api, (NODES[2],))) == {"w-2"}
        assert engine.received == []

    def test_reopened(self, api: EngineApi, engine: Engine) -> None:
        """Only what Jeroboam has drained is opened again."""
        self.drain(engine, "w-1", {scale.MARK: "true", "disk": "ssd"})
        self.drain(engine, "w-2", {"disk": "ssd"})
        engine.answers["/nodes/id-w-1-ready/update?version=9"] = (200, "")
        scale.reopen(api, NODES)
        ((_, body),) = engine.received
        sent = json.loads(body)
        assert (sent["Availability"], sent["Labels"]) == ("active", {"disk": "ssd"})

    @pytest.mark.parametrize(
        ("status", "message", "error"),
        [
            (500, "rpc error: update out of sequence", ConflictError),
            (503, "This node is not a swarm manager.", ClusterUnreachableError),
        ],
    )
    def test_refusals(
        self, api: EngineApi, engine: Engine, status: int, message: str, error: type[Exception]
    ) -> None:
        """A node that somebody else changes is a conflict, which is tried again."""
        engine.answers["/nodes/id-w-1-ready/update?version=9"] = (status, {"message": message})
        with pytest.raises(error, match=message):
            scale.empty(api, (NODES[1],))

    @staticmethod
    def drain(engine: Engine, name: str, labels: dict[str, str]) -> None:
        (node,) = (
            one for one in engine.answers["/nodes"][1] if one["Description"]["Hostname"] == name
        )
        node["Spec"] |= {"Availability": "drain", "Labels": labels}


class TestMonitor:
    KNOWN = Health(status=HealthStatus.HEALTHY, reasons={"api": "ok"})

    def test_reservations(self, engine: Engine) -> None:
        """What tasks have reserved is told for each node that is ready, and what it has."""
        found = monitor.observe(engine.url, secrets(), self.KNOWN)
        assert found.health == self.KNOWN
        assert found.usage is not None
        assert set(found.usage.nodes) == {"w-1", "w-2", "w-3"}
        used = found.usage.nodes["w-1"]
        assert (used.cpu_millicores, used.cpu_capacity_millicores) == (1500, 2000)
        assert (used.memory_mib, used.memory_capacity_mib) == (1024, 3914)
        assert found.usage.total.cpu_millicores == 2250
        assert "reserved" in found.usage.source

    @pytest.mark.parametrize("address", [None, "https://127.0.0.1:1"])
    def test_unreachable(self, address: str | None) -> None:
        """A swarm that does not answer has no usage; its health is what is known."""
        found = monitor.observe(address, secrets(), self.KNOWN)
        assert (found.health, found.usage) == (self.KNOWN, None)


def test_driver_drains(engine: Engine) -> None:
    """The driver asks the swarm of the cluster at hand."""
    driver, made = SwarmFedoraAtomicDriver(), swarm_spec()
    cluster = made.cluster.model_copy(update={"api_address": engine.url})
    spec = made.model_copy(update={"cluster": cluster})
    context = DriverContext("k", NoCloud(), secrets)
    group = spec.workers[0].model_copy(update={"nodes": NODES})
    chosen = driver.choose_removals(context, spec, group, 1, ())
    assert [node.name for node in chosen] == ["w-0"]
    assert driver.drain_nodes(context, spec, chosen) == {}
    driver.undrain_nodes(context, spec, chosen)
    assert engine.received == []
