"""The certificates of clusters over HTTP."""

from functools import partial
from typing import Any

import pytest

from jeroboam import certificate_sets
from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.drivers.base import ClusterSecrets
from jeroboam.store import Cipher, Store
from tests.integration.api.conftest import BASE, Service, error_of


@pytest.fixture
async def worker(service: Service) -> Any:
    """The store as a worker has it, with the key that the API lacks."""
    store = await Store.open(service.settings.resolved_database_url, cipher=Cipher(bytes(32)))
    yield store
    await store.close()


async def certified(service: Service, worker: Store, **attributes: Any) -> tuple[str, Any]:
    """Return a cluster that has its certificates."""
    uuid = await service.built(**attributes)
    made = issue_cluster_secrets("mine")
    await worker.secrets.put_if_absent(uuid, to_mapping(made))
    return uuid, made


def authority(made: ClusterSecrets, kind: str) -> str:
    found: str = getattr(made, kind).certificate
    return found


@pytest.mark.parametrize("version", ["1.1", "1.14"])
async def test_the_ca_as_magnum_shows_it(service: Service, worker: Store, version: str) -> None:
    """By uuid or name, with Magnum's fields."""
    uuid, made = await certified(service, worker)
    for ident in (uuid, "mine"):
        answer = await service.call("GET", f"/v1/certificates/{ident}", version=version)
        assert answer.status_code == 200, answer.text
        assert answer.json() == {
            "cluster_uuid": uuid,
            "pem": authority(made, "kubernetes"),
            "links": [
                {"rel": "self", "href": f"{BASE}/v1/certificates/{uuid}"},
                {"rel": "bookmark", "href": f"{BASE}/certificates/{uuid}"},
            ],
        }


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ("kubernetes", "kubernetes"),
        ("etcd", "etcd"),
        ("front_proxy", "front_proxy"),
        ("front-proxy", "front_proxy"),
        ("unheard-of", "kubernetes"),
    ],
)
async def test_each_kind_of_ca(service: Service, worker: Store, asked: str, kind: str) -> None:
    """An unknown kind is Kubernetes', as in Magnum."""
    uuid, made = await certified(service, worker)
    answer = await service.call("GET", f"/v1/certificates/{uuid}?ca_cert_type={asked}")
    assert answer.json()["pem"] == authority(made, kind)


async def test_both_cas_during_a_rotation(service: Service, worker: Store) -> None:
    """Clients that have stored the answer trust what comes next."""
    uuid, made = await certified(service, worker)
    fresh = issue_cluster_secrets("mine")
    await worker.secrets.change(uuid, partial(certificate_sets.stage, rotation="r", fresh=fresh))
    answer = await service.call("GET", f"/v1/certificates/{uuid}?ca_cert_type=etcd")
    assert answer.json()["pem"] == authority(made, "etcd") + authority(fresh, "etcd")


async def test_when_certificates_end(service: Service, worker: Store) -> None:
    """Readers see times and states of all CAs; before there are any, the list is empty."""
    uuid = await service.built()
    path = f"/v1/clusters/{uuid}/certificates"
    answer = await service.call("GET", path, token="reader-token")
    assert answer.json() == {"cluster_uuid": uuid, "certificates": []}
    made = issue_cluster_secrets("mine")
    await worker.secrets.put_if_absent(uuid, to_mapping(made))
    answer = await service.call("GET", path, token="reader-token")
    listed = answer.json()["certificates"]
    assert [one["kind"] for one in listed] == ["kubernetes", "etcd", "front_proxy"]
    assert {one["state"] for one in listed} == {"current"}
    known = await worker.certificates.list(uuid)
    assert listed[0]["not_after"] == known[0].not_after.isoformat(timespec="seconds")
    assert "pem" not in listed[0]


@pytest.mark.parametrize(
    ("token", "status"),
    [
        ("member-token", 200),
        ("colleague-token", 403),
        ("reader-token", 403),
        ("nobody-token", 403),
        ("admin-token", 200),
        ("stranger-token", 404),
        (None, 401),
    ],
)
async def test_who_may_read_a_ca(
    service: Service, worker: Store, token: str | None, status: int
) -> None:
    """Its cluster's owner and administrators, as in Magnum."""
    uuid, _ = await certified(service, worker)
    answer = await service.call("GET", f"/v1/certificates/{uuid}", token=token)
    assert answer.status_code == status, answer.text
    if status == 403:
        assert "certificate:get" in error_of(answer)["detail"]


async def test_clusters_without_certificates(service: Service) -> None:
    """Say why, with a 4xx: not yet, none at all, no such cluster."""
    uuid = await service.cluster((await service.template())["uuid"])
    answer = await service.call("GET", f"/v1/certificates/{uuid}")
    assert answer.status_code == 409
    assert "CREATE_IN_PROGRESS" in error_of(answer)["detail"]
    assert (await service.call("GET", "/v1/certificates/nobody")).status_code == 404
    answer = await service.call("GET", f"/v1/certificates/{uuid}?kind=etcd")
    assert answer.status_code == 400


async def test_a_cluster_without_tls(service: Service, worker: Store) -> None:
    """Has no certificates that anybody could use."""
    template = await service.template(tls_disabled=True)
    uuid, _ = await certified(service, worker, template=template["uuid"])
    answer = await service.call("GET", f"/v1/certificates/{uuid}")
    assert answer.status_code == 400
    assert "tls_disabled" in error_of(answer)["detail"]
