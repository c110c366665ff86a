"""The gRPC server in the API's process, and its TLS."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from grpc_health.v1 import health_pb2, health_pb2_grpc

from jeroboam.api.grpc.server import GrpcServer
from jeroboam.api.grpc.v1 import clusters_pb2
from jeroboam.api.grpc.v1.clusters_pb2_grpc import ClustersStub
from jeroboam.errors import ConfigurationError
from tests.conftest import free_port
from tests.integration.api.conftest import Service
from tests.integration.grpc.conftest import told

CLOUDS = """
clouds:
  jeroboam:
    auth:
      auth_url: http://127.0.0.1:1/v3
      username: jeroboam
      password: none
      project_name: service
      user_domain_name: Default
      project_domain_name: Default
    region_name: RegionOne
"""


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for the loopback interface, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jeroboam.test")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    paths = tmp_path / "certificate.pem", tmp_path / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return paths


async def test_tls(service: Service, certificate: tuple[Path, Path]) -> None:
    """With a certificate the server speaks TLS, and nothing else."""
    path, key = certificate
    settings = service.settings.model_copy(
        update={"grpc_certificate_file": path, "grpc_key_file": key, "shutdown_grace_seconds": 1.0}
    )
    server = GrpcServer(service.app, settings)
    address = f"127.0.0.1:{await server.start(0)}"
    trusted = grpc.ssl_channel_credentials(path.read_bytes())
    async with grpc.aio.secure_channel(address, trusted) as channel:
        stub: Any = ClustersStub(channel)
        request = clusters_pb2.ListClustersRequest()
        assert list((await stub.ListClusters(request, metadata=told())).clusters) == []
    async with grpc.aio.insecure_channel(address) as channel:
        stub = ClustersStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.ListClusters(request, metadata=told(), timeout=10)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    await server.stop()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"grpc_key_file": None}, "needs both"),
        ({"grpc_certificate_file": Path("nowhere.pem")}, "JEROBOAM_GRPC_CERTIFICATE_FILE"),
    ],
    ids=["half", "missing"],
)
async def test_a_certificate_that_is_none(
    service: Service, certificate: tuple[Path, Path], changed: dict[str, Any], words: str
) -> None:
    """The process does not start without the TLS that it was told to speak."""
    pair = {"grpc_certificate_file": certificate[0], "grpc_key_file": certificate[1]}
    server = GrpcServer(service.app, service.settings.model_copy(update=pair | changed))
    with pytest.raises(ConfigurationError, match=words):
        await server.start(0)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], str, int]]:
    """The API, which needs neither Keystone nor Temporal to start."""
    (tmp_path / "clouds.yaml").write_text(CLOUDS)
    http, rpc = free_port(), free_port()
    own = {
        "OS_CLIENT_CONFIG_FILE": str(tmp_path / "clouds.yaml"),
        "JEROBOAM_STATE_DIRECTORY": str(tmp_path / "state"),
        "JEROBOAM_API_PORT": str(http),
        "JEROBOAM_GRPC_PORT": str(rpc),
        "JEROBOAM_TEMPORAL_ADDRESS": "127.0.0.1:1",
        "JEROBOAM_SHUTDOWN_GRACE_SECONDS": "5",
    }
    with (tmp_path / "log").open("wb") as log:
        started = subprocess.Popen(
            [str(Path(sys.executable).with_name("jeroboam")), "serve"],
            env={**os.environ, **own},
            stdout=log,
            stderr=log,
        )
        yield started, f"127.0.0.1:{rpc}", http
        started.kill()
        started.wait()


async def test_beside_http(process: tuple[subprocess.Popen[bytes], str, int]) -> None:
    """One process serves both; a signal ends both, in good order."""
    started, address, http = process
    async with grpc.aio.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service="jeroboam.v1.Operations")
        answer = await stub.Check(request, timeout=60, wait_for_ready=True)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
        watch = stub.Watch(request)
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
        async with httpx.AsyncClient() as client:
            found = await client.get(f"http://127.0.0.1:{http}/healthcheck")
            assert found.status_code == 200
        started.send_signal(signal.SIGTERM)
        assert (await watch.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watch.cancel()
    assert await asyncio.to_thread(started.wait, 30) == 0
