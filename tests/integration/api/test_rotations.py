"""Rotation of authorities and credentials over HTTP: gates, checks, what a refusal leaves."""

from typing import Any

import pytest

from jeroboam.certificates import issue_cluster_secrets, to_mapping
from jeroboam.errors import ConflictError
from jeroboam.models import OperationKind, Status
from jeroboam.store import Cipher, Store
from tests.integration.api.conftest import Service, error_of


async def certified(service: Service, **attributes: Any) -> str:
    """Return a cluster that is up and has its certificates."""
    uuid = await service.built(**attributes)
    store = await Store.open(service.settings.resolved_database_url, cipher=Cipher(bytes(32)))
    await store.secrets.put_if_absent(uuid, to_mapping(issue_cluster_secrets("mine")))
    await store.close()
    return uuid


async def owned(service: Service) -> tuple[str, str]:
    """Return a cluster that acts for its owner, and the trust by which it does."""
    template = await service.template(image_id="twin-image", driver="first_twin")
    uuid = await certified(service, template=template["uuid"])
    (trust,) = service.trusts.alive
    return uuid, trust


@pytest.mark.parametrize("version", ["1.1", "1.14"])
async def test_authorities_are_rotated(service: Service, version: str) -> None:
    """As in Magnum: no body, 202 with the cluster's uuid, at every microversion."""
    uuid = await certified(service)
    answer = await service.call("PATCH", "/v1/certificates/mine", version=version)
    assert (answer.status_code, answer.json()) == (202, {"uuid": uuid}), answer.text
    (operation,) = service.operations.started[-1:]
    assert (operation.kind, operation.rollback) == (OperationKind.ROTATE_CA, True)
    assert answer.headers["jeroboam-operation"] == operation.uuid
    assert (await service.store.clusters.spec(uuid)).cluster.status is Status.UPDATE_IN_PROGRESS


async def test_without_tls_there_is_nothing_to_rotate(service: Service) -> None:
    """Magnum's 400, before anything is changed."""
    template = await service.template(tls_disabled=True)
    uuid = await service.built(template=template["uuid"])
    before = await service.everything()
    answer = await service.call("PATCH", f"/v1/certificates/{uuid}")
    assert answer.status_code == 400
    assert "tls_disabled" in error_of(answer)["detail"]
    assert await service.everything() == before


async def test_a_credential_is_rotated(service: Service) -> None:
    """The trust is the caller's own, and the record has the former one until the end."""
    uuid, former = await owned(service)
    answer = await service.call("PATCH", "/v1/credentials/mine")
    assert (answer.status_code, answer.json()) == (202, {"uuid": uuid}), answer.text
    operation = service.operations.started[-1]
    (new,) = service.trusts.alive - {former}
    assert operation.parameters.trust_id == new
    assert operation.parameters.owner_id is None
    assert (await service.store.clusters.spec(uuid)).cluster.trust_id == former
    detail = (await service.call("GET", f"/v1/operations/{operation.uuid}")).text
    assert new not in detail
    assert former not in detail


async def test_who_takes_over_becomes_the_owner(service: Service) -> None:
    """Where the former owner's trust is of no use, nobody else could ask for certificates."""
    await owned(service)
    service.trusts.alive.clear()
    answer = await service.call("PATCH", "/v1/credentials/mine", token="colleague-token")
    assert answer.status_code == 202, answer.text
    parameters = service.operations.started[-1].parameters
    assert parameters.owner_id
    assert parameters.owner_id in str(parameters.trust_id)


@pytest.mark.parametrize("version", ["1.1", "1.11"])
async def test_credentials_have_their_microversion(service: Service, version: str) -> None:
    """Magnum's 406 before 1.12."""
    await owned(service)
    answer = await service.call("PATCH", "/v1/credentials/mine", version=version)
    assert answer.status_code == 406
    assert "API patch is not supported" in error_of(answer)["detail"]


@pytest.mark.parametrize(
    "status", [Status.CREATE_COMPLETE, Status.UPDATE_COMPLETE, Status.UPDATE_FAILED]
)
async def test_credentials_from_every_usable_status(service: Service, status: Status) -> None:
    """A change that failed, for want of a credential for example, is no reason to refuse one."""
    uuid, _ = await owned(service)
    if status is not Status.CREATE_COMPLETE:
        await service.call("POST", f"/v1/clusters/{uuid}/actions/rebuild")
        await (service.fail(uuid) if status.failed else service.finish(uuid))
    answer = await service.call("PATCH", "/v1/credentials/mine")
    assert answer.status_code == 202, answer.text


async def test_a_cluster_without_a_credential(service: Service) -> None:
    """The fake driver acts for nobody; no trust is made in vain."""
    uuid = await service.built()
    before, made = await service.everything(), service.trusts.made
    answer = await service.call("PATCH", f"/v1/credentials/{uuid}")
    assert answer.status_code == 400
    assert "no credential" in error_of(answer)["detail"]
    assert (await service.everything(), service.trusts.made) == (before, made)


@pytest.mark.parametrize("what", ["certificates", "credentials"])
async def test_a_cluster_at_work(service: Service, what: str) -> None:
    """The answer names the operation; no trust is made in vain."""
    uuid, _ = await owned(service)
    await service.act(uuid, "rebuild")
    made = service.trusts.made
    answer = await service.call("PATCH", f"/v1/{what}/{uuid}")
    assert answer.status_code == 409
    assert service.operations.started[-1].uuid in error_of(answer)["detail"]
    assert service.trusts.made == made


@pytest.mark.parametrize("what", ["certificates", "credentials"])
async def test_a_dry_run_changes_nothing(service: Service, what: str) -> None:
    """It shows the steps, and makes no trust."""
    uuid, _ = await owned(service)
    before, made = await service.everything(), service.trusts.made
    answer = await service.call("PATCH", f"/v1/{what}/{uuid}?dry_run=true")
    assert answer.status_code == 200, answer.text
    assert answer.json()["changes"]
    assert (await service.everything(), service.trusts.made) == (before, made)


async def test_a_lost_race_withdraws_the_trust(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another operation got the cluster after the trust was made."""
    _, former = await owned(service)

    async def refuse(*_: Any) -> None:
        raise ConflictError("Somebody was faster.")

    monkeypatch.setattr(service.store.operations, "accept", refuse)
    answer = await service.call("PATCH", "/v1/credentials/mine")
    assert answer.status_code == 409
    assert service.trusts.alive == {former}


@pytest.mark.parametrize("what", ["certificates", "credentials"])
async def test_a_driver_that_cannot(service: Service, what: str) -> None:
    """The answer names the driver, and nothing is changed; Magnum had stored new CAs by then."""
    template = await service.template(image_id="plain-image", driver="plain")
    uuid = await certified(service, template=template["uuid"])
    before, made = await service.everything(), service.trusts.made
    answer = await service.call("PATCH", f"/v1/{what}/{uuid}")
    assert answer.status_code == 400
    assert "plain" in error_of(answer)["detail"]
    assert (await service.everything(), service.trusts.made) == (before, made)
