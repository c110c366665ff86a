"""Who is let in, against a real Keystone."""

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from devcloud.credentials import TRUSTEE_DOMAIN
from tests import logins
from tests.acceptance.stack import JEROBOAM, Stack, running_stack, wait_for

IDENTITY = {"service_type": "identity", "version": "3"}


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("authentication")) as stack:
        yield stack


@pytest.fixture(scope="module")
def demo(stack: Stack) -> Connection:
    return stack.connect("demo")


@pytest.fixture(scope="module")
def template(demo: Connection) -> Iterator[str]:
    """A template and a cluster of the project ``demo``."""
    magnum = demo.container_infrastructure_management
    created = magnum.create_cluster_template(name="isolated", coe="kubernetes", image_id="fake-os")
    yield str(created.id)
    magnum.delete_cluster_template(created.id)


def new_session(cloud: Devcloud, name: str = "demo", **options: Any) -> Session:
    """Log in afresh, so that no test gets the token of another."""
    return Session(auth=logins.password(cloud, name, **options))


def get(stack: Stack, token: str | None, path: str = "/v1/clusters", **headers: str) -> Any:
    sent = {"X-Auth-Token": token} if token else {}
    return httpx.get(f"{stack.url}{path}", headers=sent | headers, timeout=60)


def title(response: httpx.Response) -> str:
    return str(response.json()["errors"][0]["title"])


@pytest.mark.parametrize("token", [None, "nonsense", "gAAAAA" + "x" * 180])
def test_no_valid_token_is_401_with_the_way_to_keystone(stack: Stack, token: str | None) -> None:
    """Missing and made-up tokens are refused, and the header says where to log in."""
    response = get(stack, token)
    assert response.status_code == 401
    assert title(response) == "The request you have made requires authentication"
    keystone = stack.cloud.url("keystone")
    assert response.headers["www-authenticate"] == f'Keystone uri="{keystone}"'
    assert re.fullmatch(r"req-[0-9a-f-]{36}", response.headers["x-openstack-request-id"])


def test_a_revoked_token_is_401(stack: Stack) -> None:
    """A token that Keystone took back does not open anything."""
    session = new_session(stack.cloud)
    token = str(session.get_token())
    session.delete("/auth/tokens", endpoint_filter=IDENTITY, headers={"X-Subject-Token": token})
    assert get(stack, token).status_code == 401


def test_an_expired_token_is_401_although_it_was_cached(stack: Stack) -> None:
    """A token that was good a moment ago is refused once its time is over."""
    session = new_session(stack.cloud)
    trustor = session.get_user_id()
    trustee = new_session(stack.cloud, "demo-reader")
    expiry = datetime.now(UTC) + timedelta(seconds=4)
    trust = {
        "trustor_user_id": trustor,
        "trustee_user_id": trustee.get_user_id(),
        "project_id": session.get_project_id(),
        "impersonation": True,
        "expires_at": expiry.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
        "roles": [{"name": "member"}, {"name": "reader"}],
    }
    made = session.post("/OS-TRUST/trusts", json={"trust": trust}, endpoint_filter=IDENTITY)
    given = {"trust_id": made.json()["trust"]["id"], **logins.NO_PROJECT}
    bounded = new_session(stack.cloud, "demo-reader", **given)
    token = str(bounded.get_token())
    assert get(stack, token).status_code == 200
    time.sleep(max(0.0, (expiry - datetime.now(UTC)).total_seconds()) + 1)
    assert get(stack, token).status_code == 401


def test_a_token_without_a_project_is_403(stack: Stack) -> None:
    """A token that is not scoped to a project says nothing about whose clusters are meant."""
    unscoped = new_session(stack.cloud, "demo", **logins.NO_PROJECT | {"unscoped": True})
    response = get(stack, str(unscoped.get_token()))
    assert response.status_code == 403
    assert title(response) == "The token is not scoped to a project"


def test_claimed_identities_count_for_nothing(stack: Stack) -> None:
    """Identity headers of a client neither let it in nor give it other roles."""
    forged = {"X-Identity-Status": "Confirmed", "X-Roles": "admin", "X-User-Id": "x"}
    assert get(stack, None, **forged).status_code == 401
    token = str(new_session(stack.cloud).get_token())
    assert get(stack, token, "/v1/mservices", **forged).status_code == 403


def test_projects_are_isolated(stack: Stack, template: str) -> None:
    """Another project neither lists, shows, changes nor uses what it does not own."""
    other = str(new_session(stack.cloud, "other").get_token())
    path = f"/v1/clustertemplates/{template}"
    assert get(stack, other, path).status_code == 404
    assert get(stack, other, "/v1/clustertemplates").json() == {"clustertemplates": []}
    headers = {"X-Auth-Token": other, "OpenStack-API-Version": "container-infra latest"}
    for method, body in (("PATCH", []), ("DELETE", None)):
        response = httpx.request(method, f"{stack.url}{path}", json=body, headers=headers)
        assert response.status_code == 404
    response = httpx.post(
        f"{stack.url}/v1/clusters", json={"cluster_template_id": template}, headers=headers
    )
    assert response.status_code == 404


def test_roles_decide(stack: Stack, template: str) -> None:
    """A reader reads and does not write; an admin sees the other project's template too."""
    path = f"/v1/clustertemplates/{template}"
    reader = str(new_session(stack.cloud, "demo-reader").get_token())
    assert get(stack, reader, path).status_code == 200
    response = httpx.delete(f"{stack.url}{path}", headers={"X-Auth-Token": reader})
    assert response.status_code == 403
    assert title(response) == "Policy doesn't allow clustertemplate:delete to be performed"
    admin = str(new_session(stack.cloud, "other-admin").get_token())
    assert get(stack, admin, path).status_code == 200


def test_keystone_down_is_503_and_known_tokens_still_work(stack: Stack) -> None:
    """Without Keystone a new token cannot be checked, which is no error of ours or the user."""
    known, unknown = (str(new_session(stack.cloud).get_token()) for _ in range(2))
    assert get(stack, known).status_code == 200
    stack.cloud.add_fault(
        Fault(target="api", action="drop", service="keystone", path="auth/tokens")
    )
    try:
        response = get(stack, unknown)
        assert response.status_code == 503
        assert title(response).startswith("The Keystone service is temporarily unavailable")
        assert get(stack, known).status_code == 200
    finally:
        stack.cloud.clear_faults()
    assert get(stack, unknown).status_code == 200


def test_health_needs_no_token_and_names_the_services(stack: Stack) -> None:
    """A load balancer can ask without a token; the detailed answer names what is up."""
    assert get(stack, None, "/healthcheck").text == "OK"
    detailed = get(stack, None, "/healthcheck?detailed")
    assert detailed.json() == {
        "status": "ok",
        "services": {"database": "ok", "keystone": "ok", "temporal": "ok"},
    }


def test_no_token_is_in_the_log(stack: Stack) -> None:
    """The log has a line per request and no token of any of them."""
    token = str(new_session(stack.cloud).get_token())
    assert get(stack, token).status_code == 200
    log = stack.api.log.read_text()
    assert '"path": "/v1/clusters"' in log
    assert token not in log
    assert "gAAAAA" not in log


@pytest.fixture(scope="module")
def cluster(demo: Connection, template: str) -> Iterator[str]:
    """A cluster of the project ``demo``, of the fake driver."""
    magnum = demo.container_infrastructure_management
    uuid = str(magnum.create_cluster(name="guarded", cluster_template_id=template).id)
    wait_for(lambda: magnum.get_cluster(uuid).status == "CREATE_COMPLETE", 60, "the cluster")
    yield uuid
    magnum.delete_cluster(uuid)
    wait_for(lambda: magnum.find_cluster(uuid) is None, 60, "the cluster's end")


# Columns: demo (its owner), demo-reader, other, other-admin; deletes by force come last.
REAL: tuple[tuple[str, str, Any, tuple[int, ...]], ...] = (
    ("GET", "", None, (200, 200, 404, 200)),
    ("GET", "/nodegroups", None, (200, 200, 404, 200)),
    ("GET", "/operations", None, (200, 200, 404, 200)),
    ("GET", "/nodes", None, (200, 200, 404, 200)),
    (
        "PUT",
        "/maintenance_window",
        {"start": "03:00", "duration_minutes": 60},
        (200, 403, 404, 200),
    ),
    ("POST", "/actions/rebuild?dry_run=true", {}, (200, 403, 404, 200)),
    ("PATCH", "?dry_run=true", [], (200, 403, 404, 200)),
    ("DELETE", "?dry_run=true", None, (200, 403, 404, 200)),
    ("DELETE", "?force=true&dry_run=true", None, (403, 403, 404, 200)),
)


@pytest.mark.parametrize(
    ("method", "path", "body", "codes"), REAL, ids=lambda value: str(value)[:30]
)
def test_real_tokens_get_what_the_isolation_matrix_says(
    stack: Stack, cluster: str, method: str, path: str, body: Any, codes: tuple[int, ...]
) -> None:
    """What the matrix shows with made-up people holds with the roles of a real Keystone."""
    for person, code in zip(("demo", "demo-reader", "other", "other-admin"), codes, strict=True):
        token = str(new_session(stack.cloud, person).get_token())
        headers = {"X-Auth-Token": token, "OpenStack-API-Version": "container-infra latest"}
        url = f"{stack.url}/v1/clusters/{cluster}{path}"
        answer = httpx.request(method, url, headers=headers, json=body, timeout=60)
        assert answer.status_code == code, f"{person}: {answer.text}"


def test_application_credentials_work_for_all_that_needs_no_trust(
    stack: Stack, template: str
) -> None:
    """Programs log in by application credentials, and do as their owners."""
    owner, keystone = new_session(stack.cloud), stack.cloud.url("keystone")
    user, name = owner.get_user_id(), "test-application"
    path = f"{keystone}/users/{user}/application_credentials"
    body = {"application_credential": {"name": name, "secret": "s3cret"}}
    ident = owner.post(path, json=body).json()["application_credential"]["id"]
    session = Session(
        v3.ApplicationCredential(
            keystone, application_credential_id=ident, application_credential_secret="s3cret"
        )
    )
    headers = {
        "X-Auth-Token": str(session.get_token()),
        "OpenStack-API-Version": "container-infra latest",
    }
    with httpx.Client(base_url=stack.url, headers=headers, timeout=60) as client:
        wish = {"name": name, "cluster_template_id": template}
        created = client.post("/v1/clusters", json=wish)
        assert created.status_code == 202, created.text
        path = f"/v1/clusters/{created.json()['uuid']}"
        assert client.get(path).json()["user_id"] == user

        def ready() -> bool:
            return str(client.get(path).json()["status"]) == "CREATE_COMPLETE"

        wait_for(ready, 60, "the cluster")
        assert client.get(f"{path}/operations").status_code == 200
        assert client.post(f"{path}/actions/check_health").status_code == 202
        assert client.delete(path).status_code == 204
        wait_for(lambda: client.get(path).status_code == 404, 60, "the cluster's end")


def doctor(stack: Stack, **settings: str) -> tuple[int, dict[str, Any]]:
    """Return the exit code of ``jeroboam doctor``, and its findings by what was looked at."""
    done = subprocess.run(
        [str(JEROBOAM), "doctor", "-f", "json", "--timeout", "40"],
        env={**os.environ, **stack.environment, **settings},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    return done.returncode, {one["check"]: one for one in json.loads(done.stdout)}


def test_the_doctor_finds_nothing_wrong(stack: Stack) -> None:
    """With all parts at work every line is ok, or a hint at most."""
    code, found = doctor(stack)
    assert code == 0, found
    for check in (
        *("settings", "secrets key", "database", "temporal", "search attributes"),
        *("queue jeroboam", "queue jeroboam-poll", "cloud", "service user", "trustee domain"),
        *("catalogue orchestration", "catalogue container-infra"),
    ):
        assert found[check]["state"] == "ok", found[check]
    assert f"on '{TRUSTEE_DOMAIN}'" in found["trustee domain"]["detail"]


def test_the_doctor_bears_a_cloud_without_a_domain(stack: Stack) -> None:
    """Without the setting it says what does not work, which is no defect."""
    code, found = doctor(stack, JEROBOAM_TRUSTEE_DOMAIN="")
    assert (code, found["trustee domain"]["state"]) == (0, "ok")
    assert "refused" in found["trustee domain"]["detail"]


@pytest.fixture
def new_domain(stack: Stack) -> Iterator[Callable[[str], str]]:
    """Makes domains on which user ``jeroboam`` has one role."""
    admin: Any = stack.connect("admin").identity
    user = admin.find_user("jeroboam", domain_id="default")
    made = []

    def make(role: str) -> str:
        domain = admin.create_domain(name=f"domain-{uuid4()}")
        made.append(domain)
        admin.assign_domain_role_to_user(domain, user, admin.find_role(role))
        return str(domain.name)

    yield make
    for domain in made:
        admin.update_domain(domain, is_enabled=False)
        admin.delete_domain(domain)


@pytest.mark.parametrize(
    ("role", "state", "words"),
    [
        ("admin", "ok", "where 0 users are"),
        ("manager", "ok", "the roles manager"),
        ("reader", "fail", "will not let it make users"),
        ("service", "fail", "not authorized"),
    ],
)
def test_the_doctor_tries_the_trustee_domain(
    stack: Stack, new_domain: Callable[[str], str], role: str, state: str, words: str
) -> None:
    """The service user must be one who may make users there; else the command is named."""
    domain = new_domain(role)
    code, found = doctor(stack, JEROBOAM_TRUSTEE_DOMAIN=domain)
    line = found["trustee domain"]
    assert (code, line["state"]) == (0 if state == "ok" else 1, state), line
    assert words in line["detail"]
    assert (domain in line["mend"]) == (state == "fail")


def test_the_doctor_mends_a_trustee_domain_that_is_missing(stack: Stack) -> None:
    """What it says to do, done by an administrator as it stands, makes the line ok."""
    setting = {"JEROBOAM_TRUSTEE_DOMAIN": f"domain-{uuid4()}"}
    code, found = doctor(stack, **setting)
    line = found["trustee domain"]
    assert (code, line["state"]) == (1, "fail")
    assert "The domain has to exist" in line["detail"]
    for command in line["mend"].split("; "):
        stack.openstack(*shlex.split(command)[1:], cloud="admin")
    try:
        assert doctor(stack, **setting)[1]["trustee domain"]["state"] == "ok"
    finally:
        admin: Any = stack.connect("admin").identity
        domain = admin.find_domain(setting["JEROBOAM_TRUSTEE_DOMAIN"])
        admin.update_domain(domain, is_enabled=False)
        admin.delete_domain(domain)


def test_policy_of_who_logs_in(stack: Stack) -> None:
    """``policy check --os-cloud`` says what the user of clouds.yaml may do."""
    for cloud, code in (("demo", 0), ("demo-reader", 3)):
        done = subprocess.run(
            [str(JEROBOAM), "policy", "check", "cluster:create", "--os-cloud", cloud],
            env={**os.environ, **stack.environment},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
