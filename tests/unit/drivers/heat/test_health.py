"""Health is what Nova and the API say; what cannot be reached is unknown, not ill."""

import http.server
import ipaddress
import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jeroboam.certificates import issue_cluster_secrets
from jeroboam.drivers.kubernetes import health
from jeroboam.drivers.nodes.health import silent, summary
from jeroboam.models import HealthStatus, Node
from tests.unit.drivers.heat.clusters import secrets

NODES = (Node(name="m", id="1"), Node(name="w", id="2"))
AUTHORITY = secrets().kubernetes


def serving_certificate(folder: Path) -> Path:
    """Return a file with key and certificate of 127.0.0.1, signed by the cluster's authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.load_pem_x509_certificate(AUTHORITY.certificate.encode())
    signer = serialization.load_pem_private_key(AUTHORITY.private_key.encode(), None)
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kube-apiserver")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(signer, hashes.SHA256())  # type: ignore[arg-type]
    )
    path = folder / "server.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path


class Api(http.server.ThreadingHTTPServer):
    """An API server that answers the question for its readiness."""

    status = 200
    body = "ok"
    asked: list[str]

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        data = self.server.body.encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    server = Api(("127.0.0.1", 0), Handler)
    server.asked = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(serving_certificate(tmp_path))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_all_is_well(api: Api) -> None:
    """Servers that are ACTIVE and an API that is ready make a healthy cluster."""
    found = summary(health.components(api.url, AUTHORITY.certificate), NODES)
    assert found.status is HealthStatus.HEALTHY
    assert found.reasons == {"api": "ok", "m": "ok", "w": "ok"}
    assert api.asked == ["/readyz"]


def test_api_is_not_ready(api: Api) -> None:
    """What the API says is wrong is the reason."""
    api.status, api.body = 500, "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed"
    found = summary(health.components(api.url, AUTHORITY.certificate), NODES)
    assert found.status is HealthStatus.UNHEALTHY
    assert found.reasons["api"].endswith("HTTP 500 [-]etcd failed: reason withheld")


@pytest.mark.parametrize("status", [401, 403])
def test_api_tells_nobody(api: Api, status: int) -> None:
    """An API that hides how it is leaves the health unknown."""
    api.status = status
    found = summary(health.components(api.url, AUTHORITY.certificate), NODES)
    assert found.status is HealthStatus.UNKNOWN


def test_somebody_else_answers(api: Api) -> None:
    """An answer without the cluster's certificate says nothing about the cluster."""
    other = issue_cluster_secrets("other").kubernetes.certificate
    found = summary(health.components(api.url, other), NODES)
    assert found.status is HealthStatus.UNKNOWN
    assert "no certificate of this cluster" in found.reasons["api"]
    assert api.asked == []


def test_nobody_answers() -> None:
    """An API that cannot be reached is unknown, with the reason."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"https://127.0.0.1:{taken.getsockname()[1]}"
        found = summary(health.components(url, AUTHORITY.certificate), NODES)
    assert found.status is HealthStatus.UNKNOWN
    assert "cannot be reached" in found.reasons["api"]


def test_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """An API that takes the connection and says nothing is given up after a while."""
    monkeypatch.setattr(health, "TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        found = summary(health.components(url, AUTHORITY.certificate), NODES)
    assert found.status is HealthStatus.UNKNOWN


def test_unknown_address() -> None:
    """Without an address nobody can be asked."""
    assert (
        summary(health.components(None, AUTHORITY.certificate), ()).status is HealthStatus.UNKNOWN
    )


def test_node_that_is_down(api: Api) -> None:
    """A server that is not ACTIVE makes the cluster ill, and is named."""
    ill = Node(name="w", id="2", status="ERROR")
    found = summary(health.components(api.url, AUTHORITY.certificate), (NODES[0], ill))
    assert found.status is HealthStatus.UNHEALTHY
    assert found.reasons["w"] == "the server is ERROR"


def test_ill_counts_for_more_than_unknown() -> None:
    """A node that is down is a fact, whether or not the API can be reached."""
    ill = Node(name="w", id="2", status="SHUTOFF")
    assert (
        summary(health.components(None, AUTHORITY.certificate), (ill,)).status
        is HealthStatus.UNHEALTHY
    )


def test_cloud_does_not_answer() -> None:
    """Without the cloud nothing is known, and that is said of each node."""
    found = silent("Nova failed with HTTP 503", NODES)
    assert found.status is HealthStatus.UNKNOWN
    assert found.reasons == {
        "cloud": "Nova failed with HTTP 503",
        "m": "not known",
        "w": "not known",
    }
