"""The whole product as processes, as an operator runs it, on a real cloud."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openstack
from openstack.connection import Connection

from devcloud import Devcloud
from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam.models.wire import workflow_id
from tests.conftest import TemporalServer, free_port

JEROBOAM = Path(sys.executable).with_name("jeroboam")
OPENSTACK = Path(sys.executable).with_name("openstack")
START_SECONDS = 60


@dataclass
class Process:
    """One process of the product, with its log."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    ready_url: str
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env={**os.environ, **self.environment}, stdout=log, stderr=log
            )
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.ready_url):
            alive = self.process.poll() is None
            assert alive, f"{self.name} ended: {self.log.read_text()[-3000:]}"
            assert time.monotonic() < deadline, f"{self.name} does not come up: {self.log}"
            time.sleep(0.1)

    def kill(self) -> None:
        """Let it crash."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self) -> int:
        """Stop it as a supervisor would; return its exit code."""
        if not self.process:
            return 0
        self.process.terminate()
        return self.process.wait(40)


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@dataclass
class Stack:
    """API, worker, Temporal server and cloud."""

    cloud: Devcloud
    temporal: TemporalServer
    directory: Path
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        api_port = self.cloud.layout.settings.port_base + 11
        health_port = free_port()
        environment = {
            "OS_CLIENT_CONFIG_FILE": str(self.cloud.clouds_yaml),
            "JEROBOAM_STATE_DIRECTORY": str(self.directory),
            "JEROBOAM_TRUSTEE_DOMAIN": TRUSTEE_DOMAIN,
            "JEROBOAM_TEMPORAL_ADDRESS": self.temporal.address,
            "JEROBOAM_API_PORT": str(api_port),
            "JEROBOAM_WORKER_HEALTH_PORT": str(health_port),
            "JEROBOAM_POLL_INTERVAL_SECONDS": "1",
            "JEROBOAM_RECONCILE_INTERVAL_SECONDS": "5",
            # No machine of this cloud has an API that could be asked to empty nodes.
            "JEROBOAM_DRAIN_PATIENCE_SECONDS": "0",
            **self.settings,
        }
        self.environment = environment
        self.url = f"http://127.0.0.1:{api_port}"
        self.api = self._process("serve", environment, f"{self.url}/")
        self.worker = self._process("worker", environment, f"http://127.0.0.1:{health_port}/")

    def _process(self, name: str, environment: dict[str, str], url: str) -> Process:
        log = self.directory / f"{name}.log"
        return Process(name, [str(JEROBOAM), name], environment, log, url)

    def connect(self, cloud: str = "demo") -> Connection:
        """Return an openstacksdk connection as one of the cloud's users."""
        return openstack.connection.Connection(
            config=openstack.config.OpenStackConfig(
                config_files=[str(self.cloud.clouds_yaml)], load_envvars=False
            ).get_one(cloud)
        )

    def temporal_history(self, cluster: str) -> str:
        """Return the history of the newest run on a cluster, as JSON."""

        async def fetch() -> str:
            client = await self.temporal.client()
            return (
                await client.get_workflow_handle(workflow_id(cluster)).fetch_history()
            ).to_json()

        return asyncio.run(fetch())

    def openstack(self, *arguments: str, cloud: str = "demo") -> Any:
        """Run the real command-line client; return its JSON, or text where it has none."""
        done = self.run_openstack(*arguments, cloud=cloud)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        with contextlib.suppress(json.JSONDecodeError):
            return json.loads(done.stdout)
        return done.stdout

    def run_openstack(
        self, *arguments: str, cloud: str = "demo"
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(OPENSTACK), "--os-cloud", cloud, *arguments],
            env={**os.environ, "OS_CLIENT_CONFIG_FILE": str(self.cloud.clouds_yaml)},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )


def new_template(tenant: Connection, name: str, **fields: Any) -> str:
    """Return the id of a template of the real driver."""
    template = tenant.container_infrastructure_management.create_cluster_template(
        name=name,
        image_id="fedora-coreos",
        coe="kubernetes",
        flavor_id="m1.medium",
        master_flavor_id="m1.medium",
        external_network_id="public",
        **fields,
    )
    return str(template.id)


@contextlib.contextmanager
def running_stack(cloud: Devcloud, directory: Path, **settings: str) -> Iterator[Stack]:
    """Run a stack of its own for a test that crashes parts of it."""
    temporal = TemporalServer(directory, free_port())
    temporal.start()
    stack = Stack(cloud, temporal, directory, settings)
    try:
        stack.worker.start()
        stack.api.start()
        yield stack
    finally:
        stack.api.kill()
        stack.worker.kill()
        temporal.kill()


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"Not within {seconds} s: {what}"
        time.sleep(0.3)
