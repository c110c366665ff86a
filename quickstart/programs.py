"""What the product consists of when it runs on one machine."""

import os
from collections.abc import Mapping

from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam import temporal
from jeroboam.settings import Settings
from quickstart.layout import Layout
from quickstart.supervisor import Program, answers

POLL_SECONDS = 2.0
GRACE_SECONDS = 5.0

FOREIGN = ("OS_", "JEROBOAM_", "TEMPORAL_", "PYTHON", "VIRTUAL_ENV")
"""Variables of the caller's own clouds, servers and Pythons; none of them is meant for us."""


def environment(layout: Layout, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the environment of clients: the caller's, with ours in place of what is foreign."""
    kept = {key: value for key, value in base.items() if not key.startswith(FOREIGN)}
    # A proxy would be asked for 127.0.0.1 otherwise.
    local = ",".join(filter(None, (base.get("NO_PROXY") or base.get("no_proxy"), "127.0.0.1")))
    return kept | {
        "PATH": f"{layout.programs}:{base.get('PATH', os.defpath)}",
        "OS_CLIENT_CONFIG_FILE": str(layout.clouds_yaml),
        "NO_PROXY": local,
        "no_proxy": local,
    }


def product_environment(layout: Layout) -> dict[str, str]:
    """Return the environment of the API and the worker."""
    return environment(layout) | {
        "JEROBOAM_STATE_DIRECTORY": str(layout.home),
        "JEROBOAM_CLOUD": "jeroboam",
        "JEROBOAM_TRUSTEE_DOMAIN": TRUSTEE_DOMAIN,
        "JEROBOAM_TEMPORAL_ADDRESS": f"127.0.0.1:{layout.temporal_port}",
        "JEROBOAM_TEMPORAL_UI_URL": layout.temporal_ui_url,
        "JEROBOAM_API_PORT": str(layout.api_port),
        "JEROBOAM_DRIVERS_DIRECTORY": str(layout.home / "drivers"),
        "JEROBOAM_WORKER_HEALTH_PORT": str(layout.worker_health_port),
        "JEROBOAM_POLL_INTERVAL_SECONDS": str(POLL_SECONDS),
        "JEROBOAM_SHUTDOWN_GRACE_SECONDS": str(GRACE_SECONDS),
    }


def temporal_server(layout: Layout) -> Program:
    """Return the embedded Temporal server, with its UI."""
    attributes = [f"{key.name}=Keyword" for key in temporal.SEARCH_ATTRIBUTES]
    command = (
        *(str(layout.programs / "temporal"), "server", "start-dev"),
        *("--ip", "127.0.0.1", "--port", str(layout.temporal_port)),
        *("--ui-ip", "127.0.0.1", "--ui-port", str(layout.temporal_ui_port)),
        "--ui-disable-news-fetch",
        *("--db-filename", str(layout.home / "temporal.sqlite")),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *(part for attribute in attributes for part in ("--search-attribute", attribute)),
        *("--log-level", "warn", "--log-format", "json"),
    )
    settings = Settings(temporal_address=f"127.0.0.1:{layout.temporal_port}")

    async def ready() -> bool:
        try:
            await temporal.connect(settings)
        except RuntimeError:
            return False
        return await answers(layout.temporal_ui_url)

    return Program("temporal", "The Temporal server", command, environment(layout), ready)


def api(layout: Layout) -> Program:
    """Return the HTTP API."""

    async def ready() -> bool:
        return await answers(f"{layout.api_url}/healthcheck")

    command = (str(layout.programs / "jeroboam"), "serve")
    return Program("api", "Jeroboam's API", command, product_environment(layout), ready)


def worker(layout: Layout) -> Program:
    """Return the worker."""

    async def ready() -> bool:
        return await answers(f"http://127.0.0.1:{layout.worker_health_port}")

    command = (str(layout.programs / "jeroboam"), "worker")
    return Program("worker", "Jeroboam's worker", command, product_environment(layout), ready)
