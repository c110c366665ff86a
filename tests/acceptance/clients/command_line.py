"""Runs commands of the real ``openstack`` client, and remembers which."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

GROUP = "openstack.container_infra.v1"
MODULE = "tests.acceptance.clients.osc_process"
CHECKOUT = Path(__file__).parents[3]


def every_command() -> set[str]:
    """Return the commands that magnumclient adds, as a user writes them."""
    return {one.name.replace("_", " ") for one in entry_points(group=GROUP)}


class CommandLine:
    """The client, with one process for each user, since a process keeps its first login.

    Args:
        directory: Where what it logs goes.
        stack: Ends its processes.
    """

    def __init__(self, clouds_yaml: Path, directory: Path, stack: ExitStack) -> None:
        self.ran: set[str] = set()
        self._environment = {
            **os.environ,
            # "config" prints for the user's shell, and does not work for a user without one.
            "SHELL": "/bin/bash",
            "OS_CLIENT_CONFIG_FILE": str(clouds_yaml),
            "PYTHONPATH": f"{CHECKOUT}:{os.environ.get('PYTHONPATH', '')}",
        }
        self._log = stack.enter_context((directory / "openstack.log").open("ab"))
        self._stack = stack
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def __call__(self, *arguments: str, cloud: str = "demo") -> str:
        """Run a command that works; return what it prints."""
        answer = self.attempt(*arguments, cloud=cloud)
        assert answer["code"] == 0, f"{arguments}: {answer['err']}"
        # Some of its commands print the refusal and end with success.
        assert "failed" not in answer["out"], f"{arguments}: {answer['out']}"
        self._note(arguments)
        return str(answer["out"])

    def refused(self, *arguments: str, cloud: str = "demo") -> str:
        """Run a command that the service refuses; return what is printed, wherever."""
        answer = self.attempt(*arguments, cloud=cloud)
        printed = f"{answer['out']}{answer['err']}"
        assert "(HTTP 4" in printed, printed
        self._note(arguments)
        return printed

    def _note(self, arguments: tuple[str, ...]) -> None:
        line = f"{' '.join(arguments)} "
        self.ran |= {one for one in every_command() if line.startswith(f"{one} ")}

    def json(self, *arguments: str, cloud: str = "demo") -> Any:
        """Run a command that shows or lists something; return that."""
        return json.loads(self(*arguments, "-f", "json", cloud=cloud))

    def attempt(self, *arguments: str, cloud: str = "demo") -> dict[str, Any]:
        """Run a command; return its exit code and output."""
        process = self._processes.get(cloud) or self._start(cloud)
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(["--os-cloud", cloud, *arguments]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, "the client's process has ended"
        found: dict[str, Any] = json.loads(answer)
        return found

    def _start(self, cloud: str) -> subprocess.Popen[str]:
        process = self._stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", MODULE],
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                text=True,
            )
        )
        self._stack.callback(process.kill)
        self._processes[cloud] = process
        return process


@contextmanager
def command_line(clouds_yaml: Path, directory: Path) -> Iterator[CommandLine]:
    """Yield the client; what it started ends with the block."""
    with ExitStack() as stack:
        yield CommandLine(clouds_yaml, directory, stack)
