"""The way out: to the address that was checked, with a certificate that is trusted."""

import ipaddress
import socket
import ssl
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jeroboam.errors import CloudUnavailableError, ConfigurationError, InvalidRequestError
from jeroboam.hooks.outbound import GuardedOutbound, Resolve
from jeroboam.hooks.targets import Targets
from jeroboam.models import utc_now
from tests.integration.hooks.receiver import Receiver, receiving

NAME = "hooks.example.org"


def resolving(*answers: Sequence[str]) -> tuple[Resolve, list[str]]:
    """Return a resolver that gives each answer once and then repeats the last one."""
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> Sequence[tuple[Any, ...]]:
        answer = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in answer]

    return resolve, asked


def named(receiver: Receiver) -> str:
    """Return the receiver's URL with a name in place of its address."""
    return receiver.url.replace("127.0.0.1", NAME)


@pytest.mark.parametrize("inside", ["127.0.0.1", "169.254.169.254", "10.0.0.1", "::1"])
def test_name_that_leads_inside(receiver: Receiver, inside: str) -> None:
    """An allowed name behind which lies an address of the inside is not called."""
    resolve, _ = resolving([inside])
    outbound = GuardedOutbound(Targets([named(receiver).removesuffix("/hook")]), resolve=resolve)
    with pytest.raises(InvalidRequestError, match="JEROBOAM_WEBHOOK_NETWORKS"):
        outbound.post(named(receiver), b"{}", {}, 2)
    assert receiver.received == []


def test_network_that_the_operator_allows(receiver: Receiver) -> None:
    """In a network of the operator's list the name is called, by its own name."""
    resolve, _ = resolving(["127.0.0.1"])
    targets = Targets([named(receiver).removesuffix("/hook")], ["127.0.0.0/8"])
    reply = GuardedOutbound(targets, resolve=resolve).post(named(receiver), b"{}", {}, 2)
    assert reply.status == 200
    assert receiver.received[0].headers["Host"].startswith(f"{NAME}:")


def test_rebinding(receiver: Receiver) -> None:
    """A name that changes its address after the check leads nobody inside: it is asked once."""
    resolve, asked = resolving(["192.0.2.1"], ["127.0.0.1"])
    targets = Targets([named(receiver).removesuffix("/hook")], ["192.0.2.0/24"])
    outbound = GuardedOutbound(targets, resolve=resolve)
    with pytest.raises(CloudUnavailableError):
        outbound.post(named(receiver), b"{}", {}, 0.3)
    assert asked == [NAME]
    with pytest.raises(InvalidRequestError):
        outbound.post(named(receiver), b"{}", {}, 0.3)
    assert receiver.received == []


def test_one_good_address_among_bad_ones(receiver: Receiver) -> None:
    """Of several addresses only one that is allowed is called."""
    resolve, _ = resolving(["10.0.0.1", "169.254.169.254", "127.0.0.1"])
    targets = Targets([named(receiver).removesuffix("/hook")], ["127.0.0.0/8"])
    assert GuardedOutbound(targets, resolve=resolve).post(named(receiver), b"{}", {}, 2).status


def test_unknown_name() -> None:
    """A name that cannot be looked up is tried again later."""

    def resolve(*_: Any, **__: Any) -> Sequence[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    outbound = GuardedOutbound(Targets([f"https://{NAME}"]), resolve=resolve)
    with pytest.raises(CloudUnavailableError, match="cannot be looked up"):
        outbound.post(f"https://{NAME}/", b"{}", {}, 2)


def test_proxy_of_the_environment_is_not_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would look the name up once more, so there is none."""
    with receiving() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        outbound = GuardedOutbound(Targets([receiver.url.removesuffix("/hook")]))
        outbound.post(receiver.url, b"{}", {}, 2)
        assert proxy.received == []
    assert len(receiver.received) == 1


class Authority:
    """A certificate of its own for one name or address."""

    def __init__(self, directory: Path, host: str) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        try:
            name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        now = utc_now()
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.SubjectAlternativeName([name]), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        self.path = directory / f"{host}.pem"
        self.path.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            + certificate.public_bytes(serialization.Encoding.PEM)
        )

    def server(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path)
        return context

    def client(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.path))


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Receiver, Authority]]:
    authority = Authority(tmp_path, NAME)
    with receiving(authority.server()) as one:
        yield one, authority


def test_certificate_of_the_name(secure: tuple[Receiver, Authority]) -> None:
    """TLS is checked against the name of the URL, although the address is connected to."""
    receiver, authority = secure
    resolve, _ = resolving(["127.0.0.1"])
    targets = Targets([f"https://{NAME}:{receiver.url.split(':')[2][:-5]}"], ["127.0.0.0/8"])
    outbound = GuardedOutbound(targets, tls=authority.client(), resolve=resolve)
    assert outbound.post(named(receiver), b"{}", {}, 2).status == 200


@pytest.mark.parametrize("trusted", [True, False])
def test_wrong_certificate(secure: tuple[Receiver, Authority], *, trusted: bool) -> None:
    """A certificate of another name, or of an unknown authority, is refused; nothing is sent."""
    receiver, authority = secure
    url = receiver.url if trusted else named(receiver)
    resolve, _ = resolving(["127.0.0.1"])
    targets = Targets([url.removesuffix("/hook")], ["127.0.0.0/8"])
    tls = authority.client() if trusted else None
    outbound = GuardedOutbound(targets, tls=tls, resolve=resolve)
    with pytest.raises(ConfigurationError, match="not trusted"):
        outbound.post(url, b"{}", {}, 2)
    assert receiver.received == []
