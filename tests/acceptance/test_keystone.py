"""How tokens are checked, against a real Keystone: caches, service tokens, kinds of log-in, TLS."""

import asyncio
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
import yaml
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam.api.http.caller import Credentials, Refusal
from jeroboam.cloud import Cloud
from jeroboam.errors import CloudUnavailableError, NotAuthorizedError
from jeroboam.models import Identity
from jeroboam.settings import Settings
from tests import logins
from tests.acceptance.tls_front import Authority, tls_front

IDENTITY = {"service_type": "identity", "version": "3"}
TIMEOUT = 60.0
CACHE_SECONDS = 2

Outcome = Identity | Refusal


@contextmanager
def authenticator(clouds: Path, **settings: Any) -> Iterator[Any]:
    """Yield a function that checks tokens as the API does."""
    with warnings.catch_warnings():
        # webob, which the middleware uses, imports what Python will remove.
        warnings.simplefilter("ignore", DeprecationWarning)
        from jeroboam.api.http.keystone import KeystoneAuthenticator
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(clouds))
        checked = KeystoneAuthenticator(Settings(**{"cloud_timeout_seconds": 20, **settings}))

        def check(token: str | None, service_token: str | None = None) -> Outcome:
            async def ask() -> Outcome:
                return await checked(Credentials("GET", "/v1/clusters", token, service_token))

            return asyncio.run(ask())

        yield check
        checked.close()


def session_of(cloud: Devcloud, name: str = "demo", **options: Any) -> Session:
    return Session(logins.password(cloud, name, **options), timeout=TIMEOUT)


def revoke(session: Session, token: str) -> None:
    session.delete("/auth/tokens", endpoint_filter=IDENTITY, headers={"X-Subject-Token": token})


def status(outcome: Outcome) -> int:
    return outcome.status if isinstance(outcome, Refusal) else 200


def test_a_revocation_is_seen_within_the_cache_s_time(cloud: Devcloud) -> None:
    """A token that was believed is refused as soon as its validation is stale."""
    owner, token = session_of(cloud), logins.token_of(session_of(cloud))
    with authenticator(cloud.clouds_yaml, token_cache_seconds=CACHE_SECONDS) as check:
        known = time.monotonic()
        assert status(check(token)) == 200
        revoke(owner, token)
        while status(check(token)) == 200:
            assert time.monotonic() < known + CACHE_SECONDS + 3
            time.sleep(0.1)
        assert status(check(token)) == 401


def test_without_a_cache_a_revocation_is_seen_at_once(cloud: Devcloud) -> None:
    """With 0 seconds each request asks Keystone."""
    owner, token = session_of(cloud), logins.token_of(session_of(cloud))
    with authenticator(cloud.clouds_yaml, token_cache_seconds=0) as check:
        assert status(check(token)) == 200
        revoke(owner, token)
        assert status(check(token)) == 401


@pytest.mark.parametrize(
    "token",
    ["", "x", "gAAAAA" + "x" * 180, "x" * 9000, "x" * 200_000, "tökén", "a\x00b", "../../users"],
    ids=["none", "short", "fernet-like", "long", "huge", "umlauts", "nul", "path"],
)
def test_what_is_no_token_is_refused_fast(cloud: Devcloud, token: str) -> None:
    """It is 401 with the way to Keystone, never an error of ours, and takes no time."""
    with authenticator(cloud.clouds_yaml) as check:
        for first, second in ((token, None), (token, token)):
            began = time.monotonic()
            outcome = check(first, second)
            assert isinstance(outcome, Refusal)
            assert outcome.status == 401
            assert "Keystone uri=" in outcome.headers["WWW-Authenticate"]
            assert time.monotonic() - began < 5


@pytest.fixture
def service_token(cloud: Devcloud) -> Iterator[str]:
    """The token of another service, of a user with the role ``service``."""
    admin, keystone = session_of(cloud, "admin"), cloud.url("keystone")
    user = {"name": f"other-service-{uuid4().hex[:8]}", "password": "a-long-password"}
    made = admin.post(f"{keystone}/users", json={"user": {**user, "domain_id": "default"}})
    ident = made.json()["user"]["id"]
    roles = admin.get(f"{keystone}/roles?name=service").json()["roles"]
    role = roles or [
        admin.post(f"{keystone}/roles", json={"role": {"name": "service"}}).json()["role"]
    ]
    project = session_of(cloud, "jeroboam").get_project_id()
    admin.put(f"{keystone}/projects/{project}/users/{ident}/roles/{role[0]['id']}")
    options = {"username": user["name"], "password": user["password"]}
    yield logins.token_of(session_of(cloud, "jeroboam", **options))
    admin.delete(f"{keystone}/users/{ident}")


@pytest.fixture
def program_token(cloud: Devcloud) -> Iterator[str]:
    """The token of a user of programs in clusters, with a role in the tenant's project."""
    admin: Any = Connection(session=session_of(cloud, "admin")).identity
    domain = admin.find_domain(TRUSTEE_DOMAIN)
    user = admin.create_user(name=f"program-{uuid4()}", domain_id=domain.id, password="secret")
    project = logins.required(session_of(cloud).get_project_id())
    admin.assign_project_role_to_user(project, user, admin.find_role("member"))
    options = {"username": user.name, "password": "secret", "user_domain_name": TRUSTEE_DOMAIN}
    yield logins.token_of(session_of(cloud, **options))
    admin.delete_user(user)


@pytest.mark.parametrize(
    ("domain", "code"), [(TRUSTEE_DOMAIN, 403), (TRUSTEE_DOMAIN.upper(), 403), ("", 200)]
)
def test_programs_in_clusters_are_refused(
    cloud: Devcloud, program_token: str, domain: str, code: int
) -> None:
    """Whatever their roles; without the setting nobody knows that they are programs."""
    with authenticator(cloud.clouds_yaml, trustee_domain=domain) as check:
        assert status(check(program_token)) == code
        assert status(check(logins.token_of(session_of(cloud)))) == 200


def expired_token(cloud: Devcloud) -> str:
    """Return a token whose time is over: that of a trust which ends in a moment."""
    trustor, trustee = session_of(cloud), session_of(cloud, "demo-reader")
    expiry = datetime.now(UTC) + timedelta(seconds=3)
    trust = {
        "trustor_user_id": trustor.get_user_id(),
        "trustee_user_id": trustee.get_user_id(),
        "project_id": trustor.get_project_id(),
        "impersonation": True,
        "expires_at": expiry.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
        "roles": [{"name": "member"}, {"name": "reader"}],
    }
    made = trustor.post("/OS-TRUST/trusts", json={"trust": trust}, endpoint_filter=IDENTITY)
    given = {"trust_id": made.json()["trust"]["id"], **logins.NO_PROJECT}
    token = logins.token_of(session_of(cloud, "demo-reader", **given))
    time.sleep(max(0.0, (expiry - datetime.now(UTC)).total_seconds()) + 1)
    return token


def test_a_service_may_bring_an_expired_token(cloud: Devcloud, service_token: str) -> None:
    """A service that goes on with a user's request vouches for the token; users cannot."""
    token, user = expired_token(cloud), logins.token_of(session_of(cloud))
    with authenticator(cloud.clouds_yaml) as check:
        outcome = check(token, service_token)
        assert isinstance(outcome, Identity)
        # It was that of a trust, whose token acts for the one who gave the trust.
        assert outcome.user_id == session_of(cloud).get_user_id()
        assert status(check(token)) == 401
        assert status(check(token, user)) == 401
        assert status(check(token, "made-up")) == 401


@contextmanager
def application_credential(owner: Session, keystone: str, **fields: Any) -> Iterator[Session]:
    user = f"{keystone}/users/{owner.get_user_id()}/application_credentials"
    body = {"name": f"test-{uuid4().hex}", "secret": "s3cret", **fields}
    made = owner.post(user, json={"application_credential": body}).json()
    ident = made["application_credential"]["id"]
    login = v3.ApplicationCredential(
        keystone, application_credential_id=ident, application_credential_secret="s3cret"
    )
    try:
        yield Session(login, timeout=TIMEOUT)
    finally:
        owner.delete(f"{user}/{ident}")


@pytest.mark.parametrize("unrestricted", [False, True], ids=["restricted", "unrestricted"])
def test_application_credentials(cloud: Devcloud, unrestricted: bool) -> None:
    """Their tokens are let in as their owner's; that they can make no trust is said in words."""
    owner = session_of(cloud)
    with (
        application_credential(owner, cloud.url("keystone"), unrestricted=unrestricted) as session,
        authenticator(cloud.clouds_yaml) as check,
    ):
        token = logins.token_of(session)
        identity = check(token)
        assert isinstance(identity, Identity)
        assert identity.user_id == owner.get_user_id()
        assert identity.project_id == owner.get_project_id()
        assert "member" in identity.roles
        with pytest.raises(NotAuthorizedError, match="Log in with a password"):
            Cloud("jeroboam", timeout_seconds=TIMEOUT).create_trust(token, identity)


def test_an_application_credential_of_some_roles(cloud: Devcloud) -> None:
    """It carries no other roles than those that it was given."""
    owner, roles = session_of(cloud), [{"name": "reader"}]
    with (
        application_credential(owner, cloud.url("keystone"), roles=roles) as session,
        authenticator(cloud.clouds_yaml) as check,
    ):
        identity = check(logins.token_of(session))
        assert isinstance(identity, Identity)
        assert identity.roles == ("reader",)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"), "authority")


def clouds_with(cloud: Devcloud, file: Path, port: int, **options: Any) -> Path:
    """Write a clouds.yaml whose service user logs in at the front."""
    auth = {**cloud.credentials("jeroboam"), "auth_url": f"https://127.0.0.1:{port}/v3"}
    entry = {"auth": auth, "region_name": "RegionOne", "identity_api_version": "3", **options}
    file.write_text(yaml.safe_dump({"clouds": {"jeroboam": entry}}))
    return file


def trial(clouds: Path, token: str) -> tuple[int, bool]:
    """Return how a token fares, and whether the service user gets in."""
    with authenticator(clouds) as check:
        outcome = status(check(token))
        access = Cloud("jeroboam", timeout_seconds=20)
        try:
            access.service_user_id()
        except CloudUnavailableError:
            return outcome, False
        return outcome, True


@pytest.mark.parametrize(
    ("options", "works"),
    [
        ({}, False),
        ({"cacert": "authority"}, True),
        ({"cacert": "stranger"}, False),
        ({"verify": False}, True),
    ],
    ids=["no CA", "the CA", "another CA", "insecure"],
)
@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_tls(
    cloud: Devcloud, tmp_path: Path, authority: Authority, options: dict[str, Any], works: bool
) -> None:
    """Keystone's certificate is checked by the CA of clouds.yaml, unless that says not to."""
    token = logins.token_of(session_of(cloud))
    if "cacert" in options:
        known = {"authority": authority, "stranger": Authority(tmp_path, "stranger")}
        options = {"cacert": str(known[options["cacert"]].file)}
    target = urlsplit(cloud.url("keystone"))
    with tls_front((str(target.hostname), int(target.port or 0)), authority) as front:
        clouds = clouds_with(cloud, tmp_path / "clouds.yaml", front.port, **options)
        assert trial(clouds, token) == ((200, True) if works else (503, False))
        assert (front.served > 0) is works


@pytest.mark.parametrize("shown", [True, False], ids=["with", "without"])
def test_a_client_s_certificate(
    cloud: Devcloud, tmp_path: Path, authority: Authority, shown: bool
) -> None:
    """A Keystone that asks for a certificate gets the one of clouds.yaml."""
    token, clients = logins.token_of(session_of(cloud)), Authority(tmp_path, "clients")
    certificate, key = clients.issue("jeroboam")
    options = {"cert": str(certificate), "key": str(key)} if shown else {}
    target = urlsplit(cloud.url("keystone"))
    address = (str(target.hostname), int(target.port or 0))
    with tls_front(address, authority, clients=clients) as front:
        clouds = clouds_with(
            cloud, tmp_path / "clouds.yaml", front.port, cacert=str(authority.file), **options
        )
        assert trial(clouds, token) == ((200, True) if shown else (503, False))
