"""The user of a cluster's own, through the API, on a real Keystone, Heat and Nova.

One cluster is led from its birth, in the middle of which the worker dies, to its end. Programs in
it do not run here; what they log in with is read from where a master finds it, and used.
"""

import configparser
import json
import sys
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from keystoneauth1.exceptions import Forbidden, NotFound, Unauthorized
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from devcloud.credentials import TRUSTEE_DOMAIN
from jeroboam import accounts
from tests import logins
from tests.acceptance.stack import Stack, new_template, running_stack, wait_for
from tests.unit.drivers.heat import nodes

pytestmark = pytest.mark.timeout(300)

NAME = "account"
PROGRAMS = {
    "volume_driver": "cinder",
    "labels": {"cloud_provider_enabled": "true"},
    "keypair_id": "demo",
}
MAKE = "Make a user for programs in the cluster"
SLOW_KEYSTONE = Fault(
    target="api",
    service="keystone",
    method="POST",
    path="/users$",
    action="delay",
    seconds=3,
    count=1,
)
"""Holds the request for the new user back, so that the worker dies between asking and knowing."""

END_SECONDS = 150
LATEST = {"OpenStack-API-Version": "container-infra latest"}
IDENTITY = {"service_type": "identity", "version": "3"}


@dataclass(frozen=True)
class Account:
    """What a master's ``cloud.conf`` says."""

    text: str
    options: Mapping[str, str]

    @classmethod
    def read(cls, text: str) -> "Account":
        parser = configparser.ConfigParser(interpolation=None)
        parser.read_string(text)
        # Values are quoted as JSON quotes them.
        return cls(text, {name: json.loads(value) for name, value in parser["Global"].items()})

    @property
    def secrets(self) -> tuple[str, str]:
        """The password, and the trust that it is for."""
        return self.options["password"], self.options["trust-id"]

    def log_in(self) -> Session:
        """Log in as a program in the cluster does."""
        auth = v3.Password(
            self.options["auth-url"],
            user_id=self.options["user-id"],
            password=self.options["password"],
            trust_id=self.options["trust-id"],
        )
        session = Session(auth, timeout=60)
        session.get_token()
        return session


class World:
    """The cluster, and what the cloud itself says of it."""

    def __init__(self, stack: Stack, template: str) -> None:
        self.stack = stack
        self.template = template
        # Both have many versions, of which openstacksdk's types describe the oldest, too.
        self.tenant: Any = stack.connect()
        self.admin: Any = stack.connect("admin")
        self.magnum = self.tenant.container_infrastructure_management
        self.uuid = ""
        self._trusts_before = set(self._trusts())

    def create(self, query: str = "") -> Any:
        """Ask for a cluster, and return the answer."""
        body = {"name": NAME, "cluster_template_id": self.template}
        return self.magnum.post(f"/clusters{query}", json=body, headers=LATEST)

    def delete(self) -> None:
        self.magnum.delete_cluster(self.uuid, ignore_missing=True)
        wait_for(lambda: not list(self.magnum.clusters()), END_SECONDS, "the cluster is gone")

    def read(self, path: str, connection: Connection | None = None) -> str:
        """Return an answer of the product as text."""
        magnum: Any = (connection or self.tenant).container_infrastructure_management
        answer = magnum.get(path, headers=LATEST)
        assert answer.status_code == 200, f"{path}: {answer.text}"
        return str(answer.text)

    def operations(self) -> list[dict[str, Any]]:
        listed = json.loads(self.read(f"/clusters/{self.uuid}/operations"))
        return [json.loads(self.read(f"/operations/{one['uuid']}")) for one in listed["operations"]]

    def users(self) -> list[Any]:
        """Return the cluster's users in the domain for such users."""
        domain = self.admin.identity.find_domain(TRUSTEE_DOMAIN)
        listed = self.admin.identity.users(domain_id=domain.id)
        return [one for one in listed if one.name.startswith(f"jeroboam-{self.uuid}-")]

    def trusts(self) -> list[dict[str, Any]]:
        """Return the trusts of the tenant that were not there before the cluster."""
        return [one for ident, one in self._trusts().items() if ident not in self._trusts_before]

    def servers(self) -> list[Any]:
        return [one for one in self.tenant.compute.servers() if one.name.startswith(NAME)]

    def files(self, role: str) -> dict[str, str]:
        """Return the texts of a node's files by path, from what Nova gives to the machine."""
        (server,) = (one for one in self.servers() if f"-{role}-" in one.name)
        shown = self.admin.compute.get(f"/servers/{server.id}", microversion="2.3").json()
        document = b64decode(shown["server"]["OS-EXT-SRV-ATTR:user_data"])
        return nodes.files(json.loads(document))

    def account(self) -> Account:
        """Return what programs on the first master log in with."""
        return Account.read(self.files("master")["/etc/jeroboam/cloud.conf"])

    def _trusts(self) -> dict[str, dict[str, Any]]:
        mine = f"/OS-TRUST/trusts?trustor_user_id={logins.user_of(self.tenant)}"
        return {one["id"]: one for one in self.tenant.identity.get(mine).json()["trusts"]}


@pytest.fixture(scope="module")
def stack(cloud: Devcloud, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(cloud, tmp_path_factory.mktemp("account")) as stack:
        yield stack


@pytest.fixture(scope="module")
def world(stack: Stack) -> World:
    return World(stack, new_template(stack.connect(), NAME, **PROGRAMS))


@pytest.fixture(scope="module")
def cluster(world: World) -> Iterator[World]:
    """A cluster whose worker was killed while it made the user."""
    cloud, worker = world.stack.cloud, world.stack.worker
    fault = cloud.add_fault(SLOW_KEYSTONE)

    def asked() -> bool:
        return any(one.id == fault.id and one.matches for one in cloud.faults.rules())

    created = world.create()
    assert created.status_code == 202, created.text
    world.uuid = created.json()["uuid"]
    try:
        wait_for(asked, 60, "Keystone is asked for a user")
        worker.kill()
        wait_for(lambda: len(world.users()) == 1, 20, "Keystone makes it, and nobody listens")
        worker.command = [sys.executable, "-m", "tests.acceptance.hasty_worker"]
        worker.start()
        wait_for(lambda: settled(world), END_SECONDS, "the create ends")
        assert world.magnum.get_cluster(world.uuid).status == "CREATE_COMPLETE"
        yield world
    finally:
        cloud.clear_faults()
        world.delete()


@pytest.fixture(scope="module")
def account(cluster: World) -> Account:
    return cluster.account()


def settled(world: World) -> bool:
    return not world.magnum.get_cluster(world.uuid).status.endswith("_IN_PROGRESS")


def test_a_worker_that_dies_leaves_one_user(cluster: World, account: Account) -> None:
    """The next attempt found the user of the first one, and gave it one trust."""
    assert attempts(cluster, "make_account") > 1
    (operation,) = cluster.operations()
    (user,) = cluster.users()
    assert user.name == f"jeroboam-{cluster.uuid}-{operation['uuid']}"
    assert account.options["user-id"] == user.id
    (trust,) = (one for one in cluster.trusts() if one["trustee_user_id"] == user.id)
    assert account.options["trust-id"] == trust["id"]


def attempts(cluster: World, activity: str) -> int:
    """Return how often Temporal had to start an activity of the newest run."""
    events = json.loads(cluster.stack.temporal_history(cluster.uuid))["events"]
    (scheduled,) = (
        one["eventId"]
        for one in events
        if one.get("activityTaskScheduledEventAttributes", {}).get("activityType")
        == {"name": activity}
    )
    starts = (one.get("activityTaskStartedEventAttributes", {}) for one in events)
    started = (one for one in starts if one.get("scheduledEventId") == scheduled)
    return int(next(started)["attempt"])


def test_its_trust_is_narrow_and_below_the_clusters(cluster: World, account: Account) -> None:
    """It has fewer roles than the cluster's own, is no disguise, and cannot be delegated."""
    path = "/OS-TRUST/trusts"
    trust = cluster.tenant.identity.get(f"{path}/{account.options['trust-id']}").json()["trust"]
    parent = cluster.tenant.identity.get(f"{path}/{trust['redelegated_trust_id']}").json()["trust"]
    assert parent["id"] in {one["id"] for one in cluster.trusts()}
    assert parent["trustee_user_id"] == logins.user_of(cluster.stack.connect("jeroboam"))
    roles, more = ({role["name"] for role in one["roles"]} for one in (trust, parent))
    assert "member" in roles
    assert roles <= accounts.PROGRAM_ROLES
    assert roles < more
    assert (trust["redelegation_count"], trust["impersonation"]) == (0, False)
    assert trust["project_id"] == logins.project_of(cluster.tenant)


def test_programs_work_in_the_project(cluster: World, account: Account) -> None:
    """They see servers and ports of the cluster's project, with what the first master has."""
    session = account.log_in()
    found = Connection(session=session, region_name=account.options["region"])
    assert {one.id for one in cluster.servers()} <= {one.id for one in found.compute.servers()}
    assert list(found.network.ports())
    assert found.current_project_id == logins.project_of(cluster.tenant)


def test_programs_can_hand_nothing_on(cluster: World, account: Account) -> None:
    """Neither a trust nor an application credential would outlive the user."""
    session = account.log_in()
    user = session.get_user_id()
    trust = {
        "trustor_user_id": user,
        "trustee_user_id": logins.user_of(cluster.stack.connect("other")),
        "project_id": session.get_project_id(),
        "impersonation": False,
        "roles": [{"name": "member"}],
    }
    for path, body in (
        ("/OS-TRUST/trusts", {"trust": trust}),
        (f"/users/{user}/application_credentials", {"application_credential": {"name": "x"}}),
    ):
        with pytest.raises((Forbidden, NotFound)):
            session.post(path, json=body, endpoint_filter=IDENTITY)


@pytest.mark.parametrize(
    "path", ["/clusters", "/certificates/{uuid}", "/clusters/{uuid}", "/operations"]
)
def test_programs_are_not_let_in_here(cluster: World, account: Account, path: str) -> None:
    """Whoever administers one cluster gets at no other one, although its owner is the same."""
    url = f"{cluster.stack.url}/v1{path.format(uuid=cluster.uuid)}"
    token = logins.token_of(account.log_in())
    answer = httpx.get(url, headers={"X-Auth-Token": token, **LATEST}, timeout=60)
    assert answer.status_code == 403
    assert "programs in clusters" in answer.json()["errors"][0]["detail"]


def test_workers_get_none_of_it(cluster: World, account: Account) -> None:
    """What a worker is set up from has neither password nor trust."""
    texts = cluster.files("worker")
    assert texts
    for secret in account.secrets:
        assert not [path for path, text in texts.items() if secret in text]


def test_nothing_tells_the_password(cluster: World, account: Account) -> None:
    """Neither answers, nor history, logs, database, or what Heat shows."""
    here = cluster.stack
    told = {
        "history": here.temporal_history(cluster.uuid),
        **{one.name: one.log.read_text() for one in (here.api, here.worker)},
        **dict(answers(cluster)),
        **dict(stacks(cluster)),
        **{
            path.name: path.read_bytes().decode(errors="replace")
            for path in here.directory.glob("jeroboam.sqlite*")
        },
    }
    assert len(told) > len(ANSWERS) * 2
    for secret in account.secrets:
        assert not [where for where, text in told.items() if secret in text]


ANSWERS = ("", "/nodegroups", "/nodegroups/default-master", "/operations", "/nodes", "/usage")


def answers(cluster: World) -> Iterator[tuple[str, str]]:
    """Yield what the product answers about the cluster, to its owner and to an administrator."""
    for who in ("demo", "admin"):
        connection = cluster.stack.connect(who)
        for path in ("/clusters/detail", "/clustertemplates/detail", "/operations"):
            yield f"{who} {path}", cluster.read(path, connection)
        for path in ANSWERS:
            full = f"/clusters/{cluster.uuid}{path}"
            yield f"{who} {path}", cluster.read(full, connection)
    for operation in cluster.operations():
        yield operation["uuid"], json.dumps(operation)


def stacks(cluster: World) -> Iterator[tuple[str, str]]:
    """Yield what Heat shows of the cluster's stacks to the owner: parameters, outputs, template."""
    heat = cluster.tenant.orchestration
    for one in heat.get("/stacks?show_nested=true").json()["stacks"]:
        path = f"/stacks/{one['stack_name']}/{one['id']}"
        for part in ("", "/template", "/environment"):
            yield f"{path}{part}", heat.get(f"{path}{part}").text


def test_a_rotation_leads_back_where_the_cluster_is_silent(
    cluster: World, account: Account
) -> None:
    """Programs go on with the user that they have, and the new one is gone with its trusts."""
    before = {one.id for one in cluster.users()}, {one["id"] for one in cluster.trusts()}
    asked = cluster.magnum.patch(f"/credentials/{cluster.uuid}", headers=LATEST)
    assert asked.status_code == 202, asked.text
    wait_for(lambda: settled(cluster), END_SECONDS, "the rotation ends")
    rotation = next(one for one in cluster.operations() if one["kind"] == "rotate_credential")
    assert rotation["state"] == "FAILED", rotation
    steps = {one["name"]: one["state"] for one in rotation["steps"]}
    assert steps["Make a new user for programs in the cluster"] == "SUCCEEDED"
    assert steps["Remove the new user"] == "SUCCEEDED"
    after = {one.id for one in cluster.users()}, {one["id"] for one in cluster.trusts()}
    assert after == before
    account.log_in()


def test_it_goes_with_the_cluster(cluster: World, account: Account) -> None:
    """Neither user nor trust is left, and what the masters had opens nothing."""
    account.log_in()
    cluster.delete()
    assert cluster.users() == []
    assert cluster.trusts() == []
    with pytest.raises(Unauthorized):
        account.log_in()


@pytest.fixture(scope="module")
def without_domain(world: World) -> None:
    """From here on, the API's operator has named no domain."""
    api = world.stack.api
    api.kill()
    api.environment = {**api.environment, "JEROBOAM_TRUSTEE_DOMAIN": ""}
    api.start()


@pytest.mark.usefixtures("without_domain")
@pytest.mark.parametrize("query", ["", "?dry_run=true"], ids=["create", "dry-run"])
def test_without_a_domain_it_is_refused(world: World, query: str) -> None:
    """The answer says what to leave out or to ask for, and nothing was begun."""
    before = world.read("/operations"), world.trusts()
    refused = world.create(query)
    assert refused.status_code == 400, refused.text
    (error,) = refused.json()["errors"]
    for word in ("cloud_provider_enabled", "volume_driver", "JEROBOAM_TRUSTEE_DOMAIN"):
        assert word in error["detail"]
    assert list(world.magnum.clusters()) == []
    assert (world.read("/operations"), world.trusts()) == before
    assert world.users() == []


@pytest.mark.usefixtures("without_domain")
def test_other_clusters_need_no_domain(world: World) -> None:
    """A template without such programs can be used."""
    plain = new_template(world.tenant, "plain", keypair_id="demo")
    body = {"name": "plain", "cluster_template_id": plain}
    planned = world.magnum.post("/clusters?dry_run=true", json=body, headers=LATEST)
    assert planned.status_code == 200, planned.text
    assert MAKE not in planned.text
