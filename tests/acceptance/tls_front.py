"""A proxy that speaks TLS before a service that does not, as load balancers of clouds do."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BLOCK = 65536


@dataclass(frozen=True)
class Authority:
    """A CA of the test's own, which writes what it signs into a folder."""

    directory: Path
    name: str
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    @property
    def file(self) -> Path:
        """The CA's certificate."""
        path = self.directory / f"{self.name}.pem"
        if not path.exists():
            path.write_bytes(_pem(self._certificate(self.name, self.key, authority=True)))
        return path

    def issue(self, name: str) -> tuple[Path, Path]:
        """Return the files of a new certificate, for 127.0.0.1, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate, secret = self.directory / f"{name}.crt", self.directory / f"{name}.key"
        certificate.write_bytes(_pem(self._certificate(name, key, authority=False)))
        secret.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return certificate, secret

    def _certificate(
        self, name: str, key: ec.EllipticCurvePrivateKey, *, authority: bool
    ) -> x509.Certificate:
        now = datetime.now(UTC)
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named(self.name))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(minutes=5))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.BasicConstraints(authority, None), critical=True)
            .add_extension(own, critical=False)
            .add_extension(issuer, critical=False)
        )
        if not authority:
            address = x509.IPAddress(IPv4Address("127.0.0.1"))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), critical=False)
        return builder.sign(self.key, hashes.SHA256())


@dataclass
class Front:
    """The proxy at work.

    Args:
        served: How many connections got through the handshake.
    """

    port: int
    served: int = 0


@contextmanager
def tls_front(
    target: tuple[str, int], authority: Authority, *, clients: Authority | None = None
) -> Iterator[Front]:
    """Run a proxy on a port of the loopback interface.

    Args:
        clients: Who signs the certificates that clients must show; without it they need none.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("server"))
    if clients:
        context.load_verify_locations(clients.file)
        context.verify_mode = ssl.CERT_REQUIRED
    with socket.create_server(("127.0.0.1", 0)) as listener:
        front = Front(listener.getsockname()[1])
        work = threading.Thread(
            target=_accept, args=(listener, context, target, front), daemon=True
        )
        work.start()
        yield front
        # It waits in accept, which closing alone does not end.
        listener.shutdown(socket.SHUT_RDWR)
    work.join(5)


def _accept(
    listener: socket.socket, context: ssl.SSLContext, target: tuple[str, int], front: Front
) -> None:
    while True:
        try:
            plain, _ = listener.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(plain, context, target, front), daemon=True).start()


def _serve(
    plain: socket.socket, context: ssl.SSLContext, target: tuple[str, int], front: Front
) -> None:
    with suppress(OSError), plain:
        plain.settimeout(20)
        with context.wrap_socket(plain, server_side=True) as client:
            # In TLS 1.3 a client without a certificate is found out by the first read.
            first = client.recv(BLOCK)
            if not first:
                return
            front.served += 1
            with socket.create_connection(target, timeout=20) as server:
                server.sendall(first)
                back = threading.Thread(target=_copy, args=(server, client), daemon=True)
                back.start()
                _copy(client, server)
                back.join(20)


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while block := source.recv(BLOCK):
            sink.sendall(block)
        sink.shutdown(socket.SHUT_WR)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
