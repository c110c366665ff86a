"""Fixtures of the tests that work on a devcloud as a tenant, without the engine."""

from collections.abc import Iterator

import pytest
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from jeroboam.cloud import Cloud
from tests import logins
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
    session = Session(logins.password(cloud, "demo"), timeout=TIMEOUT)
    identity = logins.identity_of(session)
    trust_id = access.create_trust(logins.token_of(session), identity)
    found = Tenant(access, trust_id, identity, Connection(session=session, region_name="RegionOne"))
    yield found
    found.sweep()
    access.delete_trust(trust_id)


@pytest.fixture
def swept(tenant: Tenant) -> Iterator[None]:
    """What a test that failed has left is removed, so that the next one does not meet it."""
    clusters = len(tenant.specs)
    yield
    assert tenant.sweep(clusters) == []


@pytest.fixture
def nothing_left(tenant: Tenant, swept: None) -> Iterator[None]:
    """What is there after the test was there before it."""
    _ = swept
    before = tenant.inventory()
    yield
    assert tenant.inventory() == before
