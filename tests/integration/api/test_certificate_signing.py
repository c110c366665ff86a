"""Signatures over HTTP by a real worker, which alone has the keys."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from temporalio.client import Client

from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.workflows.signing_client import SigningClient
from tests.integration.api.conftest import BASE, Service, error_of, serving
from tests.integration.api.test_with_engine import created
from tests.integration.engine import running_engine


@pytest.fixture(scope="module")
async def live(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Service]:
    directory = tmp_path_factory.mktemp("signing")
    async with running_engine(temporal_client, directory) as engine:
        drivers = DriverRegistry([DriverEntry(FakeDriver(engine.fakes))])
        signer = SigningClient(temporal_client, engine.settings.task_queue)
        async with serving(
            engine.settings, engine.store, engine.operations, drivers, signer=signer
        ) as service:
            yield service


@pytest.fixture(scope="module")
async def cluster(live: Service) -> str:
    return await created(live, "signing")


KEY = rsa.generate_private_key(65537, 2048)


def request() -> str:
    """Return what ``openstack coe cluster config`` sends."""
    subject = [
        x509.NameAttribute(NameOID.COMMON_NAME, "admin"),
        x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"),
    ]
    made = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    return made.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


@pytest.mark.parametrize(
    ("kind", "signer"),
    [(None, "kubernetes"), ("etcd", "etcd"), ("front_proxy", "front_proxy"), ("x", "kubernetes")],
    ids=["none", "etcd", "front_proxy", "unknown"],
)
async def test_a_request_is_signed(
    live: Service, cluster: str, kind: str | None, signer: str
) -> None:
    """By the CA that is asked for, with Magnum's fields and code."""
    body = {"cluster_uuid": "signing", "csr": request()}
    body |= {"ca_cert_type": kind} if kind else {}
    answer = await live.call("POST", "/v1/certificates", json=body)
    assert answer.status_code == 201, answer.text
    found = answer.json()
    pem = found.pop("pem")
    links = [
        {"rel": "self", "href": f"{BASE}/v1/certificates/{cluster}"},
        {"rel": "bookmark", "href": f"{BASE}/certificates/{cluster}"},
    ]
    assert found == {**body, "cluster_uuid": cluster, "links": links}
    path = f"/v1/certificates/{cluster}?ca_cert_type={signer}"
    authority = x509.load_pem_x509_certificate(
        (await live.call("GET", path)).json()["pem"].encode()
    )
    certificate = x509.load_pem_x509_certificate(pem.encode())
    certificate.verify_directly_issued_by(authority)
    assert certificate.public_key() == KEY.public_key()
    assert certificate.subject.rfc4514_string() == "O=system:masters,CN=admin"


@pytest.mark.parametrize(
    ("token", "status"),
    [
        ("colleague-token", 403),
        ("reader-token", 403),
        ("nobody-token", 403),
        ("stranger-token", 404),
        ("admin-token", 201),
        (None, 401),
    ],
)
async def test_who_may_have_a_request_signed(
    live: Service, cluster: str, token: str | None, status: int
) -> None:
    """The cluster's owner and administrators, as in Magnum."""
    body = {"cluster_uuid": cluster, "csr": request()}
    answer = await live.call("POST", "/v1/certificates", token=token, json=body)
    assert answer.status_code == status, answer.text
    if status == 403:
        assert "certificate:create" in error_of(answer)["detail"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"csr": "x"}, 400, "cluster_uuid"),
        ({"cluster_uuid": "signing"}, 400, "csr"),
        ({"cluster_uuid": "signing", "csr": None}, 400, "csr"),
        ({"cluster_uuid": "signing", "csr": ""}, 400, "openssl req"),
        ({"cluster_uuid": "signing", "csr": "nonsense"}, 400, "openssl req"),
        ({"cluster_uuid": "signing", "csr": "\0"}, 400, "NUL"),
        ({"cluster_uuid": "signing", "csr": "x", "mine": 1}, 400, "mine"),
        ({"cluster_uuid": "signing", "csr": "x", "ca_cert_type": 7}, 400, "ca_cert_type"),
        ({"cluster_uuid": "nobody", "csr": "x"}, 404, "nobody"),
    ],
    ids=lambda value: None if isinstance(value, dict) else str(value),
)
async def test_bad_requests(
    live: Service, cluster: str, body: dict[str, Any], status: int, words: str
) -> None:
    """Get a 4xx that says what is wrong; Magnum answers 500 to one without a csr."""
    del cluster
    answer = await live.call("POST", "/v1/certificates", json=body)
    assert answer.status_code == status, answer.text
    assert words in error_of(answer)["detail"]


async def test_a_cluster_that_has_no_certificates_yet(service: Service) -> None:
    """Is told with its status."""
    uuid = await service.cluster((await service.template())["uuid"])
    body = {"cluster_uuid": uuid, "csr": request()}
    answer = await service.call("POST", "/v1/certificates", json=body)
    assert answer.status_code == 409
    assert "CREATE_IN_PROGRESS" in error_of(answer)["detail"]


async def test_without_a_worker(live: Service, cluster: str) -> None:
    """The answer says that nobody answers, and is no 500."""
    drivers = DriverRegistry([])
    async with serving(live.settings, live.store, live.operations, drivers) as alone:
        body = {"cluster_uuid": cluster, "csr": request()}
        answer = await alone.call("POST", "/v1/certificates", json=body)
    assert answer.status_code == 503
    assert "No worker" in error_of(answer)["detail"]
