"""Sessions and trusts, on a real Keystone and with a real Heat."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from keystoneauth1.exceptions import ClientException
from keystoneauth1.identity import v3
from keystoneauth1.session import Session

from devcloud import Devcloud, Fault
from jeroboam import cloud as product
from jeroboam.cloud import Cloud
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    CredentialRejectedError,
    JeroboamError,
    NotAuthorizedError,
)
from tests import logins

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
]

TIMEOUT = 10.0
STACK = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
        "later": {
            "type": "OS::Heat::TestResource",
            "depends_on": "handle",
            "properties": {"value": "1", "action_wait_secs": {"create": 1}},
        },
    },
}


class Requester:
    """A user of the cloud with the token of a request."""

    def __init__(self, devcloud: Devcloud, name: str, **options: Any) -> None:
        self.session = Session(logins.password(devcloud, name, **options), timeout=TIMEOUT)
        self.token = logins.token_of(self.session)
        self.identity = logins.identity_of(self.session)


@pytest.fixture(scope="module")
def access(cloud: Devcloud) -> Iterator[Cloud]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(cloud.clouds_yaml))
        yield Cloud("jeroboam", timeout_seconds=TIMEOUT)


@pytest.fixture(scope="module")
def member(cloud: Devcloud) -> Requester:
    return Requester(cloud, "demo")


@pytest.fixture(scope="module")
def admin(cloud: Devcloud) -> Requester:
    return Requester(cloud, "admin")


@pytest.fixture
def trust(access: Cloud, member: Requester) -> Iterator[str]:
    trust_id = access.create_trust(member.token, member.identity)
    yield trust_id
    access.delete_trust(trust_id)


def _trust(cloud: Devcloud, session: Session, trust_id: str) -> dict[str, Any]:
    answer = session.get(f"{cloud.url('keystone')}/OS-TRUST/trusts/{trust_id}")
    found: dict[str, Any] = answer.json()["trust"]
    return found


def test_knows_its_cloud(access: Cloud, cloud: Devcloud) -> None:
    """Name, region, interface and Keystone's URL are those of clouds.yaml."""
    assert (access.name, access.region, access.interface) == ("jeroboam", "RegionOne", "public")
    assert access.auth_url == cloud.url("keystone")
    assert access.service_user_id() == Requester(cloud, "jeroboam").identity.user_id
    assert access.service_session() is access.service_session()


def test_worker_acts_for_the_owner(access: Cloud, member: Requester, trust: str) -> None:
    """By the trust the worker is the owner, in the owner's project, without administration."""
    session = access.tenant_session(trust)
    token = logins.access_of(session)
    assert token.user_id == member.identity.user_id
    assert token.project_id == member.identity.project_id
    assert "member" in (token.role_names or ())
    assert access.tenant_session(trust) is session
    images = session.get("/v2/images", endpoint_filter={"service_type": "image"})
    assert images.status_code == 200


def test_worker_stays_out_of_other_projects(
    access: Cloud, cloud: Devcloud, member: Requester, trust: str
) -> None:
    """By the trust the worker reaches no other project, whatever the service user may do."""
    session = access.tenant_session(trust)
    other = Requester(cloud, "other").identity.project_id
    heat = cloud.url("heat").replace("%(project_id)s", other)
    with pytest.raises(NotAuthorizedError), translate_cloud_errors("Heat"):
        session.get(f"{heat}/stacks")
    with pytest.raises(JeroboamError), translate_cloud_errors("Keystone"):
        session.get(f"{cloud.url('keystone')}/projects/{other}")
    rescoped = v3.Token(cloud.url("keystone"), logins.token_of(session), project_id=other)
    with pytest.raises(ClientException):
        Session(rescoped, timeout=TIMEOUT).get_token()


def test_heat_delegates_further(access: Cloud, cloud: Devcloud, member: Requester) -> None:
    """Heat accepts a stack made by the trust, and its own trust goes with ours."""
    trust_id = access.create_trust(member.token, member.identity)
    session = access.tenant_session(trust_id)
    heat = {"service_type": "orchestration"}
    body = {"stack_name": f"trust-{uuid4().hex[:8]}", "template": STACK, "timeout_mins": 1}
    with translate_cloud_errors("Heat"):
        created = session.post("/stacks", json=body, endpoint_filter=heat).json()["stack"]
        stack = f"/stacks/{body['stack_name']}/{created['id']}"
        assert _settled(session, stack) == "CREATE_COMPLETE"
        session.delete(stack, endpoint_filter=heat)
        assert _settled(session, stack) == "DELETE_COMPLETE"
    access.delete_trust(trust_id)
    listed = member.session.get(
        f"{cloud.url('keystone')}/OS-TRUST/trusts",
        params={"trustor_user_id": member.identity.user_id},
    )
    left = [found for found in listed.json()["trusts"] if found["redelegated_trust_id"] == trust_id]
    assert left == []


def _settled(session: Session, stack: str) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        answer = session.get(stack, endpoint_filter={"service_type": "orchestration"})
        status: str = answer.json()["stack"]["stack_status"]
        if not status.endswith("_IN_PROGRESS"):
            return status
        time.sleep(0.3)
    raise AssertionError(f"{stack} is still {status}")


def test_trust_is_narrow(access: Cloud, cloud: Devcloud) -> None:
    """An administrator who is also a member delegates the member's roles only."""
    both = Requester(cloud, "demo-admin")
    assert "admin" in both.identity.roles
    trust_id = access.create_trust(both.token, both.identity)
    found = _trust(cloud, both.session, trust_id)
    access.delete_trust(trust_id)
    assert {role["name"] for role in found["roles"]} == {"member", "reader"}
    assert found["impersonation"] is True
    assert found["trustee_user_id"] == access.service_user_id()
    assert found["redelegation_count"] == 1


def test_trust_names_implied_roles(access: Cloud, cloud: Devcloud, admin: Requester) -> None:
    """Roles that a delegated one implies are in the trust, or Heat could not pass them on."""
    with _new_user(cloud, admin) as (user_name, role_name, implied_name):
        builder = Requester(cloud, "demo", username=user_name)
        identity = builder.identity.model_copy(update={"roles": (role_name,)})
        trust_id = access.create_trust(builder.token, identity)
        found = _trust(cloud, builder.session, trust_id)
        access.delete_trust(trust_id)
    assert {role["name"] for role in found["roles"]} == {role_name, implied_name}


@contextmanager
def _new_user(cloud: Devcloud, admin: Requester) -> Iterator[tuple[str, str, str]]:
    """Make a user of project demo with a role that implies another; give all their names."""
    keystone, suffix = cloud.url("keystone"), uuid4().hex[:8]

    def create(kind: str, **values: Any) -> dict[str, Any]:
        made = admin.session.post(f"{keystone}/{kind}s", json={kind: values}).json()
        found: dict[str, Any] = made[kind]
        return found

    project = Requester(cloud, "demo").identity.project_id
    user = create("user", name=f"builder-{suffix}", password="devcloud")
    role, implied = (create("role", name=f"{name}-{suffix}") for name in ("build", "implied"))
    admin.session.put(f"{keystone}/roles/{role['id']}/implies/{implied['id']}")
    admin.session.put(f"{keystone}/projects/{project}/users/{user['id']}/roles/{role['id']}")
    try:
        yield user["name"], role["name"], implied["name"]
    finally:
        for path in (f"users/{user['id']}", f"roles/{role['id']}", f"roles/{implied['id']}"):
            admin.session.delete(f"{keystone}/{path}")


def test_reader_has_nothing_to_delegate(access: Cloud, cloud: Devcloud) -> None:
    """Who may only read is told which role is missing, before Keystone is asked for a trust."""
    reader = Requester(cloud, "demo-reader")
    with pytest.raises(NotAuthorizedError, match="'member'"):
        access.create_trust(reader.token, reader.identity)


def test_application_credential_cannot_delegate(
    access: Cloud, cloud: Devcloud, member: Requester
) -> None:
    """A restricted application credential makes no trust, and the user learns what would."""
    keystone = cloud.url("keystone")
    user = f"{keystone}/users/{member.identity.user_id}/application_credentials"
    body = {"application_credential": {"name": f"test-{uuid4().hex}", "secret": "restricted"}}
    credential = member.session.post(user, json=body).json()["application_credential"]
    login = v3.ApplicationCredential(
        keystone,
        application_credential_id=credential["id"],
        application_credential_secret="restricted",
    )
    try:
        session = Session(login, timeout=TIMEOUT)
        with pytest.raises(NotAuthorizedError, match="Log in with a password"):
            access.create_trust(str(session.get_token()), member.identity)
        # Its token cannot be exchanged for another, and must do as it is.
        own = access.token_session(str(session.get_token()), member.identity.project_id)
        assert own.get_user_id() == member.identity.user_id
    finally:
        member.session.delete(f"{user}/{credential['id']}")


def test_deleted_trust_is_rejected(access: Cloud, member: Requester) -> None:
    """After its deletion a trust opens nothing, and deleting it again is no error."""
    trust_id = access.create_trust(member.token, member.identity)
    session = access.tenant_session(trust_id)
    access.delete_trust(trust_id)
    access.delete_trust(trust_id)
    with pytest.raises(CredentialRejectedError, match="owner"):
        access.tenant_session(trust_id)
    with pytest.raises(CredentialRejectedError), translate_cloud_errors("Heat"):
        session.get("/stacks", endpoint_filter={"service_type": "orchestration"})


@pytest.mark.parametrize("trust_id", [None, "0" * 32, "not/an/id"])
def test_there_is_no_such_trust(access: Cloud, trust_id: str | None) -> None:
    """A cluster without a trust, or with one that never was, gets no session."""
    with pytest.raises(CredentialRejectedError):
        access.tenant_session(trust_id)
    if trust_id:
        access.delete_trust(trust_id)


def test_trust_of_a_disabled_owner(access: Cloud, cloud: Devcloud, admin: Requester) -> None:
    """When the owner was disabled the trust opens nothing; it can still be deleted."""
    keystone = cloud.url("keystone")
    with _new_user(cloud, admin) as (user_name, _role, _implied):
        leaver = Requester(cloud, "demo", username=user_name)
        trust_id = access.create_trust(leaver.token, leaver.identity)
        change = {"user": {"enabled": False}}
        admin.session.patch(f"{keystone}/users/{leaver.identity.user_id}", json=change)
        fresh = Cloud("jeroboam", timeout_seconds=TIMEOUT)
        with pytest.raises(CredentialRejectedError, match="disabled"):
            fresh.tenant_session(trust_id)
        fresh.delete_trust(trust_id)
        with pytest.raises(ClientException):
            _trust(cloud, admin.session, trust_id)


def test_token_session_is_the_requesters(access: Cloud, member: Requester) -> None:
    """The requester's token is used as it is, for the requester's project only."""
    session = access.token_session(member.token, member.identity.project_id)
    assert session.get_token() == member.token
    images = session.get("/v2/images", endpoint_filter={"service_type": "image"})
    assert images.status_code == 200
    with pytest.raises(NotAuthorizedError, match="another"):
        access.token_session(member.token, "another")
    with pytest.raises(NotAuthorizedError, match="Log in"):
        access.token_session("gAAAA" + "nonsense" * 5, member.identity.project_id)


def test_threads_share_it(access: Cloud, trust: str) -> None:
    """Many threads that ask at once get one session and make one log-in."""
    fresh = Cloud("jeroboam", timeout_seconds=TIMEOUT)
    barrier = threading.Barrier(8)

    def ask(_number: int) -> Session:
        barrier.wait(TIMEOUT)
        return fresh.tenant_session(trust)

    with ThreadPoolExecutor(8) as threads:
        sessions = list(threads.map(ask, range(8)))
    assert len({id(session) for session in sessions}) == 1


def test_cache_is_bounded(
    access: Cloud, member: Requester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more trusts than the cache holds, the one that was used longest ago is dropped."""
    monkeypatch.setattr(product, "MAX_TENANT_SESSIONS", 1)
    trusts = [access.create_trust(member.token, member.identity) for _ in range(2)]
    first = access.tenant_session(trusts[0])
    access.tenant_session(trusts[1])
    assert len(access._tenants) == 1
    assert access.tenant_session(trusts[0]) is not first
    for trust_id in trusts:
        access.delete_trust(trust_id)
    assert len(access._tenants) == 0


def _calls(access: Cloud, member: Requester) -> list[Callable[[], object]]:
    return [
        access.service_user_id,
        lambda: access.tenant_session("0" * 32),
        lambda: access.token_session(member.token, member.identity.project_id),
        lambda: access.create_trust(member.token, member.identity),
        lambda: access.delete_trust("0" * 32),
    ]


def test_keystone_fails(access: Cloud, cloud: Devcloud, member: Requester) -> None:
    """A Keystone that answers 503 is unavailable, for whatever is asked."""
    fresh = Cloud("jeroboam", timeout_seconds=TIMEOUT)
    cloud.add_fault(Fault(target="api", action="fail", service="keystone", status=503))
    try:
        for call in _calls(fresh, member):
            with pytest.raises(CloudUnavailableError):
                call()
    finally:
        cloud.clear_faults()
    assert fresh.service_user_id() == access.service_user_id()


def test_keystone_is_silent(access: Cloud, member: Requester, tmp_path: Path) -> None:
    """A Keystone that takes the connection and never answers costs one time-out at most."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        cloud = _cloud_at(tmp_path, f"http://127.0.0.1:{port}/v3", timeout_seconds=0.5)
        for call in _calls(cloud, member):
            began = time.monotonic()
            with pytest.raises(CloudUnavailableError):
                call()
            assert time.monotonic() - began < 5


def test_keystone_is_down(access: Cloud, member: Requester, tmp_path: Path) -> None:
    """A Keystone that refuses connections is unavailable at once."""
    cloud = _cloud_at(tmp_path, "http://127.0.0.1:1/v3", timeout_seconds=TIMEOUT)
    for call in _calls(cloud, member):
        with pytest.raises(CloudUnavailableError):
            call()


def _cloud_at(directory: Path, auth_url: str, *, timeout_seconds: float, **auth: str) -> Cloud:
    """Return the access to a cloud with a file of its own."""
    lines = ["clouds:", "  own:", "    auth:"]
    login = {"auth_url": auth_url, "username": "jeroboam", "password": "secret-word"} | auth
    login |= {"project_name": "service", "user_domain_name": "Default"}
    lines += [f"      {name}: {value}" for name, value in login.items() if value]
    lines += ["      project_domain_name: Default"]
    path = directory / "clouds.yaml"
    path.write_text("\n".join(lines))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OS_CLIENT_CONFIG_FILE", str(path))
        return Cloud("own", timeout_seconds=timeout_seconds)


def test_wrong_password_of_the_service_user(cloud: Devcloud, tmp_path: Path) -> None:
    """A wrong password in clouds.yaml is a rejected credential, and is not shown."""
    own = _cloud_at(tmp_path, cloud.url("keystone"), timeout_seconds=TIMEOUT)
    with pytest.raises(CredentialRejectedError) as caught:
        own.service_user_id()
    assert "secret-word" not in str(caught.value)


def test_unknown_entry(access: Cloud) -> None:
    """An entry that clouds.yaml does not have names the setting."""
    with pytest.raises(ConfigurationError, match="JEROBOAM_CLOUD"):
        Cloud("nowhere", timeout_seconds=TIMEOUT)


def test_nothing_secret_is_shown(
    access: Cloud, member: Requester, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither reprs nor logs, not even those for debugging, hold a password or a token."""
    with caplog.at_level(logging.DEBUG):
        fresh = Cloud("jeroboam", timeout_seconds=TIMEOUT)
        trust_id = fresh.create_trust(member.token, member.identity)
        session = fresh.tenant_session(trust_id)
        tenant_token = str(session.get_token())
        fresh.token_session(member.token, member.identity.project_id)
        fresh.delete_trust(trust_id)
    assert "OS-TRUST" in caplog.text
    shown = f"{fresh!r} {session!r} {caplog.text}"
    for secret in (member.token, tenant_token, '"password": "devcloud"'):
        assert secret not in shown


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (("member", "reader", "admin"), ("member", "reader")),
        (("Member", "creator", "auditor"), ("Member", "creator")),
        (("admin",), ("admin",)),
        (("admin", "reader"), ("admin", "reader")),
        (("cluster-builder",), ("cluster-builder",)),
    ],
)
def test_choice_of_roles(roles: tuple[str, ...], expected: tuple[str, ...]) -> None:
    """Known roles are enough; without them everything that the requester has is delegated."""
    assert product.delegated_roles(roles) == expected
