"""The services of a Mesos node are started with what fits the cluster."""

import json
from pathlib import Path

import pytest

from tests.unit.drivers.docker.clusters import MASTERS, node
from tests.unit.drivers.heat.sandbox import Sandbox

SERVICES = "/etc/jeroboam/services"


def settings(sandbox: Sandbox, service: str) -> dict[str, str]:
    """Return what Docker would read from a service's file."""
    text = sandbox.path(f"{SERVICES}/{service}.env").read_text()
    return dict(line.split("=", 1) for line in text.splitlines())


def set_up(folder: Path, role: str, count: int, index: str = "0") -> Sandbox:
    addresses = ",".join(f"10.0.0.{number}" for number in range(4, 4 + count))
    values = {"__MASTER_ADDRESSES__": addresses, "__NODE_INDEX__": index}
    sandbox = node(folder, "mesos", role, values, masters=count)
    done = sandbox.run("cluster.sh")
    assert done.returncode == 0, done.stderr
    return sandbox


class TestSettings:
    @pytest.mark.parametrize(("count", "quorum"), [(1, "1"), (3, "2"), (5, "3")])
    def test_quorum(self, tmp_path: Path, count: int, quorum: str) -> None:
        """Masters know how many of them have to agree, and all members of the ensemble."""
        sandbox = set_up(tmp_path, "master", count, index=str(count - 1))
        assert settings(sandbox, "mesos-master")["MESOS_QUORUM"] == quorum
        keeper = settings(sandbox, "zookeeper")
        assert keeper["ZOO_MY_ID"] == str(count)
        members = keeper["ZOO_SERVERS"].split()
        assert members == [f"server.{n}=10.0.0.{n + 3}:2888:3888;2181" for n in range(1, count + 1)]
        assert keeper["ZOO_ADMINSERVER_ENABLED"] == "false"

    def test_masters_share_a_secret(self, tmp_path: Path) -> None:
        """Masters write to ZooKeeper under one name, which agents do not know."""
        for role in ("master", "worker"):
            (tmp_path / role).mkdir()
        master = set_up(tmp_path / "master", "master", 3)
        agent = set_up(tmp_path / "worker", "worker", 3)
        secret = master.path("/etc/jeroboam/mesos/secret").read_text()
        hosts = ",".join(f"{one}:2181" for one in MASTERS.split(","))
        assert master.path(f"{SERVICES}/zk").read_text() == f"zk://mesos:{secret}@{hosts}/mesos"
        marathon = settings(master, "marathon")
        assert marathon["MARATHON_ZK"] == f"zk://mesos:{secret}@{hosts}/marathon"
        assert marathon["MARATHON_MASTER"] == f"zk://mesos:{secret}@{hosts}/mesos"
        assert settings(agent, "mesos-agent")["MESOS_MASTER"] == f"zk://{hosts}/mesos"
        texts = [one.read_text() for one in agent.path("/etc").rglob("*") if one.is_file()]
        assert all(secret not in text for text in texts)

    def test_files_are_private(self, tmp_path: Path) -> None:
        """Nobody but root reads what the services are started with."""
        sandbox = set_up(tmp_path, "master", 1)
        found = list(sandbox.path(SERVICES).iterdir())
        assert len(found) == 4
        assert all(one.stat().st_mode & 0o077 == 0 for one in found)

    def test_agent_and_master_agree(self, tmp_path: Path) -> None:
        """The masters know the agent's credential, which may register agents and nothing else."""
        for role in ("master", "worker"):
            (tmp_path / role).mkdir()
        master, agent = (
            set_up(tmp_path / role, role, 1).path("/etc/jeroboam/mesos")
            for role in ("master", "worker")
        )
        known = json.loads((master / "credentials.json").read_text())["credentials"]
        assert json.loads((agent / "credential.json").read_text()) in known
        rules = json.loads((master / "acls.json").read_text())
        assert rules["register_agents"][0]["principals"] == {"values": ["agent"]}
        assert rules["register_frameworks"][0]["principals"] == {"values": ["marathon"]}
        for listed in rules.values():
            assert {"type": "NONE"} in listed[-1].values()

    def test_labels_reach_the_agent(self, tmp_path: Path) -> None:
        """An agent gets the labels that are about it, and its group's as attributes."""
        labels = {
            "mesos_slave_isolation": "cgroups/cpu,cgroups/mem",
            "mesos_slave_image_providers": "docker",
            "mesos_slave_executor_env_variables": '{"LANG": "C"}',
        }
        group = {"node_labels": {"rack": "a1", "disk": "ssd"}}
        sandbox = node(tmp_path, "mesos", "worker", labels=labels, group=group)
        assert sandbox.run("cluster.sh").returncode == 0
        found = settings(sandbox, "mesos-agent")
        assert found["MESOS_ISOLATION"] == "cgroups/cpu,cgroups/mem"
        assert found["MESOS_LAUNCHER"] == "linux"
        assert found["MESOS_IMAGE_PROVIDERS"] == "docker"
        assert json.loads(found["MESOS_EXECUTOR_ENVIRONMENT_VARIABLES"]) == {"LANG": "C"}
        assert found["MESOS_ATTRIBUTES"] == "disk:ssd;rack:a1"

    def test_addresses_that_do_not_fit(self, tmp_path: Path) -> None:
        """A node that was told too few masters says so to Heat and starts nothing."""
        sandbox = node(tmp_path, "mesos", "worker", {"__MASTER_ADDRESSES__": MASTERS})
        assert sandbox.run("cluster.sh").returncode == 1
        (signal,) = (json.loads(line) for line in sandbox.signals())
        assert signal["status"] == "FAILURE"
        assert "1 masters, but the addresses of 3" in signal["reason"]
        assert list(sandbox.path(SERVICES).iterdir()) == []


class TestServices:
    IMAGES = (
        ("master", "zookeeper", "zookeeper:3.9.3", "zookeeper:3.9.3"),
        ("master", "mesos-master", "mesosphere/mesos-master:1.7.1", "mesos-master:1.7.1"),
        ("master", "marathon", "mesosphere/marathon:v1.11.24", "marathon:v1.11.24"),
        ("master", "gate", "haproxy:3.0.6", "haproxy:3.0.6"),
        ("worker", "mesos-agent", "mesosphere/mesos-slave:1.7.1", "mesos-slave:1.7.1"),
    )

    @pytest.mark.parametrize(("role", "service", "image", "short"), IMAGES)
    def test_images(self, tmp_path: Path, role: str, service: str, image: str, short: str) -> None:
        """Each service runs in a container of the version that its label says."""
        for prefix, expected in (("", image), ("registry.test/m", f"registry.test/m/{short}")):
            folder = tmp_path / (prefix.partition("/")[0] or "none")
            folder.mkdir()
            labels = {"container_infra_prefix": prefix, "mesos_slave_work_dir": str(folder / "w")}
            sandbox = node(folder, "mesos", role, labels=labels)
            done = run(sandbox, service)
            assert done == 0
            removal, start = sandbox.calls("docker")
            assert removal == f"docker rm --force {service}"
            assert start.startswith(f"docker run --rm --name {service} --network host ")
            assert f" {expected}" in start

    def test_no_secret_is_an_argument(self, tmp_path: Path) -> None:
        """What Docker is called with holds no secret."""
        sandbox = set_up(tmp_path, "master", 3)
        for service in ("zookeeper", "mesos-master", "marathon", "gate"):
            assert run(sandbox, service) == 0
        secret = sandbox.path("/etc/jeroboam/mesos/secret").read_text()
        assert secret not in "".join(sandbox.calls("docker"))

    def test_unknown_service(self, tmp_path: Path) -> None:
        """A service that is not there is refused."""
        sandbox = node(tmp_path, "mesos", "master")
        assert run(sandbox, "chronos") == 2
        assert sandbox.calls("docker") == []

    def test_gate_lets_in_who_is_known(self, tmp_path: Path) -> None:
        """TLS ends where clients have shown a certificate of the cluster's authority."""
        sandbox = node(tmp_path, "mesos", "master", template={"apiserver_port": 9443})
        gate = sandbox.path("/etc/jeroboam/haproxy.cfg").read_text()
        assert "bind :9443 ssl crt /tls/server.pem ca-file /tls/ca.crt verify required" in gate
        assert "server self 10.0.0.5:8080" in gate
        assert "server self 10.0.0.5:5050" in gate


def run(sandbox: Sandbox, service: str) -> int:
    """Run a service's script to its end, which the stub for Docker makes soon."""
    script = sandbox.path("/usr/local/lib/jeroboam/service.sh")
    caller = sandbox.path("/usr/local/lib/jeroboam/call.sh")
    caller.write_text(f'exec bash "{script}" {service}\n')
    return sandbox.run("call.sh").returncode


class TestReady:
    CURL = """#!/usr/bin/bash
echo "curl $*" >> "$SANDBOX/calls"
for url in "$@"; do :; done
for word in "$@"; do case "$word" in http*) url="$word" ;; esac; done
case "$url" in
    */tokens) cat > /dev/null; printf 'X-Subject-Token: t\\r\\n' ;;
    */signal) cat > /dev/null; echo "$*" >> "$SANDBOX/signals" ;;
    */metrics/snapshot) cat "$SANDBOX/metrics" ;;
    */v2/leader) [ -e "$SANDBOX/leader" ] || { touch "$SANDBOX/leader"; exit 22; } ;;
    *) ;;
esac
"""

    def test_master(self, tmp_path: Path) -> None:
        """A master asks through its gate, as users do, until Marathon knows who leads."""
        sandbox = node(tmp_path, "mesos", "master")
        sandbox.program("curl", self.CURL)
        assert sandbox.run("ready.sh").returncode == 0
        asked = [one for one in sandbox.calls("curl") if "10.0.0.5:8443" in one]
        paths = [one.rsplit("8443", 1)[1].split()[0] for one in asked]
        assert paths == ["/mesos/health", "/ping", "/v2/leader"] * 2
        assert all("--cert" in one and "--cacert" in one for one in asked)
        assert len(sandbox.signals()) == 1

    @pytest.mark.parametrize("name", ["slave/registered", r"slave\/registered"])
    def test_agent(self, tmp_path: Path, name: str) -> None:
        """An agent reports once a master has registered it."""
        sandbox = node(tmp_path, "mesos", "worker")
        sandbox.program("curl", self.CURL)
        (sandbox.folder / "metrics").write_text(f'{{"a":1.0,"{name}":1.0,"z":0}}')
        for _ in range(2):
            assert sandbox.run("ready.sh").returncode == 0
        assert len(sandbox.signals()) == 1
