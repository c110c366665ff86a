"""Rotation of credentials and certificates on a real Keystone, Heat and Nova.

What Heat keeps of a credential is read from Keystone: the trusts that its service user was given.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import ClusterSecrets, DriverContext, Phase
from jeroboam.drivers.heat.placement import place
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.errors import CredentialRejectedError, NotAuthorizedError
from jeroboam.models import Method, NodeGroup
from jeroboam.testing.without_cloud import secrets
from tests import logins
from tests.acceptance.heat_clusters import MINUTES, Living, Tenant

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.filterwarnings("ignore::openstack.warnings._RemovedInSDKWarning"),
]

TIMEOUT = 60.0


@dataclass
class Person:
    """A member of the tenant's project, who may leave it."""

    uuid: str
    session: Session
    access: Cloud
    admin: Connection

    def trust(self) -> str:
        """Give Jeroboam one more trust."""
        identity = logins.identity_of(self.session)
        return self.access.create_trust(logins.token_of(self.session), identity)

    def trusts(self) -> dict[str, str | None]:
        """Return all trusts of this person, each with the one that it was delegated from."""
        path = f"/OS-TRUST/trusts?trustor_user_id={self.uuid}"
        listed = self.admin.identity.get(path).json()["trusts"]
        return {one["id"]: one.get("redelegated_trust_id") for one in listed}

    def disable(self) -> None:
        """Have an administrator disable the account."""
        self.admin.identity.update_user(self.uuid, is_enabled=False)


@pytest.fixture(scope="module")
def admin(cloud: Devcloud) -> Connection:
    session = Session(logins.password(cloud, "admin"), timeout=TIMEOUT)
    return Connection(session=session, region_name="RegionOne")


@pytest.fixture(scope="module")
def leaver(cloud: Devcloud, access: Cloud, admin: Connection, tenant: Tenant) -> Iterator[Person]:
    """Somebody whose account is disabled one day."""
    options = {"name": f"leaver-{id(tenant)}", "password": "leaves", "domain_id": "default"}
    user: Any = admin.identity.create_user(**options)
    member = next(role for role in admin.identity.roles() if role.name == "member")
    project = tenant.identity.project_id
    admin.identity.put(f"/projects/{project}/users/{user.id}/roles/{member.id}")
    login = logins.password(cloud, "demo", username=user.name, password="leaves")
    yield Person(user.id, Session(login, timeout=TIMEOUT), access, admin)
    admin.identity.delete_user(user)


@pytest.fixture(scope="module")
def stayer(cloud: Devcloud, access: Cloud, admin: Connection) -> Person:
    """A colleague."""
    session = Session(logins.password(cloud, "demo"), timeout=TIMEOUT)
    return Person(logins.identity_of(session).user_id, session, access, admin)


@pytest.fixture(scope="module")
def living(tenant: Tenant, leaver: Person) -> Iterator[Living]:
    """A cluster of somebody who will leave; its last test hands it over to the colleague."""
    labels = {"kube_tag": "v1.37.1", "etcd_volume_size": "1"}
    spec = tenant.spec(workers=1, labels=labels)
    cluster = Living(tenant, spec)
    _given(cluster, leaver.trust())
    try:
        cluster.create()
        yield cluster
    finally:
        cluster.remove()


def _given(living: Living, trust_id: str) -> None:
    """Record another credential, as a rotation that has ended well."""
    cluster = living.spec.cluster.model_copy(update={"trust_id": trust_id})
    living.spec = living.spec.model_copy(update={"cluster": cluster})


def rotated(living: Living, new: str, *former: str) -> None:
    """Rotate the credential as the engine does; former ones are not revoked by it."""
    _given(living, new)
    key = living.key()
    for _ in range(2):
        living.driver.rotate_credential(living.context(key), living.spec, None, former, MINUTES)
    watch = living.watch(Method.ROTATE_CREDENTIAL, key)
    progress = living.wait(watch)
    assert progress.phase is Phase.DONE, living.explained(watch, progress)


def resize(living: Living, count: int) -> None:
    watch = living.resize(living.workers, count)
    progress = living.wait(watch)
    assert progress.phase is Phase.DONE, living.explained(watch, progress)
    living.spec = living.sized(living.workers, count)
    living.record()


def test_certificates_reach_the_nodes(living: Living) -> None:
    """Nodes are replaced when authorities have changed, and not a second time."""
    fresh = secrets()
    other = replace(
        fresh,
        kubernetes=replace(fresh.kubernetes, also_trusted=(fresh.etcd.certificate,)),
    )
    before, group = living.ids(), living.workers
    renew(living, group, other)
    after = living.ids()
    assert after.keys() == before.keys()
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {node.name for node in group.nodes}
    renew(living, group, other)
    assert living.ids() == after
    living.driver.check_certificate_rotation(living.spec)
    living.record()


def renew(living: Living, group: NodeGroup, found: ClusterSecrets) -> None:
    key = living.key()
    context = DriverContext(key, living.tenant.access, lambda: found)
    for _ in range(2):
        living.driver.renew_certificates(context, living.spec, group, 1, MINUTES)
    watch = living.watch(Method.RENEW_CERTIFICATES, key, group)
    progress = living.wait(watch)
    assert progress.phase is Phase.DONE, living.explained(watch, progress)


def test_another_credential_of_the_same_owner(living: Living, leaver: Person) -> None:
    """Heat keeps its own below the former one, so that stays until the cluster is deleted."""
    servers, former = living.ids(), living.spec.cluster.trust_id or ""
    rotated(living, leaver.trust(), former)
    assert living.ids() == servers
    assert former in leaver.trusts().values()
    assert not leaver.access.retire_trust(former)
    assert leaver.access.trust_works(former)


def test_a_colleague_takes_over_from_somebody_disabled(
    living: Living, leaver: Person, stayer: Person
) -> None:
    """Heat refuses whatever is asked, until the rotation; then nothing depends on who left."""
    leaver.disable()
    former = living.spec.cluster.trust_id or ""
    assert not leaver.access.trust_works(former)
    with pytest.raises((CredentialRejectedError, NotAuthorizedError)):
        resize(living, 2)
    trust = stayer.trust()
    servers = living.ids()
    formers = [one for one, below in leaver.trusts().items() if below is None]
    assert len(formers) == 2
    rotated(living, trust, *formers)
    assert living.ids() == servers
    for left in formers:
        assert leaver.access.retire_trust(left)
    assert leaver.trusts() == {}
    assert [below for below in stayer.trusts().values() if below == trust]
    resize(living, 2)
    assert len(living.ids()) == len(servers) + 1
    stack = Stacks(stayer.access, trust).find(place(living.spec, living.workers).name)
    assert stack is not None
    assert stack.status == "UPDATE_COMPLETE"
