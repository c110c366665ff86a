"""Starts and measures the processes of a benchmark."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import psutil
from temporalio.client import Client

from jeroboam import temporal
from jeroboam.settings import Settings

BIN = Path(sys.executable).parent


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Meter:
    """CPU time of some processes, and what everybody else on the machine used meanwhile."""

    processes: Sequence[psutil.Process]
    wall: float = 0.0
    cpu: float = 0.0
    others: float = 0.0
    each: Sequence[float] = ()

    def __enter__(self) -> Self:
        """Begin."""
        self._before, self._each_before = self._read(), self._read_each()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        wall, cpu, busy = (now - then for now, then in zip(self._read(), self._before, strict=True))
        self.wall, self.cpu = wall, cpu
        after = self._read_each()
        self.each = [now - then for now, then in zip(after, self._each_before, strict=True)]
        self.others = max(0.0, busy - cpu) / wall / (os.cpu_count() or 1)

    def _read(self) -> tuple[float, float, float]:
        own = sum(self._read_each())
        machine = psutil.cpu_times()
        return time.monotonic(), own, sum(machine) - machine.idle - machine.iowait

    def _read_each(self) -> list[float]:
        return [sum(process.cpu_times()[:2]) for process in self.processes]


@asynccontextmanager
async def temporal_server(directory: Path) -> AsyncIterator[tuple[Client, psutil.Process, str]]:
    """Run the embedded Temporal server as the quickstart does."""
    port = free_port()
    with (directory / "temporal.log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(str(BIN / "temporal"), "server", "start-dev", "--headless", "--ip", "127.0.0.1"),
                *("--port", str(port), "--db-filename", str(directory / "temporal.sqlite")),
                *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
                *("--log-level", "error"),
            ],
            stdout=log,
            stderr=log,
        )
    address = f"127.0.0.1:{port}"
    try:
        client = await temporal.connect_when_up(Settings(temporal_address=address))
        await temporal.register_search_attributes(client)
        yield client, psutil.Process(process.pid), address
    finally:
        process.kill()
        process.wait()


def compiling_environment() -> dict[str, str]:
    """Return an environment in which Python keeps what it has compiled, as an installation does.

    The sandbox loads the modules of a workflow for each run.
    """
    return {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


@asynccontextmanager
async def product_process(
    command: str, directory: Path, environment: dict[str, str]
) -> AsyncIterator[psutil.Process]:
    """Run ``jeroboam <command>`` until the block ends."""
    with (directory / f"{command}.log").open("ab") as log:
        process = subprocess.Popen(
            [str(BIN / "jeroboam"), command],
            env={**compiling_environment(), **environment},
            stdout=log,
            stderr=log,
        )
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, 60)


@asynccontextmanager
async def scratch() -> AsyncIterator[Path]:
    """Yield a directory that goes away."""
    with tempfile.TemporaryDirectory(prefix="jeroboam-bench-") as name:
        yield Path(name)
