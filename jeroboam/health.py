"""A worker's liveness, over HTTP, for process supervisors, and metrics for Prometheus."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from temporalio.worker import Worker

from jeroboam.errors import ConfigurationError, JeroboamError
from jeroboam.metrics import CONTENT_TYPE
from jeroboam.settings import Settings

READ_TIMEOUT_SECONDS = 5.0
METRICS_TIMEOUT_SECONDS = 20.0


@asynccontextmanager
async def listening(
    settings: Settings, workers: Sequence[Worker], metrics: Callable[[], Awaitable[str]]
) -> AsyncIterator[None]:
    """Answer requests with 200 while all workers poll, else with 503; ``/metrics`` is a page.

    Port 0 turns the endpoint off.

    Raises:
        ConfigurationError: The port is taken.
    """
    if settings.worker_health_port == 0:
        yield
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await asyncio.wait_for(reader.readline(), READ_TIMEOUT_SECONDS)
            if request.split()[1:2] == [b"/metrics"]:
                status, body = await _page(metrics)
            else:
                alive = all(worker.is_running for worker in workers)
                status, body = ("200 OK", "alive\n") if alive else ("503 Unavailable", "stopping\n")
            writer.write(_answer(status, body.encode()))
            await asyncio.wait_for(writer.drain(), READ_TIMEOUT_SECONDS)
        except (TimeoutError, ConnectionError):
            pass
        finally:
            writer.close()

    host, port = settings.worker_health_host, settings.worker_health_port
    try:
        server = await asyncio.start_server(answer, host, port)
    except OSError as error:
        raise ConfigurationError(
            f"The worker's health port {host}:{port} cannot be used ({error.strerror}). "
            "Set JEROBOAM_WORKER_HEALTH_PORT to a free port, or to 0 for none."
        ) from error
    async with server:
        yield


async def _page(metrics: Callable[[], Awaitable[str]]) -> tuple[str, str]:
    try:
        return "200 OK", await asyncio.wait_for(metrics(), METRICS_TIMEOUT_SECONDS)
    except (JeroboamError, TimeoutError):
        return "503 Unavailable", "the database does not answer\n"


def _answer(status: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status}",
        f"Content-Type: {CONTENT_TYPE}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*head, "", "")).encode() + body
