"""The process of one run: ``python -m jeroboam.drivers.ansible.program CLUSTER KEY WORK ...``.

Further arguments are the seconds that the work may take, and those that its credentials are good
for. It inherits the run's lock and keeps it as long as it lives. Its arguments hold no secrets.
"""

import sys
from pathlib import Path
from typing import Any

import ansible_runner

from jeroboam.drivers.ansible import installation
from jeroboam.drivers.ansible.events import Watcher, last_error
from jeroboam.drivers.ansible.runs import Run


def main(arguments: list[str]) -> int:
    """Run a playbook and note how it ends."""
    cluster, key, work, *limits = arguments
    seconds, good_for = map(int, limits)
    run = Run(cluster, key)
    watcher = Watcher(lambda message: run.note("progress", {"message": message}))
    try:
        ended: Any = ansible_runner.run(
            private_data_dir=str(run.private),
            playbook=f"{work}.yaml",
            envvars=_environment(run),
            event_handler=watcher.take,
            settings={"suppress_ansible_output": True, "job_timeout": min(seconds, good_for)},
            quiet=True,
        )
        # A run that was asked to end, or whose token ends, has no verdict: the same call goes on.
        if ended.status != "canceled" and not (ended.status == "timeout" and good_for < seconds):
            run.note("status", _verdict(ended, watcher, seconds))
    finally:
        run.clean()
    return 0


def _verdict(ended: Any, watcher: Watcher, seconds: int) -> dict[str, Any]:
    if ended.status == "successful":
        return {"succeeded": True}
    if ended.status == "timeout":
        reason = f"the playbook took longer than {seconds // 60} minutes"
        return {"succeeded": False, "faults": {"ansible": reason}}
    faults = watcher.failures or {"ansible": last_error(ended.stdout.read())}
    return {"succeeded": False, "faults": faults}


def _environment(run: Run) -> dict[str, str]:
    """Return Ansible's environment; nothing of the user's own configuration counts."""
    home = run.private / "home"
    return {
        "PATH": installation.programs(),
        "HOME": str(home),
        "ANSIBLE_HOME": str(home / "ansible"),
        "ANSIBLE_LOCAL_TEMP": str(home / "local"),
        "ANSIBLE_REMOTE_TEMP": str(home / "remote"),
        "ANSIBLE_COLLECTIONS_PATH": str(installation.collections() or ""),
        "ANSIBLE_FORKS": "10",
        "ANSIBLE_PIPELINING": "True",
        "OS_CLIENT_CONFIG_FILE": str(run.private / "clouds.yaml"),
        "PYTHONPATH": str(Path(__file__).parent / "compatibility"),
        "PYTHONWARNINGS": "ignore",
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
