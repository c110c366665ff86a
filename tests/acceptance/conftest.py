"""Fixtures of the tests that work on a devcloud as a tenant, without the engine."""

from collections.abc import Iterator

import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from jeroboam.cloud import Cloud
from jeroboam.models import Identity
from tests.acceptance.heat_clusters import Tenant

TIMEOUT = 60.0


@pytest.fixture(scope="module")
def access(cloud: Devcloud) -> Iterator[Cloud]:
    """Jeroboam's own access to the devcloud."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.clouds_yaml))
        yield Cloud("jeroboam", timeout_seconds=TIMEOUT)


@pytest.fixture(scope="module")
def tenant(cloud: Devcloud, access: Cloud) -> Iterator[Tenant]:
    """A user who has given Jeroboam a trust."""
    session = Session(v3.Password(**cloud.credentials("demo")), timeout=TIMEOUT)
    login = session.auth.get_access(session)
    identity = Identity(
        user_id=login.user_id, project_id=login.project_id, roles=tuple(login.role_names)
    )
    trust_id = access.create_trust(login.auth_token, identity)
    yield Tenant(access, trust_id, identity, Connection(session=session, region_name="RegionOne"))
    access.delete_trust(trust_id)


@pytest.fixture
def nothing_left(tenant: Tenant) -> Iterator[None]:
    """What is there after the test was there before it."""
    before = tenant.inventory()
    yield
    assert tenant.inventory() == before
