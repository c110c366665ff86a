"""One devcloud, as tests and the command line handle it."""

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from devcloud import catalogue, configuration, credentials, install, state
from devcloud.errors import DevcloudError, UsageError
from devcloud.faults import Fault, FaultFile
from devcloud.layout import Layout, Settings, checkout
from devcloud.progress import Progress, Report
from devcloud.supervisor import ServiceStatus, Supervisor

LOCK = ".lock"
"""File in the home that keeps two commands apart."""


class Devcloud:
    """A real OpenStack on this machine.

    What is not given is taken from the environment, then from what the home was started
    with last, then from the defaults.
    """

    def __init__(
        self,
        home: Path | str | None = None,
        *,
        port_base: int | None = None,
        services: str | None = None,
        venv: Path | str | None = None,
        boot_seconds: float | None = None,
        report: Report | None = None,
    ) -> None:
        """Describe a devcloud; nothing is started yet.

        Args:
            home: Folder for all of its state; ``.devcloud`` in the checkout by default, or
                ``DEVCLOUD_HOME``.
            port_base: First port; 15000 by default, or ``DEVCLOUD_PORT_BASE``.
            services: Name of the set, ``full`` (the default), ``quick``, ``mistral``,
                ``senlin`` or ``barbican``.
            venv: Virtual environment of the services; inside the home by default, or
                ``DEVCLOUD_VENV``.
            boot_seconds: How long simulated nodes take to boot; one second by default.
            report: Where progress lines go; standard error by default.

        Raises:
            UsageError: If a value makes no sense.
        """
        where = Path(home or os.environ.get("DEVCLOUD_HOME") or checkout() / ".devcloud").absolute()
        stored = Layout.load(where)
        settings = stored.settings if stored else Settings()
        port_base = port_base if port_base is not None else _port_base_of_environment()
        settings = Settings(
            port_base=settings.port_base if port_base is None else port_base,
            services=settings.services if services is None else services,
            boot_seconds=settings.boot_seconds if boot_seconds is None else boot_seconds,
        )
        chosen = venv or os.environ.get("DEVCLOUD_VENV") or (stored.venv if stored else None)
        self._stored = stored
        self._report = report
        self.layout = Layout(where, Path(chosen or where / "venv").absolute(), settings)
        self.faults = FaultFile(self.layout.faults)
        self._supervisor = Supervisor(self.layout)

    @property
    def clouds_yaml(self) -> Path:
        """Client configuration for openstacksdk: set ``OS_CLIENT_CONFIG_FILE`` to it."""
        return self.layout.clouds_yaml

    def url(self, service: str) -> str:
        """Return the URL of a service as Keystone's catalogue has it."""
        return self.layout.endpoint(service)

    def credentials(self, cloud: str = "demo") -> dict[str, str]:
        """Return the login of one of the users in ``clouds.yaml``, for keystoneauth."""
        return credentials.auth(self.layout, cloud)

    def status(self) -> list[ServiceStatus]:
        """Return how each service of the set is doing."""
        return self._supervisor.status()

    def install(self) -> None:
        """Install the services' packages if that is still to be done."""
        install.ensure(self.layout.venv, self._progress())

    def start(self) -> None:
        """Do whatever is missing until all services answer and the cloud is filled.

        Raises:
            DevcloudError: If that does not succeed; nothing started by this call is left.
        """
        progress = self._progress()
        with self._exclusive():
            self._refuse_to_change_a_running_cloud()
            install.ensure(self.layout.venv, progress)
            self.layout.save()
            running = [one for one in self._supervisor.status() if one.pid]
            if not running:
                state.prepare(self.layout, progress)
            configuration.write(self.layout)
            credentials.write_clouds_yaml(self.layout)
            complete = state.is_complete(self.layout)
            is_new = state.Ready.load(self.layout.state) is None
            if len(running) < len(self.layout.services):
                progress("starting the services" if complete else "creating the cloud")
            self._supervisor.start(self.layout.services, seed=not complete, report=progress)
            if not complete:
                state.mark_complete(self.layout)
                if is_new:
                    state.keep_template(self.layout)
            progress(f"the {self.layout.settings.services} set is up")

    def stop(self) -> list[str]:
        """Stop everything and return the names of what ran."""
        if not self.layout.run.exists():
            return []
        with self._exclusive():
            return self._supervisor.stop((*reversed(tuple(catalogue.SERVICES)), "seed"))

    def start_service(self, name: str) -> None:
        """Start one service and wait until it answers."""
        self._require_service(name)
        with self._exclusive():
            self._supervisor.start([name], seed=False, report=self._progress())

    def stop_service(self, name: str) -> None:
        """Stop one service as an operator would (SIGTERM)."""
        self._require_service(name)
        with self._exclusive():
            self._supervisor.stop([name])

    def kill_service(self, name: str) -> None:
        """Let one service crash (SIGKILL)."""
        self._require_service(name)
        with self._exclusive():
            self._supervisor.stop([name], graceful=False)

    def snapshot(self, name: str = "default") -> Path:
        """Keep the present state under a name; services may be running.

        Each database is copied as of one moment, but not all as of the same: let no stack be
        in progress meanwhile.
        """
        folder = self._snapshot_folder(name)
        with self._exclusive():
            if not state.is_complete(self.layout):
                raise DevcloudError("There is no complete state to keep.", "Run start first.")
            shutil.rmtree(folder, ignore_errors=True)
            state.copy(self.layout.state, folder)
            return folder

    def restore(self, name: str = "default") -> None:
        """Go back to a snapshot; services that run are stopped and started again."""
        folder = self._snapshot_folder(name)
        if not folder.exists():
            raise UsageError(f"There is no snapshot called {name!r}.", "Run snapshot first.")
        progress = self._progress()
        with self._exclusive():
            running = self._supervisor.stop(reversed(tuple(catalogue.SERVICES)))
            shutil.rmtree(self.layout.state, ignore_errors=True)
            state.copy(folder, self.layout.state)
            state.prepare(self.layout, progress)
            outdated = bool(running) and not state.is_complete(self.layout)
            self._supervisor.start(reversed(running), seed=outdated, report=progress)
            if outdated:
                state.mark_complete(self.layout)

    def destroy(self, *, only_state: bool = False) -> None:
        """Stop everything and delete the home.

        Args:
            only_state: Keep the virtual environment and the snapshots.
        """
        if not self.layout.home.exists():
            return
        if self._stored is None and any(f.name != LOCK for f in self.layout.home.iterdir()):
            raise UsageError(f"{self.layout.home} holds no devcloud, so it is left alone.")
        self.stop()
        if only_state:
            for folder in (self.layout.state, self.layout.etc, self.layout.logs):
                shutil.rmtree(folder, ignore_errors=True)
            self.layout.faults.unlink(missing_ok=True)
        else:
            shutil.rmtree(self.layout.home, ignore_errors=True)

    def add_fault(self, fault: Fault) -> Fault:
        """Add a rule and return it."""
        return self.faults.add(fault)

    def clear_faults(self) -> None:
        """Remove all rules."""
        self.faults.clear()

    def _progress(self) -> Progress:
        return Progress(self._report)

    def _require_service(self, name: str) -> None:
        if name not in self.layout.services:
            known: Sequence[str] = self.layout.services
            raise UsageError(
                f"The set {self.layout.settings.services} has no service {name!r}.",
                f"Choose from: {', '.join(known)}.",
            )

    def _refuse_to_change_a_running_cloud(self) -> None:
        stored = self._stored
        if stored is None or stored.settings == self.layout.settings:
            return
        if any(Supervisor(stored).running(name) for name in stored.services):
            raise UsageError(
                f"A devcloud with other settings ({stored.settings.services} set, port base"
                f" {stored.settings.port_base}) is running in {stored.home}.",
                "Stop it first.",
            )

    def _snapshot_folder(self, name: str) -> Path:
        if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
            raise UsageError(f"{name!r} cannot be the name of a snapshot.")
        return self.layout.home / "snapshots" / name

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Keep two commands from working on one home at a time."""
        self.layout.home.mkdir(parents=True, exist_ok=True)
        with (self.layout.home / LOCK).open("w", encoding="utf-8") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._progress()("waiting for another devcloud command on this home")
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _port_base_of_environment() -> int | None:
    text = os.environ.get("DEVCLOUD_PORT_BASE")
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"DEVCLOUD_PORT_BASE is {text!r}, which is no number.") from None
