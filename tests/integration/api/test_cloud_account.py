"""Clusters whose programs log in to the cloud: what is refused before anything is made."""

from collections.abc import AsyncIterator

import pytest

from jeroboam.drivers.base import DriverContext, SupportsCloudAccount
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.models import ClusterSpec, Identity
from tests.integration.api.cloud import PEOPLE, PROJECT, RecordingOperations
from tests.integration.api.conftest import Service, error_of, serving

DOMAIN = "cluster_users"


class AccountDriver(FakeDriver, SupportsCloudAccount):
    """Has such programs in all of its clusters."""

    def needs_cloud_account(self, spec: ClusterSpec) -> bool:
        return True

    def hand_over_account(self, context: DriverContext, spec: ClusterSpec) -> None:
        raise AssertionError("The API calls no cluster.")


@pytest.fixture(params=[DOMAIN, ""], ids=["domain", "no domain"])
async def service(service: Service, request: pytest.FixtureRequest) -> AsyncIterator[Service]:
    settings = service.settings.model_copy(update={"trustee_domain": request.param})
    drivers = DriverRegistry([DriverEntry(AccountDriver())])
    operations = RecordingOperations(service.store)
    async with serving(settings, service.store, operations, drivers) as changed:
        yield changed


@pytest.mark.parametrize("service", [DOMAIN], indirect=True)
async def test_the_plan_says_that_a_user_is_made(service: Service) -> None:
    body = {"cluster_template_id": (await service.template())["uuid"]}
    planned = await service.call("POST", "/v1/clusters?dry_run=true", json=body)
    assert planned.status_code == 200, planned.text
    assert "Make a user for programs in the cluster" in planned.text
    await service.cluster(body["cluster_template_id"])


@pytest.mark.parametrize("query", ["", "?dry_run=true"])
@pytest.mark.parametrize("service", [""], indirect=True)
async def test_without_a_domain_it_is_refused(service: Service, query: str) -> None:
    body = {"cluster_template_id": (await service.template())["uuid"]}
    before = await service.everything()
    refused = await service.call("POST", f"/v1/clusters{query}", json=body)
    assert refused.status_code == 400
    assert "JEROBOAM_TRUSTEE_DOMAIN" in error_of(refused)["detail"]
    assert await service.everything() == before


@pytest.mark.parametrize("service", [DOMAIN], indirect=True)
async def test_programs_become_no_administrators(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the requester has no other role to delegate, no trust is made."""
    bare = Identity(user_id="u8", project_id=PROJECT, roles=("admin",))
    monkeypatch.setitem(PEOPLE, "bare-token", bare)
    body = {"cluster_template_id": (await service.template())["uuid"]}
    before = await service.everything()
    refused = await service.call("POST", "/v1/clusters", token="bare-token", json=body)
    assert refused.status_code == 403
    assert "role member" in error_of(refused)["detail"]
    assert await service.everything() == before
