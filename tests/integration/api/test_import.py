"""Imports over HTTP: what is checked, what is written, and what never is."""

import asyncio
import dataclasses
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from jeroboam.activities.keys import KeyActivities
from jeroboam.api.http.caller import Caller
from jeroboam.certificates import from_mapping, issue_client_certificate, issue_cluster_secrets
from jeroboam.drivers.importing import Finding, ImportWish, SupportsImport, Survey
from jeroboam.drivers.magnum_heat_v1.driver import MagnumHeatDriver
from jeroboam.drivers.magnum_heat_v1.recognition import recognise
from jeroboam.drivers.magnum_heat_v1.records import StackRecord
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.errors import CloudUnavailableError, NotFoundError
from jeroboam.models import new_uuid
from jeroboam.models.key_wire import SealedKeys
from jeroboam.store import Cipher, Scope, Store
from tests.integration.api.conftest import Service, error_of
from tests.integration.api.drivers import registry
from tests.unit.drivers.magnum_heat.shown import MAIN, PARAMETERS, UUID, stack

PATH = "/v1/clusters/import"
MINUTE = timedelta(minutes=1)
SECRETS = issue_cluster_secrets("old")


@dataclass
class Surveys:
    """Recognises one stack, for the members of one project."""

    obstacles: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=lambda: dict(PARAMETERS))

    async def survey(self, driver: SupportsImport, caller: Caller, wish: ImportWish) -> Survey:
        if wish.stack != MAIN:
            raise NotFoundError(f"Stack {wish.stack} could not be found in your project.")
        shown = StackRecord.of(stack(self.parameters))
        return Survey(
            spec=recognise(shown, (), wish, caller.identity),
            findings=(Finding(what="stack", found="it"),),
            operations={"delete": None},
            needs_keys={"certificates": "they are signed"},
            obstacles=self.obstacles,
        )


@dataclass
class Kept:
    """What was handed to the workers."""

    sealed: list[SealedKeys] = field(default_factory=list)

    async def keep(self, cluster_id: str, sealed: str) -> None:
        self.sealed.append(SealedKeys(cluster_id=cluster_id, sealed=sealed))


@pytest.fixture
def surveys(service: Service) -> Surveys:
    return _equipped(service, Surveys(), Kept())


@pytest.fixture
def kept(service: Service, surveys: Surveys) -> Kept:
    kept = Kept()
    _equipped(service, surveys, kept)
    return kept


def _equipped(service: Service, surveys: Surveys, kept: Kept) -> Surveys:
    entries = [*registry().entries(), DriverEntry(MagnumHeatDriver())]
    service.app.state.dependencies = dataclasses.replace(
        service.app.state.dependencies,
        drivers=DriverRegistry(entries),
        surveyor=surveys,
        keep_keys=kept.keep,
    )
    return surveys


def keys(certificate: str, private_key: str) -> dict[str, Any]:
    return {"kubernetes": {"certificate": certificate, "private_key": private_key}}


@pytest.mark.usefixtures("surveys")
async def test_a_dry_run_writes_nothing(service: Service) -> None:
    """It tells what was recognised; no row and no trust is made."""
    before = await service.everything()
    response = await service.call("POST", f"{PATH}?dry_run=true", json={"stack_id": MAIN})
    assert response.status_code == 200, response.text
    body = response.json()
    assert (body["imported"], body["uuid"], body["links"]) == (False, UUID, [])
    assert body["findings"][-1]["found"] == "not given"
    assert body["operations"] == {"delete": None, "certificates": "they are signed"}
    assert await service.everything() == before
    assert service.trusts.made == 0


@pytest.mark.usefixtures("surveys")
async def test_an_import_is_shown_as_any_cluster(service: Service) -> None:
    """The cluster keeps its uuid, belongs to who asked, and has a trust and a template."""
    response = await service.call("POST", PATH, json={"stack_id": MAIN, "name": "taken-over"})
    assert response.status_code == 201, response.text
    assert response.headers["Location"].endswith(f"/v1/clusters/{UUID}")
    shown = (await service.call("GET", f"/v1/clusters/{UUID}", version="1.12")).json()
    assert (shown["name"], shown["stack_id"]) == ("taken-over", MAIN)
    assert (shown["status"], shown["node_count"], shown["user_id"]) == ("UPDATE_COMPLETE", 3, "u1")
    stored = await service.store.clusters.get(UUID, Scope(None))
    assert stored.trust_id in service.trusts.alive
    template = await service.call("GET", f"/v1/clustertemplates/{shown['cluster_template_id']}")
    assert template.json()["name"] == "taken-over-imported"
    listed = await service.call("GET", f"/v1/clusters/{UUID}/nodegroups")
    assert [one["name"] for one in listed.json()["nodegroups"]] == [
        "default-master",
        "default-worker",
    ]


@pytest.mark.usefixtures("surveys")
async def test_twice_is_refused_by_name(service: Service) -> None:
    """The second import names the cluster, also to a colleague, and makes no further trust."""
    assert (await service.call("POST", PATH, json={"stack_id": MAIN})).status_code == 201
    for token in ("member-token", "colleague-token"):
        again = await service.call("POST", PATH, token=token, json={"stack_id": MAIN})
        assert again.status_code == 409
        assert f"my-cluster ({UUID})" in error_of(again)["detail"]
    stranger = await service.call("POST", PATH, token="stranger-token", json={"stack_id": MAIN})
    assert stranger.status_code == 409
    assert "my-cluster" not in stranger.text
    assert service.trusts.made == 1


@pytest.mark.usefixtures("surveys")
async def test_of_two_at_a_time_one_wins(service: Service) -> None:
    """The other one is told that it is one already, and its trust goes."""
    wishes = [service.call("POST", PATH, json={"stack_id": MAIN}) for _ in range(4)]
    codes = sorted(one.status_code for one in await asyncio.gather(*wishes))
    assert codes == [201, 409, 409, 409]
    stored = await service.store.clusters.get(UUID, Scope(None))
    assert service.trusts.alive == {stored.trust_id}


async def test_keys_that_temporal_does_not_take(service: Service, surveys: Surveys) -> None:
    """The cluster is imported all the same, and the report says how to give them again."""
    worker = await Store.open(
        service.settings.resolved_database_url,
        cipher=Cipher(b"1" * 32),
        hooks_cipher=Cipher(bytes(32)),
    )
    await worker.inbox.announce()
    await worker.close()

    async def nobody(cluster_id: str, sealed: str) -> None:
        raise CloudUnavailableError("Temporal cannot be reached.")

    service.app.state.dependencies = dataclasses.replace(
        service.app.state.dependencies, keep_keys=nobody
    )
    good = keys(SECRETS.kubernetes.certificate, SECRETS.kubernetes.private_key)
    done = await service.call("POST", PATH, json={"stack_id": MAIN, "keys": good})
    assert done.status_code == 201
    last = done.json()["findings"][-1]
    assert not last["complete"]
    assert f"import-keys {UUID}" in last["found"]


@pytest.mark.usefixtures("surveys")
async def test_keys_need_a_worker(service: Service) -> None:
    """Before any worker was up nothing can be sealed, and nothing is imported."""
    good = keys(SECRETS.kubernetes.certificate, SECRETS.kubernetes.private_key)
    refused = await service.call("POST", PATH, json={"stack_id": MAIN, "keys": good})
    assert refused.status_code == 503
    assert service.trusts.made == 0


async def test_obstacles_are_told_and_refuse(service: Service, surveys: Surveys) -> None:
    """A dry run lists them, and the import is refused with them."""
    surveys.obstacles = ("Stack x is UPDATE_FAILED: no valid host.",)
    told = await service.call("POST", f"{PATH}?dry_run=true", json={"stack_id": MAIN})
    assert told.json()["obstacles"] == list(surveys.obstacles)
    refused = await service.call("POST", PATH, json={"stack_id": MAIN})
    assert refused.status_code == 409
    assert "no valid host" in error_of(refused)["detail"]
    assert service.trusts.made == 0


async def test_the_quota_counts_it(service: Service, surveys: Surveys) -> None:
    """A project with as many clusters as it may have imports no further one."""
    template = (await service.template())["uuid"]
    for number in range(3):
        await service.cluster(template, name=f"c{number}")
    alive = set(service.trusts.alive)
    refused = await service.call("POST", PATH, json={"stack_id": MAIN})
    assert refused.status_code == 403
    assert service.trusts.alive == alive


@pytest.mark.usefixtures("surveys")
@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "stack_id"),
        ({"stack_id": "another"}, 404, "could not be found in your project"),
        ({"stack_id": MAIN, "cluster_template": "nothing"}, 404, "nothing"),
        ({"stack_id": MAIN, "driver": "fake"}, 400, "magnum_heat_v1"),
        ({"stack_id": MAIN, "name": "9"}, 400, "name"),
        ({"stack_id": MAIN, "keys": {}}, 400, "kubernetes"),
        ({"stack_id": MAIN, "keys": keys("x", "y")}, 400, "certificate cannot be read"),
    ],
    ids=["no-stack", "unknown", "no-template", "driver", "name", "no-keys", "no-pem"],
)
async def test_bad_requests(
    service: Service, body: dict[str, Any], status: int, words: str
) -> None:
    """Each is refused with what is wrong, and leaves nothing."""
    response = await service.call("POST", PATH, json=body)
    assert response.status_code == status, response.text
    assert words in error_of(response)["detail"]
    assert service.trusts.made == 0


@pytest.mark.usefixtures("surveys")
async def test_a_template_of_the_project_may_be_named(service: Service) -> None:
    """It has to be of the cluster's engine, and none is made then."""
    template = await service.template(name="mine")
    stored = await service.store.templates.get(template["uuid"], Scope(None))
    other = stored.model_copy(update={"uuid": new_uuid(), "name": "mesos", "coe": "mesos"})
    await service.store.templates.add(other)
    body = {"stack_id": MAIN, "cluster_template": "mesos"}
    refused = await service.call("POST", PATH, json=body)
    assert refused.status_code == 400
    assert "is for mesos" in error_of(refused)["detail"]
    done = await service.call("POST", PATH, json=body | {"cluster_template": "mine"})
    assert done.status_code == 201
    assert done.json()["cluster_template_id"] == template["uuid"]
    listed = (await service.call("GET", "/v1/clustertemplates")).json()["clustertemplates"]
    assert len(listed) == 2


@pytest.mark.usefixtures("surveys")
async def test_readers_may_not(service: Service) -> None:
    """It takes the role with which clusters are made."""
    refused = await service.call("POST", PATH, token="reader-token", json={"stack_id": MAIN})
    assert refused.status_code == 403


async def test_keys_reach_workers_unread(service: Service, kept: Kept) -> None:
    """They fit, are sealed for workers, and nothing that the API writes holds them."""
    url = service.settings.resolved_database_url
    worker = await Store.open(url, cipher=Cipher(b"1" * 32), hooks_cipher=Cipher(bytes(32)))
    await worker.inbox.announce()
    authority = SECRETS.kubernetes
    client = issue_client_certificate(authority, "somebody", MINUTE)
    for wrong, words in (
        (keys(authority.certificate, SECRETS.etcd.private_key), "not that of"),
        (keys(client.certificate, client.private_key), "no authority's"),
    ):
        refused = await service.call("POST", PATH, json={"stack_id": MAIN, "keys": wrong})
        assert refused.status_code == 400, refused.text
        assert words in error_of(refused)["detail"]
        assert "PRIVATE" not in refused.text
    good = keys(authority.certificate, authority.private_key)
    done = await service.call("POST", PATH, json={"stack_id": MAIN, "keys": good})
    assert done.status_code == 201, done.text
    assert done.json()["operations"] == {"delete": None, "certificates": None}
    (sealed,) = kept.sealed
    secret = authority.private_key.splitlines()[1]
    assert secret not in f"{sealed}{await service.everything()}{done.text}"
    await KeyActivities(worker).keep_keys(sealed)
    stored = from_mapping(await worker.secrets.get(UUID))
    assert stored.kubernetes.certificate.strip() == authority.certificate.strip()
    assert stored.etcd.certificate == ""
    shown = await service.call("GET", f"/v1/certificates/{UUID}")
    assert shown.json()["pem"].strip() == authority.certificate.strip()
    await worker.close()


async def test_keys_may_come_later(service: Service, kept: Kept) -> None:
    """An imported cluster without keys gets them once; one that Jeroboam made has its own."""
    worker = await Store.open(
        service.settings.resolved_database_url,
        cipher=Cipher(b"1" * 32),
        hooks_cipher=Cipher(bytes(32)),
    )
    await worker.inbox.announce()
    body = keys(SECRETS.kubernetes.certificate, SECRETS.kubernetes.private_key)
    own = await service.cluster((await service.template())["uuid"])
    refused = await service.call("PUT", f"/v1/clusters/{own}/keys", json=body)
    assert refused.status_code == 400
    assert "was not imported" in error_of(refused)["detail"]
    await service.call("POST", PATH, json={"stack_id": MAIN})
    missing = await service.call("GET", f"/v1/certificates/{UUID}")
    assert missing.status_code == 409
    accepted = await service.call("PUT", f"/v1/clusters/{UUID}/keys", json=body)
    assert accepted.status_code == 202, accepted.text
    (sealed,) = kept.sealed
    await KeyActivities(worker).keep_keys(sealed)
    assert (await service.call("GET", f"/v1/certificates/{UUID}")).status_code == 200
    again = await service.call("PUT", f"/v1/clusters/{UUID}/keys", json=body)
    assert again.status_code == 409
    for kind in ("etcd", "front_proxy"):
        unknown = await service.call("GET", f"/v1/certificates/{UUID}?ca_cert_type={kind}")
        assert unknown.status_code == 409
        assert "nothing is known" in error_of(unknown)["detail"]
    await worker.close()
