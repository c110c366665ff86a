"""The small set: no Nova, no Neutron, and templates that need them all the same."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from devcloud import Devcloud, Fault
from devcloud.credentials import TRUSTEE_DOMAIN
from devcloud.state import Ready
from tests import logins

from . import templates
from .stacks import Stacks, connect_to, unique
from .test_nodes import with_load_balancer


@pytest.fixture
def quick_stacks(quick_cloud: Devcloud) -> Iterator[Stacks]:
    quick_cloud.clear_faults()
    made = Stacks(connect_to(quick_cloud, "demo"))
    yield made
    made.clean()
    quick_cloud.clear_faults()


def test_a_whole_template_completes(quick_stacks: Stacks) -> None:
    """Servers, networks, load balancer and volume are stood in for; nodes call back."""
    stack = quick_stacks.create("whole", templates.nodes(2, **with_load_balancer()))
    assert quick_stacks.settled(stack)["stack_status"] == "CREATE_COMPLETE"
    addresses = quick_stacks.outputs(stack)["addresses"]
    assert len(set(addresses)) == 2
    assert all(address.startswith("10.0.") for address in addresses)


def test_what_an_earlier_version_did_not_make_is_made_by_start(quick_cloud: Devcloud) -> None:
    """A cloud that was filled by another seed is filled once more, and keeps what it has."""
    identity: Any = connect_to(quick_cloud, "admin").identity
    users = {one.id for one in identity.users()}
    domain = logins.required(identity.find_domain(TRUSTEE_DOMAIN))
    identity.update_domain(domain, enabled=False)
    identity.delete_domain(domain)
    outdated = replace(logins.required(Ready.load(quick_cloud.layout.state)), seed="another")
    outdated.save(quick_cloud.layout.state)
    quick_cloud.start()
    assert identity.find_domain(TRUSTEE_DOMAIN)
    assert {one.id for one in identity.users()} == users


def test_a_server_can_fail(quick_cloud: Devcloud, quick_stacks: Stacks) -> None:
    """The faults for servers work without Nova."""
    name = unique("bad")
    quick_cloud.add_fault(Fault(target="server", action="fail", name=name, message="no more disks"))
    shown = quick_stacks.settled(quick_stacks.create("bad", templates.node(name)))
    assert shown["stack_status"] == "CREATE_FAILED"
    assert "no more disks" in shown["stack_status_reason"]
