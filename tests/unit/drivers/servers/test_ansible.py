"""Runs of playbooks: locks, records, events and inputs."""

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from jeroboam.drivers.ansible import installation, runs
from jeroboam.drivers.ansible.events import Watcher, last_error
from jeroboam.drivers.ansible.inputs import variables
from jeroboam.drivers.ansible.poller import AnsiblePoller
from jeroboam.drivers.ansible.runs import Run
from jeroboam.drivers.base import Phase, Watch
from jeroboam.drivers.servers.engine import job_key
from jeroboam.errors import DriverContractError
from jeroboam.models import Method

KEY = "cluster:operation:step"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(runs.SETTING, str(tmp_path))
    return tmp_path


@pytest.fixture
def run() -> Run:
    return Run("cluster", job_key(Method.CREATE_CLUSTER, KEY))


def phase(method: Method = Method.CREATE_CLUSTER, key: str = KEY) -> Phase:
    watch = Watch(
        cluster_id="cluster", project_id="p", trust_id=None, backend_id=None, method=method, key=key
    )
    found = AnsiblePoller().poll(None, [watch])  # type: ignore[arg-type]
    return found["cluster"].phase


def test_a_child_keeps_the_lock_until_it_ends(run: Run) -> None:
    """The lock outlives who took it, and ends with the process that inherited it."""
    with run.held() as lock:
        assert lock is not None
        command = [sys.executable, "-c", "input()"]
        child = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(lock,))
    assert run.at_work()
    with run.held() as second:
        assert second is None
    child.communicate(b"\n")
    assert not run.at_work()


def test_phases(run: Run) -> None:
    """A run is what its folder tells, from never begun to ended."""
    assert phase() is Phase.GONE
    run.prepare()
    assert phase(key="other") is Phase.INTERRUPTED
    with run.held() as lock:
        assert lock is not None
        run.note("run", {"host": "h", "process": 1})
        assert phase() is Phase.RUNNING
    assert phase() is Phase.INTERRUPTED
    run.note("status", {"succeeded": False, "faults": {"node": "no"}})
    assert phase() is Phase.FAILED
    run.note("status", {"succeeded": True})
    assert phase() is Phase.DONE


def test_only_the_owner_reads(run: Run) -> None:
    run.prepare()
    runs.write(run.private / "env" / "extravars", "secret")
    for path in (run.folder, run.private, run.private / "env"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert stat.S_IMODE((run.private / "env" / "extravars").stat().st_mode) == 0o600
    run.clean()
    assert not run.private.exists()


def test_events_become_progress_and_reasons() -> None:
    told: list[str] = []
    watcher = Watcher(told.append)

    def event(kind: str, **data: object) -> None:
        watcher.take({"event": kind, "event_data": data})

    event("playbook_on_task_start", task="Its server is made")
    for host in ("a", "b", "b"):
        event("runner_on_ok", host=host, task="Its server is made")
    event("runner_on_failed", host="c", task="t", res={"msg": "x"}, ignore_errors=True)
    event("runner_on_failed", host="c", task="Its server is made", res={"msg": "Quota exceeded"})
    event("runner_on_failed", host="d", task="t", res={"censored": "hidden"})
    assert told[-1] == "Its server is made: 2 done"
    assert watcher.failures == {
        "c": "Its server is made: Quota exceeded",
        "d": "t: it failed; its output is kept secret",
    }


def test_the_last_error_is_told() -> None:
    assert last_error("PLAY\nERROR! a\n[ERROR]: no jinja2\nmore\n") == "[ERROR]: no jinja2"
    assert last_error("") == "it ended without a reason"


def test_rules_are_as_the_module_wants_them() -> None:
    order = {
        "security_groups": [
            {"name": "g", "id": None, "rules": [{"own_group": True, "protocol": "tcp"}]},
            {"name": "h", "id": "H", "rules": []},
        ]
    }
    first, second = variables(order)["wanted"]["security_groups"]
    assert first["rules"][-1] == {
        "direction": "ingress",
        "ether_type": "IPv4",
        "protocol": "tcp",
        "remote_group": "g",
    }
    assert (first["incomplete"], second["incomplete"]) == (True, False)


def test_what_is_missing_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_PACKAGES", ("ansible-runner-of-nobody",))
    with pytest.raises(DriverContractError, match=r"pip install 'jeroboam\[ansible\]'"):
        installation.check()


@pytest.mark.parametrize(
    ("seconds", "good_for", "ended"),
    [(1, 60, Phase.FAILED), (60, 1, Phase.INTERRUPTED), (60, 59, Phase.DONE)],
    ids=["time-is-up", "token-ends", "in-time"],
)
def test_a_playbook_ends_in_time(run: Run, seconds: int, good_for: int, ended: Phase) -> None:
    """One that took too long has failed; one whose token ends is begun again."""
    lasts = 30 if ended is not Phase.DONE else 0
    tasks = [{"ansible.builtin.command": f"sleep {lasts}"}]
    plays = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    run.prepare()
    runs.write(run.private / "project" / "apply.yaml", json.dumps(plays))
    inventory = {"all": {"vars": local, "hosts": {"localhost": {}}}}
    runs.write(run.private / "inventory" / "hosts.yaml", json.dumps(inventory))
    run.note("run", {"host": "h", "process": 1})
    program = [sys.executable, "-m", "jeroboam.drivers.ansible.program"]
    command = [*program, run.cluster, run.key, "apply", str(seconds), str(good_for)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert phase() is ended
    assert not run.private.exists()
