"""The command line as its users start it, against the real API on a loopback port."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from temporalio.client import Client

from tests.integration.api.conftest import Service, database, service
from tests.integration.cli.loopback import LoopbackApi
from tests.integration.cli.product import Product, running_product

__all__ = ["database", "service"]

JEROBOAM = Path(sys.executable).with_name("jeroboam")
CLOUDS = {"member": "member-token", "admin": "admin-token", "guest": "nobody-token", "thief": "x"}
DEADLINE_SECONDS = 60.0


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str


@dataclass
class CommandLine:
    """Starts commands in a directory that holds a clouds.yaml.

    Args:
        directory: Where they run; there is nothing else in it.
    """

    directory: Path
    cloud: str = "member"

    def write_clouds(self, clouds: dict[str, Any]) -> None:
        (self.directory / "clouds.yaml").write_text(yaml.safe_dump({"clouds": clouds}))

    async def start(
        self, *arguments: str, outputs: int = asyncio.subprocess.PIPE, **environment: str
    ) -> asyncio.subprocess.Process:
        """Start a command and return its process; by default its outputs are pipes."""
        inherited = {name: value for name, value in os.environ.items() if name[:3] != "OS_"}
        inherited |= {"OS_CLOUD": self.cloud, "CI": "", "no_proxy": "127.0.0.1"}
        return await asyncio.create_subprocess_exec(
            str(JEROBOAM),
            *arguments,
            cwd=self.directory,
            env={
                **inherited,
                "OS_CLOUD": self.cloud,
                "no_proxy": "127.0.0.1",
                "CI": "",
                **environment,
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=outputs,
            stderr=outputs,
        )

    async def run(self, *arguments: str, **environment: str) -> Done:
        """Run a command to its end."""
        outputs = asyncio.subprocess.PIPE
        process = await self.start(*arguments, outputs=outputs, **environment)
        return await ended(process)

    async def ok(self, *arguments: str, **environment: str) -> str:
        """Run a command that must succeed and return what it prints."""
        done = await self.run(*arguments, **environment)
        assert done.code == 0, done.err + done.out
        return done.out

    async def refused(self, *arguments: str, **environment: str) -> str:
        """Run a command that must be refused with one line, and return that line."""
        done = await self.run(*arguments, **environment)
        assert done.code == 1, done.err + done.out
        assert done.out == ""
        (line,) = done.err.splitlines()
        return line.removeprefix("jeroboam: ")


async def ended(process: asyncio.subprocess.Process) -> Done:
    """Wait for a command's end."""
    out, err = await asyncio.wait_for(process.communicate(), DEADLINE_SECONDS)
    return Done(process.returncode or 0, out.decode(), err.decode())


@pytest.fixture
async def api(service: Service) -> AsyncIterator[LoopbackApi]:
    served = LoopbackApi(service.app)
    served.start()
    yield served
    await served.stop()


@pytest.fixture
def cli(api: LoopbackApi, tmp_path: Path) -> CommandLine:
    directory = tmp_path / "home"
    directory.mkdir()
    return command_line(directory, api)


def command_line(directory: Path, api: LoopbackApi) -> CommandLine:
    """Return a command line whose clouds.yaml leads to an API."""
    line = CommandLine(directory)
    line.write_clouds(
        {
            name: {"auth_type": "admin_token", "auth": {"endpoint": api.url, "token": token}}
            for name, token in CLOUDS.items()
        }
    )
    return line


@pytest.fixture(scope="module")
async def product(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Product]:
    async with running_product(temporal_client, tmp_path_factory.mktemp("product")) as running:
        yield running


@pytest.fixture
def live(product: Product, tmp_path: Path) -> CommandLine:
    """The command line of a member, against the whole product."""
    return command_line(tmp_path, product.api)
