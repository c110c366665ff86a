"""Runs the jobs of drivers as playbooks, each in a process of its own that outlives the worker."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import structlog

from jeroboam.drivers.ansible import runs
from jeroboam.drivers.ansible.inputs import Credentials, credentials, variables
from jeroboam.drivers.ansible.poller import AnsiblePoller
from jeroboam.drivers.ansible.runs import Run
from jeroboam.drivers.base import DriverContext, Poller
from jeroboam.drivers.servers.engine import Engine, Job
from jeroboam.errors import CloudUnavailableError
from jeroboam.models import Cluster

WAIT_SECONDS = 60.0
PAUSE_SECONDS = 0.2

PLAYBOOKS = ("apply.yaml", "rebuild.yaml", "destroy.yaml")

_UNWANTED = ("OS_", "ANSIBLE_", "JEROBOAM_")

log = structlog.get_logger(__name__)


class AnsibleEngine(Engine):
    """One playbook at a time for each cluster."""

    def submit(self, context: DriverContext, job: Job) -> bool:
        """Start a playbook, unless the call's last one is at work or has ended well."""
        run = Run(job.cluster.uuid, job.key)
        if run.succeeded:
            return False
        with run.held() as lock:
            if lock is None:
                return False
            if run.succeeded:
                return False
            others = [one for one in runs.of_cluster(run.cluster) if one.key != run.key]
            for one in (*others, run):
                _stop(one, itself=one == run)
            self._start(context, job, run, lock)
        for one in others:
            one.remove()
        log.info("ansible_run_started", cluster=run.cluster, work=job.work.value)
        return True

    def has_done(self, context: DriverContext, cluster: Cluster, key: str) -> bool:
        """Tell whether the playbook of a call has ended well."""
        return Run(cluster.uuid, key).succeeded

    def poller(self) -> Poller:
        """Return the poller."""
        return AnsiblePoller()

    @staticmethod
    def _start(context: DriverContext, job: Job, run: Run, lock: int) -> None:
        order = job.order()
        run.prepare()
        owner = context.cloud.tenant_session(job.cluster.trust_id)
        given = credentials(context.cloud, owner)
        _write_private(run, job, order, given)
        child = subprocess.Popen(  # noqa: S603 - our own program
            [
                *(sys.executable, "-m", "jeroboam.drivers.ansible.program"),
                *(run.cluster, run.key, job.work.value),
                *(str(job.timeout_minutes * 60), str(given.seconds)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=run.private,
            env=_environment(os.environ),
            pass_fds=(lock,),
            start_new_session=True,
        )
        # It is not waited for: its records tell how it ends, also to other workers.
        _Children.adopt(child)
        run.note("run", {"host": runs.here(), "process": child.pid, "work": job.work.value})


class _Children:
    """The processes that this worker has started: kept, so that they are reaped when they end."""

    _known: ClassVar[list[subprocess.Popen[bytes]]] = []

    @classmethod
    def adopt(cls, child: "subprocess.Popen[bytes]") -> None:
        """Keep a process; those that have ended are forgotten."""
        cls._known = [*(one for one in cls._known if one.poll() is None), child]


def _environment(base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a run: Jeroboam's own secrets are none of Ansible's business."""
    kept = {name: value for name, value in base.items() if not name.startswith(_UNWANTED)}
    return kept | {runs.SETTING: str(runs.root())}


def _write_private(run: Run, job: Job, order: Mapping[str, Any], given: Credentials) -> None:
    """Write playbooks, inventory, variables and credentials."""
    for name in PLAYBOOKS:
        runs.write(run.private / "project" / name, job.files.read(name))
    nodes = [one["name"] for one in order.get("servers") or order.get("nodes") or ()]
    local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    inventory = {
        "all": {
            "vars": local,
            "hosts": {"localhost": {}},
            "children": {"nodes": {"hosts": {name: {} for name in nodes}}},
        }
    }
    # YAML takes JSON; Ansible recognises the format by the name.
    runs.write(run.private / "inventory" / "hosts.yaml", json.dumps(inventory))
    runs.write(
        run.private / "env" / "extravars", json.dumps({**variables(order), **given.variables})
    )
    runs.write(run.private / "clouds.yaml", given.clouds)


def _stop(run: Run, *, itself: bool) -> None:
    """Stop a run, and what it left behind when its process was killed.

    Args:
        itself: Whether the caller holds the run's lock.
    """
    host = run.started.get("host")
    if host == runs.here():
        _end(run)
    deadline = time.monotonic() + WAIT_SECONDS
    while not itself and run.at_work():
        if time.monotonic() > deadline:
            raise CloudUnavailableError(f"A playbook of the cluster is still at work on {host}.")
        time.sleep(PAUSE_SECONDS)
    run.clean()


def _end(run: Run) -> None:
    """End the processes of a run: the first is asked, which ends Ansible; then none is left."""
    asked = time.monotonic() + WAIT_SECONDS / 2
    number = int(run.started.get("process") or 0)
    while found := _processes(run):
        patient = number in found and time.monotonic() < asked
        for process in [number] if patient else found:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM if patient else signal.SIGKILL)
        time.sleep(PAUSE_SECONDS)


def _processes(run: Run) -> list[int]:
    """Return the processes of a run, which all work in its folder, and nobody else's do."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal() and f"{run.folder}/" in str((entry / "cwd").readlink()):
                found.append(int(entry.name))
    return found
