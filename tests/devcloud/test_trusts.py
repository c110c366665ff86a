"""A service that makes stacks for its tenants with a trust, as Jeroboam does."""

from collections.abc import Iterator
from typing import Any

import pytest
from openstack.connection import Connection

from devcloud import Devcloud
from tests import logins

from . import templates
from .conftest import Connect
from .stacks import Stacks, connected, unique

TRUSTS = "/OS-TRUST/trusts"


class Tenant:
    """Gives trusts to user jeroboam."""

    def __init__(self, demo: Connection, trustee: str, cloud: Devcloud) -> None:
        self.demo = demo
        self._trustee = trustee
        self._cloud = cloud
        self.given: list[str] = []

    def trust(self, roles: list[str], **extra: Any) -> str:
        """Make a trust and return its id."""
        body = {
            "trustor_user_id": self.demo.current_user_id,
            "trustee_user_id": self._trustee,
            "project_id": self.demo.current_project_id,
            "impersonation": True,
            "roles": [{"name": role} for role in roles],
            **extra,
        }
        answer = self.demo.identity.post(TRUSTS, json={"trust": body})
        assert answer.status_code == 201, answer.text
        self.given.append(answer.json()["trust"]["id"])
        return self.given[-1]

    def revoke(self, trust: str) -> None:
        """Take a trust back."""
        assert self.demo.identity.delete(f"{TRUSTS}/{trust}").status_code in (204, 404)

    def service(self, trust: str) -> Connection:
        """Log in as jeroboam on behalf of the tenant."""
        options = {"trust_id": trust, **logins.NO_PROJECT}
        return connected(logins.password(self._cloud, "jeroboam", **options))

    def trusts(self) -> set[str]:
        """Return all trusts that the tenant has given, Heat's included."""
        mine = f"{TRUSTS}?trustor_user_id={self.demo.current_user_id}"
        return {one["id"] for one in self.demo.identity.get(mine).json()["trusts"]}


@pytest.fixture
def tenant(cloud: Devcloud, connect: Connect) -> Iterator[Tenant]:
    trustee = logins.user_of(connect("jeroboam"))
    made = Tenant(connect("demo"), trustee, cloud)
    before = made.trusts()
    yield made
    for trust in made.trusts() - before:
        made.revoke(trust)


REDELEGATED = {"allow_redelegation": True, "redelegation_count": 1}


def test_the_service_makes_stacks_for_the_tenant(tenant: Tenant, stacks: Stacks) -> None:
    """Heat adds a trust of its own, below the given one, and removes it with the stack."""
    trust = tenant.trust(["member", "reader"], **REDELEGATED)
    service = Stacks(tenant.service(trust))
    assert service.connection.current_project_id == tenant.demo.current_project_id
    stack = service.create("trusted", templates.node("trusted"))
    assert service.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    assert stacks.show(stack)["stack_owner"] == "demo"
    assert len(tenant.trusts() - set(tenant.given)) >= 1
    service.patch(stack)
    assert service.settled(stack)["stack_status"] == "UPDATE_COMPLETE"
    service.delete(stack)
    assert tenant.trusts() >= set(tenant.given)


@pytest.mark.parametrize(
    ("roles", "extra"),
    [
        # Heat asks to delegate all roles of the token, and those include implied ones.
        (["member"], REDELEGATED),
        (["member", "reader"], {}),
    ],
)
def test_a_lesser_trust_is_not_enough(
    tenant: Tenant, roles: list[str], extra: dict[str, Any]
) -> None:
    """Heat cannot make its own trust, and refuses the stack at once."""
    service = tenant.service(tenant.trust(roles, **extra))
    body = {"stack_name": "lesser", "template": templates.empty()}
    assert service.orchestration.post("/stacks", json=body).status_code == 403


def test_a_stack_outlives_its_trust(tenant: Tenant) -> None:
    """With the first trust gone, a second one deletes the stack that the first one made."""
    first = tenant.trust(["member", "reader"], **REDELEGATED)
    name = unique("orphan")
    stack = Stacks(tenant.service(first)).create("orphan", templates.node(name))
    Stacks(tenant.demo).settled(stack)
    tenant.revoke(first)
    assert not tenant.trusts() & {first}
    again = Stacks(tenant.service(tenant.trust(["member", "reader"], **REDELEGATED)))
    again.delete(stack)
    assert not list(tenant.demo.compute.servers(name=name))
