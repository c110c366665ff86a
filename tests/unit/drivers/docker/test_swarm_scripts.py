"""A swarm's nodes find each other: with a simulated Docker, but real TLS between them."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jeroboam.drivers.swarm.contents import join_key
from tests.unit.drivers.docker.clusters import keeps_trying, node
from tests.unit.drivers.docker.test_scripts import ARCHIVE
from tests.unit.drivers.heat.clusters import secrets
from tests.unit.drivers.heat.sandbox import Sandbox

WORKER_TOKEN, MANAGER_TOKEN = "SWMTKN-1-aaaa-worker", "SWMTKN-1-aaaa-manager"
BEHIND_BALANCER = {"__NODE_ADDRESS__": "10.0.0.5", "__API_ADDRESS__": "10.0.0.4"}
ALONE = {"__NODE_ADDRESS__": "10.0.0.4", "__API_ADDRESS__": "10.0.0.4"}

# Knows its own state, and answers for the other managers if there are some.
DOCKER = f"""#!/usr/bin/bash
echo "docker $*" >> "$SANDBOX/calls"
if [ "$1" = --host ]; then
    [ -e "$SANDBOX/others" ] || exit 1
    shift 9
fi
case "$*" in
    "swarm init"*)
        if [ -e "$SANDBOX/init-fails" ]; then rm "$SANDBOX/init-fails"; exit 1; fi
        echo active > "$SANDBOX/state" ;;
    "swarm join-token --quiet worker") echo {WORKER_TOKEN} ;;
    "swarm join-token --quiet manager") echo {MANAGER_TOKEN} ;;
    info*RemoteManagers*) echo "10.0.0.6:2377 10.0.0.7:2377 " ;;
    info*ControlAvailable*) echo "$(cat "$SANDBOX/state") $(cat "$SANDBOX/control")" ;;
    info*LocalNodeState*) cat "$SANDBOX/state" ;;
    "node ls --filter node.label"*) echo "w8 Down"; echo "w9 Ready" ;;
    "node ls"*) cat "$SANDBOX/nodes" ;;
    "node demote"*|"node rm"*) ;;
    *) exit 64 ;;
esac
"""
# What goes to Docker's socket is kept; all else is asked for really.
CURL = """#!/usr/bin/bash
echo "curl $*" >> "$SANDBOX/calls"
if [[ " $* " == *" --unix-socket "* ]]; then
    cat > "$SANDBOX/joined"
    echo active > "$SANDBOX/state"
    exit 0
fi
exec /usr/bin/curl "$@"
"""


def swarm_node(folder: Path, role: str, values: dict[str, str]) -> Sandbox:
    sandbox = node(folder, "swarm", role, values)
    sandbox.program("docker", DOCKER)
    (sandbox.folder / "state").write_text("inactive\n")
    (sandbox.folder / "control").write_text("true\n")
    (sandbox.folder / "nodes").write_text("")
    return sandbox


def succeed(sandbox: Sandbox, script: str) -> None:
    done = sandbox.run(script)
    assert done.returncode == 0, done.stderr


def verbs(sandbox: Sandbox) -> list[str]:
    """Return what Docker was asked to change, without options."""
    calls = [call.split(" --tlskey ")[-1] for call in sandbox.calls("docker")]
    words = [call.removeprefix("docker ").split()[-5:] for call in calls]
    return [" ".join(one) for one in words if "info" not in one and "ls" not in one]


class TestManagers:
    @pytest.mark.parametrize("values", [BEHIND_BALANCER, ALONE])
    def test_first_one_founds(self, tmp_path: Path, values: dict[str, str]) -> None:
        """The first manager founds the swarm, with addresses of its own for networks, once."""
        sandbox = swarm_node(tmp_path, "master", values)
        for _ in range(2):
            succeed(sandbox, "cluster.sh")
        (call,) = (one for one in sandbox.calls("docker") if "swarm init" in one)
        address = values["__NODE_ADDRESS__"]
        assert f"--advertise-addr {address} --listen-addr {address}:2377" in call
        assert "--default-addr-pool 10.200.0.0/16 --default-addr-pool-mask-length 24" in call
        assert "--cert-expiry 2160h --task-history-limit 5" in call

    def test_founding_waits_for_others(self, tmp_path: Path) -> None:
        """Behind a load balancer, other managers are asked for some times, by TLS both ways."""
        sandbox = swarm_node(tmp_path, "master", BEHIND_BALANCER)
        succeed(sandbox, "cluster.sh")
        asked = [one for one in sandbox.calls("docker") if " --host " in f" {one} "]
        assert len(asked) == 3
        assert all("--host tcp://10.0.0.4:2376 --tlsverify --tlscacert" in one for one in asked)

    def test_failure_is_repeated(self, tmp_path: Path) -> None:
        """An attempt that failed is made again."""
        sandbox = swarm_node(tmp_path, "master", ALONE)
        sandbox.mark("init-fails")
        succeed(sandbox, "cluster.sh")
        assert len([one for one in sandbox.calls("docker") if "swarm init" in one]) == 2

    @pytest.mark.parametrize("index", ["0", "1"])
    def test_others_join(self, tmp_path: Path, index: str) -> None:
        """One that finds a living swarm joins it, and the swarm forgets what it was before."""
        sandbox = swarm_node(tmp_path, "master", {**BEHIND_BALANCER, "__NODE_INDEX__": index})
        sandbox.program("curl", CURL)
        sandbox.mark("others")
        name = "demo-0123456789ab-master-0"
        (sandbox.folder / "nodes").write_text(f"id1 {name}\nid2 {name}1\nid3 other\n")
        succeed(sandbox, "cluster.sh")
        changes = [one for one in verbs(sandbox) if "join-token" not in one]
        assert [one.split()[-3:] for one in changes] == [
            ["node", "demote", "id1"],
            ["rm", "--force", "id1"],
        ]
        assert json.loads((sandbox.folder / "joined").read_text()) == {
            "ListenAddr": "10.0.0.5:2377",
            "AdvertiseAddr": "10.0.0.5",
            "RemoteAddrs": ["10.0.0.6:2377", "10.0.0.7:2377"],
            "JoinToken": MANAGER_TOKEN,
        }
        assert MANAGER_TOKEN not in "".join(sandbox.calls("docker", "curl"))

    def test_state_on_a_volume(self, tmp_path: Path) -> None:
        """A manager whose volume has brought its membership along changes nothing."""
        sandbox = swarm_node(tmp_path, "master", ALONE)
        (sandbox.folder / "state").write_text("active\n")
        succeed(sandbox, "cluster.sh")
        assert verbs(sandbox) == []


class TestDoor:
    @pytest.fixture
    def port(self) -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    @pytest.fixture
    def manager(self, tmp_path: Path, port: int) -> Iterator[Sandbox]:
        """A manager with its door open, served by the real openssl."""
        folder = tmp_path / "manager"
        folder.mkdir()
        sandbox = swarm_node(folder, "master", ALONE)
        sandbox.serve_archive(ARCHIVE, "docker/dockerd")
        succeed(sandbox, "prepare.sh")
        lines = ["w1 w-0 Ready", "w2 w-0 Down", "w3 w-1 Down", "w4 w-2 Ready"]
        (sandbox.folder / "nodes").write_text("".join(f"{line}\n" for line in lines))
        set_port(sandbox, port)
        with (sandbox.folder / "door.log").open("wb") as log:
            door = subprocess.Popen(
                ["bash", str(sandbox.path("/usr/local/lib/jeroboam/manage.sh"))],
                env={
                    "PATH": f"{sandbox.programs}:{os.environ['PATH']}",
                    "SANDBOX": str(sandbox.folder),
                    "JEROBOAM_ROOT": str(sandbox.folder / "root"),
                    "JEROBOAM_PAUSE": "0",
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            wait_for(port)
            yield sandbox
        finally:
            door.kill()
            door.wait()

    def test_worker_gets_its_token(self, tmp_path: Path, manager: Sandbox, port: int) -> None:
        """A worker asks the door with its key, and joins with what it gets; nothing shows."""
        sandbox = self.worker(tmp_path, port)
        done = sandbox.run("cluster.sh")
        assert done.returncode == 0, done.stderr
        joined = json.loads((sandbox.folder / "joined").read_text())
        assert joined["JoinToken"] == WORKER_TOKEN
        assert joined["RemoteAddrs"] == ["10.0.0.6:2377", "10.0.0.7:2377"]
        shown = "".join(sandbox.calls("docker", "curl")) + done.stdout + done.stderr
        shown += (manager.folder / "door.log").read_text()
        assert join_key(secrets()) not in shown
        assert "SWMTKN" not in shown

    def test_wrong_key(self, tmp_path: Path, manager: Sandbox, port: int) -> None:
        """Without the key, and from another place of the disk, the door gives nothing."""
        authority = str(manager.path("/etc/jeroboam/tls/ca.crt"))
        for path in ("", "0" * 64, "../../../etc/jeroboam/join.key", "/etc/passwd", "."):
            url = f"https://127.0.0.1:{port}/{path}"
            done = subprocess.run(
                ["curl", "--cacert", authority, "--silent", "--path-as-is", "-m", "5", url],
                capture_output=True,
                text=True,
                check=False,
                timeout=20,
            )
            assert "SWMTKN" not in done.stdout
            assert join_key(secrets()) not in done.stdout
            assert "root:" not in done.stdout
        assert tmp_path.exists()

    def test_another_authority(self, tmp_path: Path, manager: Sandbox, port: int) -> None:
        """A worker shows its key to nobody whom the cluster's authority does not vouch for."""
        sandbox = self.worker(tmp_path, port)
        sandbox.path("/etc/jeroboam/ca.crt").write_text(secrets().etcd.certificate)
        assert keeps_trying(sandbox, "cluster.sh")
        assert not (sandbox.folder / "joined").exists()
        assert manager.folder.exists()

    def test_doubles_are_forgotten(self, manager: Sandbox) -> None:
        """What is down is removed where one of its name is ready, or Jeroboam has marked it."""
        removed = [one for one in manager.calls("docker") if "node rm" in one]
        assert removed == ["docker node rm --force w2", "docker node rm --force w8"]

    def test_door_is_private(self, manager: Sandbox) -> None:
        """Nobody but root reads the token on the manager's disk."""
        door = manager.path("/var/lib/jeroboam/door")
        assert door.stat().st_mode & 0o077 == 0
        assert [one.name for one in door.iterdir()] == [join_key(secrets())]

    def worker(self, tmp_path: Path, port: int) -> Sandbox:
        folder = tmp_path / "worker"
        folder.mkdir()
        values = {"__API_ADDRESS__": "127.0.0.1", "__NODE_ADDRESS__": "10.0.0.9"}
        sandbox = swarm_node(folder, "worker", values)
        sandbox.program("curl", CURL)
        set_port(sandbox, port)
        return sandbox


def set_port(sandbox: Sandbox, port: int) -> None:
    settings = sandbox.path("/etc/jeroboam/cluster.env")
    settings.write_text(settings.read_text() + f"JOIN_PORT={port}\n")


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("The door does not open.")


class TestReady:
    @pytest.mark.parametrize("role", ["master", "worker"])
    def test_reports_once(self, tmp_path: Path, role: str) -> None:
        """A node reports when the swarm has it, and only once."""
        sandbox = swarm_node(tmp_path, role, {})
        (sandbox.folder / "state").write_text("active\n")
        for _ in range(2):
            succeed(sandbox, "ready.sh")
        (signal,) = (json.loads(line) for line in sandbox.signals())
        assert signal["status"] == "SUCCESS"

    def test_manager_without_a_say(self, tmp_path: Path) -> None:
        """A manager that is a worker in the swarm's eyes is not ready."""
        sandbox = swarm_node(tmp_path, "master", {})
        (sandbox.folder / "state").write_text("active\n")
        (sandbox.folder / "control").write_text("false\n")
        assert keeps_trying(sandbox, "ready.sh")
        assert sandbox.signals() == []
