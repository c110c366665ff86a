"""Which agents of Mesos go, how they are emptied, and what tasks hold of them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.mesos import agents, monitor, scale
from jeroboam.drivers.mesos.leader import ELECTED, METRICS, leading
from jeroboam.drivers.mesos_ubuntu_v1.driver import MesosUbuntuDriver
from jeroboam.drivers.nodes.drains import chosen
from jeroboam.errors import ClusterUnreachableError
from jeroboam.models import ClusterSpec, Health, HealthStatus, Node
from tests.fakes import NoCloud
from tests.unit.drivers.docker.clusters import mesos_spec
from tests.unit.drivers.docker.engine import Engine, serve
from tests.unit.drivers.heat.clusters import secrets

NODES = tuple(
    Node(name=f"w-{number}", id=f"server-{number}", addresses=(f"10.0.0.{number}", "192.0.2.9"))
    for number in range(5)
)
OURS = {"config": {"max_grace_period": {"nanoseconds": scale.GRACE_NANOSECONDS}}}
THEIRS = {"config": {"max_grace_period": {"nanoseconds": 60_000_000_000}}}


def agent(number: int, tasks: int, cpus: float = 0, memory: float = 0, **fields: Any) -> Any:
    return {
        "id": f"agent-{number}",
        "pid": f"slave(1)@10.0.0.{number}:5051",
        "hostname": f"10.0.0.{number}",
        "active": True,
        "deactivated": False,
        "capabilities": ["MULTI_ROLE", "AGENT_DRAINING"],
        "resources": {"cpus": 2.0, "mem": 2920.0, "disk": 4000.0},
        "used_resources": {"cpus": cpus, "mem": memory},
        "TASK_RUNNING": tasks,
        "TASK_FINISHED": 40,
        **fields,
    }


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """w-0 never came, w-1 holds one task, w-2 none, w-3 two, w-4 is lost; a stranger has none."""
    listed = [
        agent(1, 1, cpus=1.5, memory=1024),
        agent(2, 0),
        agent(3, 2, cpus=0.5),
        agent(4, 3, active=False),
        agent(9, 0),
    ]
    answers = {
        METRICS: (200, {ELECTED: 1.0, "master/uptime_secs": 9.5}),
        agents.SUMMARY: (200, {"slaves": listed, "frameworks": []}),
        scale.CALLS: (202, ""),
    }
    with serve(tmp_path, secrets().kubernetes, answers) as served:
        yield served


def spec_at(engine: Engine | None, masters: int = 1) -> ClusterSpec:
    made = mesos_spec(masters=masters)
    groups = tuple(
        group.model_copy(update={"nodes": NODES if group.role != "master" else ()})
        for group in made.node_groups
    )
    address = engine.url if engine else "https://127.0.0.1:1"
    cluster = made.cluster.model_copy(update={"api_address": address})
    return made.model_copy(update={"cluster": cluster, "node_groups": groups})


def drained(engine: Engine, number: int, info: Any) -> None:
    (found,) = (
        one for one in engine.answers[agents.SUMMARY][1]["slaves"] if one["id"] == f"agent-{number}"
    )
    found |= {"drain_info": info, "deactivated": True}


def choose(engine: Engine, count: int, *named: Node) -> list[str]:
    with leading(spec_at(engine), secrets()) as api:
        return [node.name for node in chosen(scale, api, NODES, count, named)]


def empty(engine: Engine, *nodes: Node) -> Any:
    with leading(spec_at(engine), secrets()) as api:
        return scale.empty(api, nodes)


def sent(engine: Engine) -> list[Any]:
    return [json.loads(body) for path, body in engine.received if path == scale.CALLS]


class TestChoice:
    def test_order(self, engine: Engine) -> None:
        """Those that are not there go first, then lost and empty ones, then by their tasks."""
        assert choose(engine, 5) == ["w-0", "w-4", "w-2", "w-1", "w-3"]

    def test_named_ones_go(self, engine: Engine) -> None:
        """Nodes that were named go in any case; the rest is chosen."""
        assert choose(engine, 2, NODES[3]) == ["w-3", "w-0"]
        assert choose(engine, 1, NODES[3]) == ["w-3"]


class TestDrain:
    def test_tasks_leave(self, engine: Engine) -> None:
        """Agents are drained, and what has not ended there is told."""
        left = empty(engine, *NODES)
        assert left == {"w-1": "1 tasks have not ended", "w-3": "2 tasks have not ended"}
        calls = sent(engine)
        assert {one["drain_agent"]["agent_id"]["value"] for one in calls} == {
            *("agent-1", "agent-2", "agent-3"),
        }
        assert all(one["type"] == "DRAIN_AGENT" for one in calls)

    def test_once_only(self, engine: Engine) -> None:
        """A repeated call, or one after somebody else's, asks for nothing again."""
        drained(engine, 1, OURS)
        drained(engine, 3, THEIRS)
        assert set(empty(engine, NODES[1], NODES[3])) == {"w-1", "w-3"}
        assert sent(engine) == []

    def test_an_old_agent_is_not_waited_for(self, engine: Engine) -> None:
        """Before Mesos 1.9 an agent cannot be emptied: its tasks move when it has gone."""
        engine.answers[agents.SUMMARY] = (200, {"slaves": [agent(1, 4, capabilities=[])]})
        assert empty(engine, NODES[1]) == {}
        assert sent(engine) == []

    def test_reopened(self, engine: Engine) -> None:
        """Only what Jeroboam has drained is opened again."""
        drained(engine, 1, OURS)
        drained(engine, 3, THEIRS)
        with leading(spec_at(engine), secrets()) as api:
            scale.reopen(api, NODES)
        assert sent(engine) == [
            {"type": "REACTIVATE_AGENT", "reactivate_agent": {"agent_id": {"value": "agent-1"}}}
        ]

    def test_a_refusal_is_told(self, engine: Engine) -> None:
        """What Mesos says is in the error."""
        engine.answers[scale.CALLS] = (400, "Agent is not registered")
        with pytest.raises(ClusterUnreachableError, match="not registered"):
            empty(engine, NODES[1])

    def test_something_else_answers(self, engine: Engine) -> None:
        """An answer without agents is no empty cluster."""
        engine.answers[agents.SUMMARY] = (200, {"frameworks": []})
        with pytest.raises(ClusterUnreachableError, match="something else"):
            empty(engine, NODES[1])


class TestLeader:
    def test_each_master_is_asked(self, engine: Engine) -> None:
        """Where the first one does not lead, the others are asked at their own addresses."""
        engine.answers[METRICS] = (200, {ELECTED: 0.0})
        with (
            pytest.raises(ClusterUnreachableError, match="no master says that it leads"),
            leading(spec_at(engine, masters=3), secrets()),
        ):
            pass
        assert [path for _, path in engine.seen] == [METRICS] * 3

    def test_the_leader_behind_another_address(self, engine: Engine) -> None:
        """The leader is found by the addresses of the masters' nodes."""
        made = spec_at(engine, masters=3)
        silent = engine.url.replace("127.0.0.1", "127.0.0.2")
        cluster = made.cluster.model_copy(update={"api_address": silent})
        nodes = tuple(Node(name=f"m-{n}", id=f"m-{n}", addresses=("127.0.0.1",)) for n in range(3))
        groups = (made.masters.model_copy(update={"nodes": nodes}), *made.workers)
        spec = made.model_copy(update={"cluster": cluster, "node_groups": groups})
        with leading(spec, secrets()) as api:
            assert agents.of_nodes(api, NODES)

    def test_nobody_answers(self) -> None:
        """The error says why."""
        with (
            pytest.raises(ClusterUnreachableError, match=r"127\.0\.0\.1:1 cannot be reached"),
            leading(spec_at(None), secrets()),
        ):
            pass


class TestMonitor:
    KNOWN = Health(status=HealthStatus.HEALTHY, reasons={"api": "ok"})

    def test_what_tasks_hold(self, engine: Engine) -> None:
        """What tasks hold is told for each agent at work, and what it has."""
        found = monitor.observe(spec_at(engine), secrets(), self.KNOWN)
        assert found.health == self.KNOWN
        assert found.usage is not None
        assert set(found.usage.nodes) == {"w-1", "w-2", "w-3"}
        used = found.usage.nodes["w-1"]
        assert (used.cpu_millicores, used.cpu_capacity_millicores) == (1500, 2000)
        assert (used.memory_mib, used.memory_capacity_mib) == (1024, 2920)
        assert "reserved" in found.usage.source

    def test_unreachable(self) -> None:
        """A cluster that does not answer has no usage; its health is what is known."""
        found = monitor.observe(spec_at(None), secrets(), self.KNOWN)
        assert (found.health, found.usage) == (self.KNOWN, None)


def test_driver_drains(engine: Engine) -> None:
    """The driver asks the leader of the cluster at hand."""
    driver, spec = MesosUbuntuDriver(), spec_at(engine)
    context = DriverContext("k", NoCloud(), secrets)
    chosen = driver.choose_removals(context, spec, spec.workers[0], 3, ())
    assert [node.name for node in chosen] == ["w-0", "w-4", "w-2"]
    assert driver.drain_nodes(context, spec, chosen) == {}
    driver.undrain_nodes(context, spec, chosen)
    assert [one["type"] for one in sent(engine)] == ["DRAIN_AGENT"]
