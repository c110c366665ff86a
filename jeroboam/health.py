"""A worker's liveness, over HTTP, for process supervisors."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from temporalio.worker import Worker

from jeroboam.errors import ConfigurationError
from jeroboam.settings import Settings

READ_TIMEOUT_SECONDS = 5.0


@asynccontextmanager
async def listening(settings: Settings, workers: Sequence[Worker]) -> AsyncIterator[None]:
    """Answer every request with 200 while all workers poll, else with 503.

    Port 0 turns the endpoint off.

    Raises:
        ConfigurationError: The port is taken.
    """
    if settings.worker_health_port == 0:
        yield
        return

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await asyncio.wait_for(reader.readline(), READ_TIMEOUT_SECONDS)
            alive = all(worker.is_running for worker in workers)
            status, body = ("200 OK", b"alive\n") if alive else ("503 Unavailable", b"stopping\n")
            head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            writer.write(head.encode() + body)
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
