"""Runs the whole product on a small real cloud, for a benchmark."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from processes import free_port, product_process, scratch, temporal_server

from devcloud import Devcloud
from devcloud.credentials import TRUSTEE_DOMAIN

START_SECONDS = 60
PORT_BASE = 27000


@dataclass
class Product:
    """API and worker on Keystone, Glance and Heat."""

    directory: Path
    cloud: Devcloud
    url: str
    server: psutil.Process
    api: psutil.Process
    worker: psutil.Process

    def client(self) -> httpx.AsyncClient:
        """Return a client with a tenant's token."""
        return httpx.AsyncClient(
            base_url=f"{self.url}/v1",
            headers={
                "X-Auth-Token": self._token(),
                "OpenStack-API-Version": "container-infra latest",
            },
            timeout=60,
        )

    def _token(self) -> str:
        login = self.cloud.credentials("demo")
        user = {
            "name": login["username"],
            "password": login["password"],
            "domain": {"name": login["user_domain_name"]},
        }
        project = {
            "name": login["project_name"],
            "domain": {"name": login["project_domain_name"]},
        }
        answer = httpx.post(
            f"{login['auth_url']}/auth/tokens",
            json={
                "auth": {
                    "identity": {"methods": ["password"], "password": {"user": user}},
                    "scope": {"project": project},
                }
            },
            timeout=30,
        )
        answer.raise_for_status()
        return answer.headers["X-Subject-Token"]


@asynccontextmanager
async def running_product(home: Path, venv: Path, **settings: str) -> AsyncIterator[Product]:
    """Start everything, and stop it when the block ends."""
    cloud = Devcloud(home, port_base=PORT_BASE, services="quick", venv=venv)
    cloud.start()
    async with AsyncExitStack() as stack:
        stack.callback(cloud.stop)
        directory = await stack.enter_async_context(scratch())
        _, server, address = await stack.enter_async_context(temporal_server(directory))
        port = PORT_BASE + 11
        environment = {
            "OS_CLIENT_CONFIG_FILE": str(cloud.clouds_yaml),
            "JEROBOAM_TRUSTEE_DOMAIN": TRUSTEE_DOMAIN,
            "JEROBOAM_STATE_DIRECTORY": str(directory),
            "JEROBOAM_TEMPORAL_ADDRESS": address,
            "JEROBOAM_API_PORT": str(port),
            "JEROBOAM_WORKER_HEALTH_PORT": str(free_port()),
            "JEROBOAM_LOG_LEVEL": "WARNING",
            "JEROBOAM_MAX_CLUSTERS_PER_PROJECT": "100000",
            **settings,
        }
        worker = await stack.enter_async_context(product_process("worker", directory, environment))
        api = await stack.enter_async_context(product_process("serve", directory, environment))
        url = f"http://127.0.0.1:{port}"
        transport = httpx.AsyncHTTPTransport(retries=START_SECONDS)
        async with httpx.AsyncClient(transport=transport, timeout=30) as client:
            await client.get(url)
        yield Product(directory, cloud, url, server, api, worker)


async def new_template(client: httpx.AsyncClient) -> str:
    """Return the uuid of a template of the fake driver."""
    answer = await client.post(
        "/clustertemplates",
        json={"name": "bench", "coe": "kubernetes", "image_id": "fake-os"},
    )
    answer.raise_for_status()
    return str(answer.json()["uuid"])
