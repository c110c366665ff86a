"""APIs that misbehave, and services that go away and come back."""

import time

import pytest
import requests
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from tests import logins

from . import templates
from .conftest import Connect
from .stacks import Stacks, unique


def ask(connection: Connection, path: str = "/stacks") -> int:
    """Ask Heat once, without keystoneauth's own retries, and return the status."""
    url = f"{connection.orchestration.get_endpoint()}{path}"
    headers = {"X-Auth-Token": logins.token_of(connection.session)}
    return requests.get(url, headers=headers, timeout=30).status_code


def test_an_api_can_fail_for_a_while(cloud: Devcloud, connect: Connect) -> None:
    """The failure has the given status and wears off."""
    cloud.add_fault(
        Fault(target="api", action="fail", service="heat", path="/stacks", status=502, count=2)
    )
    demo = connect("demo")
    assert [ask(demo) for _ in range(3)] == [502, 502, 200]


def test_an_api_can_be_slow(cloud: Devcloud, connect: Connect) -> None:
    """Only the matching requests wait."""
    demo = connect("demo")
    cloud.add_fault(
        Fault(target="api", action="delay", service="heat", path="limit=1", seconds=1.5)
    )
    started = time.monotonic()
    assert ask(demo) == 200
    quick = time.monotonic() - started
    assert ask(demo, "/stacks?limit=1") == 200
    assert time.monotonic() - started > 1.5 + quick


def test_an_api_can_drop_connections(cloud: Devcloud, connect: Connect) -> None:
    """The client gets no byte of an answer."""
    demo = connect("demo")
    cloud.add_fault(Fault(target="api", action="drop", service="heat", method="GET", count=1))
    with pytest.raises(requests.ConnectionError):
        ask(demo)
    assert ask(demo) == 200


def test_a_service_can_be_stopped_and_started(cloud: Devcloud, connect: Connect) -> None:
    """The others go on, and the status tells."""
    demo = connect("demo")
    cloud.stop_service("glance")
    try:
        states = {one.name: one.pid is not None for one in cloud.status()}
        assert not states.pop("glance")
        assert all(states.values())
        assert ask(demo) == 200
    finally:
        cloud.start_service("glance")
    assert demo.image.find_image("cirros")


class TestHeatGoesDown:
    """What becomes of a stack when Heat ends in the middle of a create."""

    def test_nobody_goes_on_with_the_stack(self, cloud: Devcloud, stacks: Stacks) -> None:
        """It stays in progress until a client updates it, and is then completed as one stack."""
        name = unique("went")
        cloud.add_fault(Fault(target="server", action="delay", seconds=2, name=name))
        stack = stacks.create("went", templates.node(name))
        server = stacks.until_known(stack, "server")
        cloud.kill_service("heat")
        cloud.start_service("heat")
        time.sleep(4)
        assert stacks.show(stack)["stack_status"] == "CREATE_IN_PROGRESS"
        assert stacks.resources(stack)["booted"] == "INIT_COMPLETE"

        stacks.patch(stack)
        assert stacks.settled(stack)["stack_status"] == "UPDATE_COMPLETE"
        assert [one.id for one in stacks.connection.compute.servers(name=name)] == [server]
        assert set(stacks.resources(stack).values()) <= {"CREATE_COMPLETE", "UPDATE_COMPLETE"}

    def test_what_heat_has_not_noted_is_left_behind(self, cloud: Devcloud, stacks: Stacks) -> None:
        """A server whose id did not reach Heat is created twice and belongs to no stack."""
        name = unique("lost")
        cloud.add_fault(
            Fault(target="api", action="delay", service="nova", path="/servers$", seconds=2)
        )
        stack = stacks.create("lost", templates.node(name))
        stacks.until(stack, "server", "CREATE_IN_PROGRESS")
        time.sleep(1)
        cloud.kill_service("heat")
        cloud.clear_faults()
        cloud.start_service("heat")
        stacks.patch(stack)
        assert stacks.settled(stack)["stack_status"] == "UPDATE_COMPLETE"
        stacks.delete(stack)
        compute = stacks.connection.compute
        (lost,) = [one for one in compute.servers(name=name) if one.status != "DELETED"]
        compute.delete_server(lost)

    def test_the_stack_can_be_deleted(self, cloud: Devcloud, stacks: Stacks) -> None:
        """Nothing that Heat knows of is left.

        Heat waits 15 seconds, for each level of nesting, for the engine that is gone.
        """
        name = unique("gone")
        cloud.add_fault(Fault(target="server", action="delay", seconds=6, name=name))
        stack = stacks.create("gone", templates.node(name))
        stacks.until_known(stack, "server")
        cloud.stop_service("heat")
        cloud.start_service("heat")
        stacks.delete(stack)
        assert not list(stacks.connection.compute.servers(name=name))
