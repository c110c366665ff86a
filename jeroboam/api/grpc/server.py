"""The gRPC server: composition root, limits, TLS, and an end in good order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from starlette.types import ASGIApp

from jeroboam.api.grpc.calls import Calls
from jeroboam.api.grpc.clusters import ClustersService
from jeroboam.api.grpc.door import Door
from jeroboam.api.grpc.guarding import Guard
from jeroboam.api.grpc.operations import OperationsService
from jeroboam.api.grpc.v1 import (
    clusters_pb2,
    clusters_pb2_grpc,
    operations_pb2,
    operations_pb2_grpc,
)
from jeroboam.api.grpc.watching import LOOK_SECONDS, Watching
from jeroboam.errors import ConfigurationError
from jeroboam.settings import Settings

SERVICES = tuple(
    file.services_by_name[name].full_name
    for file, name in (
        (clusters_pb2.DESCRIPTOR, "Clusters"),
        (operations_pb2.DESCRIPTOR, "Operations"),
    )
)

MOST_CALLS = 1000
"""Calls at a time, streams among them; the next one is refused with RESOURCE_EXHAUSTED."""

MOST_STREAMS = 100
"""Calls at a time on one connection; the next one waits at the client's end."""

LARGEST_METADATA = 32 << 10
KEEP_ALIVE_MILLISECONDS = 30_000

log = structlog.get_logger(__name__)


class GrpcServer:
    """One server, in the process of the HTTP API.

    Args:
        app: The HTTP application, which answers all calls.
        settings: Limits and certificate.
        look_seconds: Time between two looks of a stream.
    """

    def __init__(
        self, app: ASGIApp, settings: Settings, *, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._settings = settings
        self._door = Door(app)
        calls = Calls(self._door)
        self._watching = Watching(calls, look_seconds=look_seconds)
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            interceptors=[Guard()],
            options=_options(settings.max_body_bytes),
            maximum_concurrent_rpcs=MOST_CALLS,
        )
        clusters_pb2_grpc.add_ClustersServicer_to_server(
            ClustersService(calls, self._watching), self._server
        )
        operations_pb2_grpc.add_OperationsServicer_to_server(
            OperationsService(calls, self._watching), self._server
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        names = (*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, self._server)

    async def start(self, port: int) -> int:
        """Listen; return the port, which is another one than asked for if that is 0.

        Raises:
            ConfigurationError: The port is taken, or the certificate cannot be read.
        """
        address = _address(self._settings.grpc_host, port)
        credentials = _credentials(self._settings)
        try:
            bound = (
                self._server.add_secure_port(address, credentials)
                if credentials
                else self._server.add_insecure_port(address)
            )
        except RuntimeError as error:
            raise ConfigurationError(
                f"gRPC cannot listen on {address}. Set JEROBOAM_GRPC_HOST and JEROBOAM_GRPC_PORT "
                "to an address that is free."
            ) from error
        await self._server.start()
        for name in ("", *SERVICES):
            await self._health.set(name, health_pb2.HealthCheckResponse.SERVING)
        log.info("grpc_ready", address=address, port=bound, tls=credentials is not None)
        return bound

    async def stop(self) -> None:
        """Take no more calls, end the streams, and let the calls at hand finish."""
        grace = self._settings.shutdown_grace_seconds
        await self._health.enter_graceful_shutdown()
        self._watching.stop()
        await self._server.stop(grace)
        await self._door.drain(grace)
        log.info("grpc_stopped")


@asynccontextmanager
async def beside(app: ASGIApp, settings: Settings) -> AsyncIterator[GrpcServer | None]:
    """Serve gRPC while the block is at work, if a port is set."""
    if not settings.grpc_port:
        yield None
        return
    server = GrpcServer(app, settings)
    await server.start(settings.grpc_port)
    try:
        yield server
    finally:
        await asyncio.shield(server.stop())


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _credentials(settings: Settings) -> grpc.ServerCredentials | None:
    certificate, key = settings.grpc_certificate_file, settings.grpc_key_file
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigurationError(
            "TLS for gRPC needs both JEROBOAM_GRPC_CERTIFICATE_FILE and JEROBOAM_GRPC_KEY_FILE."
        )
    pair = (
        _read(key, "JEROBOAM_GRPC_KEY_FILE"),
        _read(certificate, "JEROBOAM_GRPC_CERTIFICATE_FILE"),
    )
    return grpc.ssl_server_credentials([pair])


def _read(path: Path, setting: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{setting}: {path} cannot be read ({error.strerror}).") from error


def _options(largest: int) -> Sequence[tuple[str, int]]:
    return (
        # Else a second process would share the port, and each get half of the calls.
        ("grpc.so_reuseport", 0),
        ("grpc.max_receive_message_length", largest),
        ("grpc.max_metadata_size", LARGEST_METADATA),
        ("grpc.max_concurrent_streams", MOST_STREAMS),
        # A caller that has vanished is noticed, and its streams end.
        ("grpc.keepalive_time_ms", KEEP_ALIVE_MILLISECONDS),
        ("grpc.keepalive_timeout_ms", KEEP_ALIVE_MILLISECONDS // 3),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", KEEP_ALIVE_MILLISECONDS // 3),
    )
