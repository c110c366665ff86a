"""An HTTPS server that answers as the APIs of Docker and Marathon are documented to."""

import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jeroboam.drivers.base import CertificateAuthority

Answers = Mapping[str, tuple[int, Any]]


@dataclass
class Engine:
    """The server.

    Args:
        answers: Status and content by path; a text is sent as it is.
        seen: The common names of the clients that have asked, with the paths.
        received: What was sent, with the paths.
    """

    url: str
    answers: dict[str, tuple[int, Any]]
    seen: list[tuple[str, str]] = field(default_factory=list)
    received: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def serve(
    folder: Path, authority: CertificateAuthority, answers: Answers, port: int = 0
) -> Iterator[Engine]:
    """Serve those whom an authority vouches for, until the end of the block."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_identity(folder, authority))
    context.load_verify_locations(cadata=authority.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    handler: type[_Handler] = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    engine = Engine(f"https://127.0.0.1:{server.server_port}", dict(answers))
    handler.engine = engine
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield engine
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Answers and notes who asked."""

    engine: Engine
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        self.engine.received.append((self.path, self.rfile.read(length).decode()))
        self.do_GET()

    def do_GET(self) -> None:
        connection = self.connection
        assert isinstance(connection, ssl.SSLSocket)
        shown = x509.load_der_x509_certificate(connection.getpeercert(binary_form=True) or b"")
        (name,) = shown.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        self.engine.seen.append((str(name.value), self.path))
        status, content = self.engine.answers.get(self.path, (404, {"message": "page not found"}))
        text = content if isinstance(content, str) else json.dumps(content)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _identity(folder: Path, authority: CertificateAuthority) -> Path:
    """Return a file with a key and a certificate for this machine."""
    issuer = x509.load_pem_x509_certificate(authority.certificate.encode())
    signer = serialization.load_pem_private_key(authority.private_key.encode(), password=None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    local = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "engine")]))
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(local, critical=False)
        .sign(signer, hashes.SHA256())
    )
    path = folder / "engine.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    return path
