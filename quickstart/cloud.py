"""The OpenStack of the quickstart: a devcloud, started and stopped as its user would."""

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from devcloud import catalogue, logs
from devcloud.cloud import Devcloud
from devcloud.layout import write_private
from devcloud.process import Recorded
from quickstart.errors import QuickstartError
from quickstart.layout import CHECKOUT, Layout

SERVICES = catalogue.SETS["full"]
LOOK_SECONDS = 0.1
WATCH_SECONDS = 0.5


class QuickstartCloud:
    """A devcloud which is left as it was found: what ran before goes on running.

    Args:
        layout: Where its home is.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._cloud = Devcloud(layout.cloud_home, report=lambda _: None)
        self._ours_file = layout.home / "devcloud-services.json"

    def running(self) -> set[str]:
        """Return the names of the services that run."""
        return {name for name in SERVICES if Recorded.load(self._record(name))}

    def ports_to_take(self) -> list[tuple[int, str]]:
        """Return the ports that the services which do not run will need."""
        running = self.running()
        return [
            (self._layout.port_base + catalogue.SERVICES[name].port_offset, f"devcloud's {name}")
            for name in SERVICES
            if name not in running
        ]

    async def start(self, tell: Callable[[str], None]) -> None:
        """Do whatever is missing until the cloud answers.

        Args:
            tell: Told each step.

        Raises:
            QuickstartError: It does not come up; devcloud's own words say why.
        """
        self._remember()
        command = [
            *(sys.executable, "-m", "devcloud", "start", "--home", str(self._layout.cloud_home)),
            *("--venv", str(self._layout.cloud_venv), "--set", "full"),
            *("--port-base", str(self._layout.port_base)),
        ]
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=CHECKOUT,
            env={key: value for key, value in os.environ.items() if key != "DEVCLOUD_PORT_BASE"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            complaints = await self._follow(process, tell)
        finally:
            if process.returncode is None:
                # It stops what it has started; nothing of that may outlive us.
                process.terminate()
                await process.wait()
        if process.returncode:
            raise QuickstartError(
                complaints[0] if complaints else "devcloud did not start.",
                " ".join(complaints[1:]),
            )

    async def configured(self) -> None:
        """Wait until ``clouds.yaml`` names this cloud; devcloud writes it early."""
        keystone = f"http://127.0.0.1:{self._layout.port_base}/v3"
        while True:
            with contextlib.suppress(OSError):
                if keystone in self._layout.clouds_yaml.read_text(encoding="utf-8"):
                    return
            await asyncio.sleep(LOOK_SECONDS)

    async def watch(self) -> None:
        """Return never; raise when a service has crashed.

        One which was stopped with devcloud's own command is somebody's experiment.

        Raises:
            QuickstartError: It says which, and its last words.
        """
        while True:
            for name in SERVICES:
                record = self._record(name)
                if record.exists() and not Recorded.load(record) and record.exists():
                    words = logs.last_words(self._cloud.layout, name)
                    raise QuickstartError(f"devcloud's {name} has ended: {words}")
            await asyncio.sleep(WATCH_SECONDS)

    def stop(self) -> None:
        """Stop the services that were not running when the quickstart came."""
        ours = self._ours()
        if ours >= self.running():
            self._cloud.stop()
        else:
            for name in ours & self.running():
                self._cloud.stop_service(name)
        self._ours_file.unlink(missing_ok=True)

    async def _follow(
        self, process: asyncio.subprocess.Process, tell: Callable[[str], None]
    ) -> list[str]:
        complaints = []
        stream = process.stderr
        while stream and (line := (await stream.readline()).decode(errors="replace").strip()):
            if line.startswith("devcloud: "):
                complaints.append(line.removeprefix("devcloud: "))
                continue
            step = re.sub(r"^\[.*?\] ", "", line)
            tell(step)
        await process.wait()
        return complaints

    def _remember(self) -> None:
        """Note what is ours to stop, so that it still is after a kill -9."""
        ours = self._ours() | (set(SERVICES) - self.running())
        write_private(self._ours_file, json.dumps(sorted(ours)) + "\n")

    def _ours(self) -> set[str]:
        with contextlib.suppress(OSError, ValueError):
            return set(json.loads(self._ours_file.read_text(encoding="utf-8")))
        return set()

    def _record(self, name: str) -> Path:
        return self._layout.cloud_home / "run" / f"{name}.json"
