"""Users of programs in clusters, on a real Keystone with a real Nova to call."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from keystoneauth1.exceptions import ClientException, Forbidden, Unauthorized
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam import accounts
from jeroboam.accounts import Accounts
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import CloudAccount
from jeroboam.errors import ConfigurationError, CredentialRejectedError
from tests import logins
from tests.acceptance.heat_clusters import Tenant

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def domain(access: Cloud) -> Accounts:
    return Accounts(access, TRUSTEE_DOMAIN)


@pytest.fixture
def cluster_id(domain: Accounts) -> Iterator[str]:
    ident = str(uuid4())
    yield ident
    domain.remove(ident)


def name_of(cluster_id: str) -> str:
    return accounts.user_name(cluster_id, str(uuid4()))


def log_in(account: CloudAccount) -> Session:
    """Log in as a program in the cluster does."""
    auth = v3.Password(
        account.auth_url,
        user_id=account.user_id,
        password=account.password,
        trust_id=account.trust_id,
    )
    session = Session(auth, timeout=60)
    session.get_token()
    return session


def test_a_program_can_do_what_it_needs(domain: Accounts, tenant: Tenant, cluster_id: str) -> None:
    """It sees the project's servers and has no role beyond those for volumes and load balancers."""
    account = domain.make(name_of(cluster_id), accounts.new_password(), tenant.trust_id)
    assert account.region == "RegionOne"
    assert not account.load_balancers
    session = log_in(account)
    found = session.auth.get_access(session)  # type: ignore[union-attr]
    assert found.project_id == tenant.identity.project_id
    assert found.user_id == account.user_id
    assert set(found.role_names) <= accounts.PROGRAM_ROLES
    assert "member" in found.role_names
    list(Connection(session=session, region_name=account.region).compute.servers())


def test_a_program_gets_no_further(domain: Accounts, tenant: Tenant, cluster_id: str) -> None:
    """It can hand on nothing that outlives it: no trust, no application credential, no password."""
    account = domain.make(name_of(cluster_id), accounts.new_password(), tenant.trust_id)
    session = log_in(account)
    owner = tenant.identity.user_id
    trust = {
        "trustor_user_id": owner,
        "trustee_user_id": account.user_id,
        "project_id": tenant.identity.project_id,
        "impersonation": True,
        "roles": [{"name": "member"}],
    }
    for path, body in (
        ("/OS-TRUST/trusts", {"trust": trust}),
        (f"/users/{owner}/application_credentials", {"application_credential": {"name": "x"}}),
        ("/users", {"user": {"name": "x", "password": "y"}}),
    ):
        with pytest.raises(Forbidden):
            session.post(path, json=body, endpoint_filter={"service_type": "identity"})


def test_made_twice_it_is_one(domain: Accounts, tenant: Tenant, cluster_id: str) -> None:
    """A step that is repeated finds the user and the trust of its first attempt."""
    name, password = name_of(cluster_id), accounts.new_password()
    first = domain.make(name, password, tenant.trust_id)
    assert domain.make(name, password, tenant.trust_id) == first
    log_in(first)


def test_only_the_others_are_removed(domain: Accounts, tenant: Tenant, cluster_id: str) -> None:
    """Of this cluster; another one's stay, and nobody can log in as those that are gone."""
    other_id = str(uuid4())
    other = domain.make(name_of(other_id), accounts.new_password(), tenant.trust_id)
    former = domain.make(name_of(cluster_id), accounts.new_password(), tenant.trust_id)
    name = name_of(cluster_id)
    account = domain.make(name, accounts.new_password(), tenant.trust_id)
    domain.remove(cluster_id, keep=name)
    log_in(account)
    with pytest.raises(Unauthorized):
        log_in(former)
    domain.remove(cluster_id)
    domain.remove(cluster_id)
    with pytest.raises(Unauthorized):
        log_in(account)
    log_in(other)
    domain.remove(other_id)


def test_it_is_of_no_use_without_the_clusters_trust(
    cloud: Devcloud, access: Cloud, domain: Accounts, cluster_id: str
) -> None:
    owner = Session(logins.password(cloud, "demo"), timeout=60)
    trust_id = access.create_trust(logins.token_of(owner), logins.identity_of(owner))
    account = domain.make(name_of(cluster_id), accounts.new_password(), trust_id)
    log_in(account)
    access.delete_trust(trust_id)
    with pytest.raises(ClientException):
        log_in(account)
    with pytest.raises(CredentialRejectedError):
        domain.make(name_of(cluster_id), accounts.new_password(), trust_id)


def test_an_administrators_cluster(
    cloud: Devcloud, access: Cloud, domain: Accounts, cluster_id: str
) -> None:
    """Its programs are no administrators: they get what this role implies for everybody."""
    owner = Session(logins.password(cloud, "admin"), timeout=60)
    trust_id = access.create_trust(logins.token_of(owner), logins.identity_of(owner))
    account = domain.make(name_of(cluster_id), accounts.new_password(), trust_id)
    session = log_in(account)
    assert set(session.auth.get_access(session).role_names) == {"member", "reader"}  # type: ignore[union-attr]
    access.delete_trust(trust_id)


@pytest.mark.parametrize("name", ["", "nowhere", "heat"])
def test_a_domain_that_is_no_use(access: Cloud, tenant: Tenant, cluster_id: str, name: str) -> None:
    """There is none, it does not exist, or the service user has no role on it."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_TRUSTEE_DOMAIN"):
        Accounts(access, name).make(name_of(cluster_id), "secret", tenant.trust_id)
