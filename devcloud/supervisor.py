"""Starts the services of one devcloud and waits until they answer."""

import contextlib
import errno
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from devcloud import catalogue, logs
from devcloud.errors import DevcloudError
from devcloud.layout import Layout
from devcloud.process import POLL_SECONDS, Recorded, stop, uninterrupted
from devcloud.progress import Report

START_SECONDS = 300.0
ANSWER_SECONDS = 10.0
SEED = "seed"


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """How a service is doing.

    Attributes:
        name: Name of the service.
        url: Where it listens.
        pid: Number of its process, or None if it does not run.
        answers: Whether it answered just now.
    """

    name: str
    url: str
    pid: int | None
    answers: bool


def environment(layout: Layout, base: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the services.

    Proxies, other clouds' credentials and other Pythons' paths are left behind.
    """
    unwanted = ("OS_", "PYTHON", "VIRTUAL_ENV")
    kept = {
        key: value
        for key, value in base.items()
        if not key.startswith(unwanted) and not key.lower().endswith("_proxy")
    }
    return kept | {
        "PATH": f"{layout.venv / 'bin'}:{base.get('PATH', os.defpath)}",
        "PYTHONPATH": str(layout.plugins),
        "DEVCLOUD_HOME": str(layout.home),
        # Entry points are looked up in a cache, which belongs to this home.
        "XDG_CACHE_HOME": str(layout.home / "cache"),
        # One arena for all threads keeps a service at about 150 MB.
        "MALLOC_ARENA_MAX": "2",
        "PYTHONWARNINGS": "ignore",
    }


class Supervisor:
    """The processes of one devcloud."""

    def __init__(self, layout: Layout) -> None:
        """Supervise the processes recorded in a home."""
        self._layout = layout
        self._seeded = layout.seeded

    def running(self, service: str) -> Recorded | None:
        """Return the process of a service if it runs."""
        return Recorded.load(self._layout.run / f"{service}.json")

    def status(self) -> list[ServiceStatus]:
        """Return how each service of the set is doing."""
        found = []
        for name in self._layout.services:
            process = self.running(name)
            found.append(
                ServiceStatus(
                    name=name,
                    url=self._layout.url(name),
                    pid=process.pid if process else None,
                    answers=process is not None and self._answers(name),
                )
            )
        return found

    def start(self, services: Iterable[str], *, seed: bool, report: Report) -> list[str]:
        """Start the services that do not run, and wait until all answer.

        Args:
            services: Their names.
            seed: Also fill the cloud, and wait for that.
            report: Where progress goes.

        Returns:
            The names of those that had to be started.

        Raises:
            DevcloudError: If a port is taken or a service fails. What was started by this
                call has been stopped again, as it has on any other exception.
        """
        missing = [name for name in services if not self.running(name)]
        for name in missing:
            self._check_ports(name)
        names = [*missing, SEED] if seed else missing
        started: dict[str, Recorded] = {}
        self._seeded.unlink(missing_ok=True)
        before = {name: logs.sizes(self._layout, name) for name in names}
        try:
            for name in names:
                with uninterrupted():
                    started[name] = self._spawn(name)
            self._wait(dict(started), before, report)
        except BaseException:
            stop(started.values(), graceful=False)
            raise
        return missing

    def stop(self, services: Iterable[str], *, graceful: bool = True) -> list[str]:
        """Stop services and return the names of those that ran."""
        processes = {name: self.running(name) for name in services}
        live = {name: process for name, process in processes.items() if process}
        stop(live.values(), graceful=graceful)
        return list(live)

    def _spawn(self, name: str) -> Recorded:
        module = ["devcloud.inside.seed"] if name == SEED else ["devcloud.inside.serve", name]
        return Recorded.spawn(
            self._layout.run / f"{name}.json",
            [str(self._layout.python), "-m", *module],
            environment(self._layout, os.environ),
            logs.files(self._layout, name)[0],
        )

    def _check_ports(self, name: str) -> None:
        for api in catalogue.apis(name):
            self._check_port(api.name)

    def _check_port(self, name: str) -> None:
        port = self._layout.port(name)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
                raise DevcloudError(
                    f"Port {port}, which {name} needs, is taken by another program.",
                    "Stop that program, or choose other ports: --port-base NUMBER.",
                ) from None

    def _wait(
        self,
        pending: dict[str, Recorded],
        before: Mapping[str, dict[Path, int]],
        report: Report,
    ) -> None:
        deadline = time.monotonic() + START_SECONDS
        while pending:
            for name, process in list(pending.items()):
                alive = process.alive()
                if name == SEED and not alive:
                    self._check_seed(before[name])
                    report("the cloud is filled")
                elif not alive:
                    words = logs.last_words(self._layout, name, before[name])
                    raise DevcloudError(f"{name} ended while it was starting: {words}")
                elif name != SEED and self._listens(name, process) and self._answers(name):
                    report(f"{name} answers at {self._layout.url(name)}")
                else:
                    continue
                del pending[name]
            if pending and time.monotonic() > deadline:
                name = next(iter(pending))
                words = logs.last_words(self._layout, name, before[name])
                raise DevcloudError(f"{name} does not answer: {words}")
            time.sleep(POLL_SECONDS)

    def _check_seed(self, before: dict[Path, int]) -> None:
        """Tell success from failure by the last line; the exit code went with the process."""
        (self._layout.run / f"{SEED}.json").unlink(missing_ok=True)
        if self._seeded.exists():
            return
        words = logs.last_words(self._layout, SEED, before)
        raise DevcloudError(f"The cloud could not be filled: {words}")

    def _listens(self, name: str, process: Recorded) -> bool:
        """Tell whether it is this process that holds the port, not one that was quicker."""
        with contextlib.suppress(OSError):
            return self._layout.listening(name).read_text("utf-8").strip() == str(process.pid)
        return False

    def _answers(self, name: str) -> bool:
        """Tell whether a service answers HTTP; which answer does not matter."""
        with contextlib.suppress(OSError):
            try:
                opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
                with opener.open(self._layout.url(name), timeout=ANSWER_SECONDS):
                    return True
            except urllib.error.HTTPError:
                return True
        return False
