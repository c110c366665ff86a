"""Jeroboam speaks with Docker and Marathon by mutual TLS, and understands their answers."""

from pathlib import Path
from typing import Any

import pytest

from jeroboam.certificates import issue_cluster_secrets
from jeroboam.drivers.base import ClusterSecrets, DriverContext
from jeroboam.drivers.coe_api import CoeCall, route_of
from jeroboam.drivers.docker.listing import AtMost
from jeroboam.drivers.mesos import api as mesos_api
from jeroboam.drivers.mesos import health as mesos_health
from jeroboam.drivers.mesos_ubuntu_v1.driver import MesosUbuntuDriver
from jeroboam.drivers.swarm import api as swarm_api
from jeroboam.drivers.swarm import health as swarm_health
from jeroboam.drivers.swarm_fedora_atomic_v1.driver import SwarmFedoraAtomicDriver
from jeroboam.errors import ClusterUnreachableError, NotFoundError
from jeroboam.models import ClusterSpec, HealthStatus, Identity
from tests.fakes import NoCloud
from tests.unit.drivers.docker.answers import app, docker_node, docker_service
from tests.unit.drivers.docker.clusters import mesos_spec, swarm_spec
from tests.unit.drivers.docker.engine import serve
from tests.unit.drivers.heat.clusters import secrets

NAMES = ("m-0", "w-0")
WELL = [docker_node("m-0", "manager", Leader=True), docker_node("w-0")]
NOBODY = "https://127.0.0.1:1"


def call(spec: ClusterSpec, url: str) -> CoeCall:
    cluster = spec.cluster.model_copy(update={"api_address": url})
    return CoeCall(
        context=DriverContext("k", NoCloud(), secrets),
        spec=spec.model_copy(update={"cluster": cluster}),
        caller=Identity(user_id="u1", project_id="p1", roles=("reader",)),
        arguments={},
    )


def strangers() -> ClusterSecrets:
    return issue_cluster_secrets("stranger")


class TestSwarmRoutes:
    def test_services(self, tmp_path: Path) -> None:
        """Services have what Docker tells; those that lack tasks come first."""
        found = [
            docker_service("web", {"Replicated": {"Replicas": 2}}, running=2, desired=2),
            docker_service("agent", {"Global": {}}, running=1, desired=3),
            docker_service("old", {"Replicated": {"Replicas": 1}}),
        ]
        answers = {"/services?status=true": (200, found)}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            listed = swarm_api.list_services(call(swarm_spec(), engine.url), AtMost())
        assert [(one.name, one.mode, one.running, one.desired) for one in listed.services] == [
            ("agent", "global", 1, 3),
            ("old", "replicated", None, None),
            ("web", "replicated", 2, 2),
        ]
        web = listed.services[2]
        assert web.image == "nginx:1.29"
        assert [(one.published, one.target) for one in web.ports] == [(8080, 80)]
        assert engine.seen == [("jeroboam", "/services?status=true")]

    def test_limit(self, tmp_path: Path) -> None:
        """No answer holds more than was asked for, and it says how many it leaves out."""
        found = [docker_service(f"s{number}", {"Global": {}}) for number in range(5)]
        answers = {"/services?status=true": (200, found)}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            listed = swarm_api.list_services(call(swarm_spec(), engine.url), AtMost(limit=2))
        assert (len(listed.services), listed.omitted) == (2, 3)

    def test_nodes(self, tmp_path: Path) -> None:
        """Nodes come with their role and what the swarm may use of them, managers first."""
        answers = {"/nodes": (200, [docker_node("a", state="down"), *WELL])}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            listed = swarm_api.list_nodes(call(swarm_spec(), engine.url), AtMost())
        assert [one.name for one in listed.nodes] == ["m-0", "a", "w-0"]
        manager, lost, _ = listed.nodes
        assert (manager.leader, manager.reachability) == (True, "reachable")
        assert (manager.cpus, manager.memory) == (2.0, 4104192000)
        assert (lost.state, lost.reachability, lost.leader) == ("down", None, False)

    @pytest.mark.parametrize("content", ["no JSON", {"message": "?"}, ["text"]])
    def test_other_answers(self, tmp_path: Path, content: Any) -> None:
        """What is no list of objects is an error that says so, and no defect."""
        answers = {"/nodes": (200, content)}
        with (
            serve(tmp_path, secrets().kubernetes, answers) as engine,
            pytest.raises(ClusterUnreachableError, match="something else"),
        ):
            swarm_api.list_nodes(call(swarm_spec(), engine.url), AtMost())

    def test_refusal(self, tmp_path: Path) -> None:
        """Docker's own words are passed on."""
        message = "This node is not a swarm manager."
        answers = {"/nodes": (503, {"message": message})}
        with (
            serve(tmp_path, secrets().kubernetes, answers) as engine,
            pytest.raises(ClusterUnreachableError, match=message),
        ):
            swarm_api.list_nodes(call(swarm_spec(), engine.url), AtMost())


class TestMesosRoutes:
    def test_apps(self, tmp_path: Path) -> None:
        """Apps have what Marathon tells; those that lack tasks come first."""
        apps = [
            app("/a", 1, 1, container={"type": "DOCKER", "docker": {"image": "redis:8"}}),
            app("/shop/web", 3, 1, cmd="sleep 1"),
        ]
        answers = {"/v2/apps": (200, {"apps": apps})}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            listed = mesos_api.list_apps(call(mesos_spec(), engine.url), AtMost())
        web, redis = listed.apps
        assert (web.id, web.instances, web.running, web.staged) == ("/shop/web", 3, 1, 2)
        assert (web.command, web.image, web.deploying) == ("sleep 1", None, True)
        assert (redis.image, redis.cpus, redis.memory) == ("redis:8", 0.5, 128)
        assert redis.deploying is False

    def test_not_found(self, tmp_path: Path) -> None:
        """Something that is no Marathon is named as what it says."""
        with (
            serve(tmp_path, secrets().kubernetes, {}) as engine,
            pytest.raises(NotFoundError, match="page not found"),
        ):
            mesos_api.list_apps(call(mesos_spec(), engine.url), AtMost())

    def test_other_answers(self, tmp_path: Path) -> None:
        """What holds no apps is an error that says so."""
        with (
            serve(tmp_path, secrets().kubernetes, {"/v2/apps": (200, [1])}) as engine,
            pytest.raises(ClusterUnreachableError, match="something else"),
        ):
            mesos_api.list_apps(call(mesos_spec(), engine.url), AtMost())


def test_strangers_are_not_let_in(tmp_path: Path) -> None:
    """Both sides show a certificate of the cluster's authority, or nothing is said."""
    with (
        serve(tmp_path, strangers().kubernetes, {"/nodes": (200, [])}) as engine,
        pytest.raises(ClusterUnreachableError, match="no certificate of this cluster"),
    ):
        swarm_api.list_nodes(call(swarm_spec(), engine.url), AtMost())
    assert engine.seen == []


def test_drivers_have_their_routes() -> None:
    """Each driver adds the routes of its COE, and those can be mounted."""
    for driver, coe, path in (
        (SwarmFedoraAtomicDriver(), "swarm", "services"),
        (SwarmFedoraAtomicDriver(), "swarm", "nodes"),
        (MesosUbuntuDriver(), "mesos", "apps"),
    ):
        driver.coe_api.check()
        assert route_of(driver, coe, "GET", path).access == "reader"


class TestSwarmHealth:
    def test_well(self, tmp_path: Path) -> None:
        """A swarm whose managers see all nodes is healthy; what it remembers does not count."""
        answers = {
            "/_ping": (200, "OK"),
            "/nodes": (200, [*WELL, docker_node("w-9", state="down")]),
        }
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = swarm_health.components(engine.url, secrets(), NAMES)
        assert {name: status for name, (status, _) in found.items()} == {
            "api": HealthStatus.HEALTHY,
            "swarm": HealthStatus.HEALTHY,
        }

    @pytest.mark.parametrize(
        "nodes",
        [
            pytest.param([WELL[0]], id="gone"),
            pytest.param([WELL[0], docker_node("w-0", state="down")], id="down"),
        ],
    )
    def test_lost_node(self, tmp_path: Path, nodes: list[Any]) -> None:
        """A node that the swarm does not reach makes it unhealthy, with its name."""
        answers = {"/_ping": (200, "OK"), "/nodes": (200, nodes)}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = swarm_health.components(engine.url, secrets(), NAMES)
        assert found["swarm"] == (HealthStatus.UNHEALTHY, "the swarm does not reach w-0")

    def test_manager_without_a_say(self, tmp_path: Path) -> None:
        """So does a manager whom the others do not see."""
        nodes = [docker_node("m-0", "manager", Reachability="unreachable"), WELL[1]]
        answers = {"/_ping": (200, "OK"), "/nodes": (200, nodes)}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = swarm_health.components(engine.url, secrets(), NAMES)
        assert found["swarm"][0] is HealthStatus.UNHEALTHY

    def test_ping_fails(self, tmp_path: Path) -> None:
        """A Docker that answers that it is not well is unhealthy."""
        answers = {"/_ping": (500, {"message": "out of order"}), "/nodes": (200, WELL)}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = swarm_health.components(engine.url, secrets(), NAMES)
        assert found["api"] == (HealthStatus.UNHEALTHY, "it says HTTP 500 out of order")

    @pytest.mark.parametrize("address", [None, NOBODY, "nonsense"])
    def test_unreachable(self, address: str | None) -> None:
        """What cannot be reached is unknown, with the reason, and no error."""
        found = swarm_health.components(address, secrets(), NAMES)
        assert {status for status, _ in found.values()} == {HealthStatus.UNKNOWN}
        assert all(reason for _, reason in found.values())


class TestMesosHealth:
    ANSWERS = (
        ("/mesos/health", ""),
        ("/ping", "pong"),
        ("/v2/leader", {"leader": "10.0.0.4:8080"}),
    )

    def test_well(self, tmp_path: Path) -> None:
        """Masters and Marathon that answer, and know who leads, are healthy."""
        answers = {path: (200, content) for path, content in self.ANSWERS}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = mesos_health.components(engine.url, secrets())
        assert {status for status, _ in found.values()} == {HealthStatus.HEALTHY}
        assert {name for name, _ in engine.seen} == {"jeroboam"}

    def test_no_leader(self, tmp_path: Path) -> None:
        """A Marathon without a leader is unhealthy."""
        answers: dict[str, tuple[int, Any]] = {path: (200, text) for path, text in self.ANSWERS}
        answers["/v2/leader"] = (404, {"message": "There is no leader"})
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = mesos_health.components(engine.url, secrets())
        assert found["leader"] == (
            HealthStatus.UNHEALTHY,
            "it says HTTP 404 There is no leader",
        )

    def test_gate_without_masters(self, tmp_path: Path) -> None:
        """A gate behind which nobody answers is unhealthy."""
        answers = {path: (503, "<html>No server is available</html>") for path, _ in self.ANSWERS}
        with serve(tmp_path, secrets().kubernetes, answers) as engine:
            found = mesos_health.components(engine.url, secrets())
        assert {status for status, _ in found.values()} == {HealthStatus.UNHEALTHY}

    @pytest.mark.parametrize("address", [None, NOBODY])
    def test_unreachable(self, address: str | None) -> None:
        """What cannot be reached is unknown, with the reason, and no error."""
        found = mesos_health.components(address, secrets())
        assert {status for status, _ in found.values()} == {HealthStatus.UNKNOWN}
