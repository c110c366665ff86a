"""The hook ``dns`` against a stand-in for Designate that keeps to its API reference."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from jeroboam.errors import (
    CloudUnavailableError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.hooks.base import HookEvent
from jeroboam.hooks.dns import DnsHook, Options, record_name
from jeroboam.models import HookPhase, OperationKind
from jeroboam.testing.hook_suite import HookCase, HookSuite
from tests.integration.hooks.designate import ZONE, Designate, designate
from tests.unit.hooks.hooks import an_event
from tests.unit.specs import make_spec

NAME = f"demo.{ZONE}"


@pytest.fixture
def service() -> Iterator[Designate]:
    with designate() as one:
        yield one


@pytest.fixture
def event(service: Designate) -> HookEvent:
    return event_of(service)


def event_of(service: Designate, **changes: Any) -> HookEvent:
    fields = {"api_address": "https://192.0.2.7:6443", "trust_id": "trust"} | changes
    return an_event(
        phase=HookPhase.AFTER,
        spec=make_spec(**fields),
        cloud=service,
        options={"zone": ZONE},
        secret=None,
    )


def moved(event: HookEvent, address: str, name: str = "demo") -> HookEvent:
    cluster = event.spec.cluster.model_copy(update={"api_address": address, "name": name})
    return replace(event, spec=event.spec.model_copy(update={"cluster": cluster}))


class TestDns(HookSuite):
    """The hook passes the compliance suite."""

    @pytest.fixture
    def case(self, service: Designate, event: HookEvent) -> HookCase:
        return HookCase(
            hook=DnsHook(),
            event=event,
            observe=lambda: (dict(service.records), list(service.writes)),
            vetoes=(replace(event, options={"zone": "other.example."}),),
            bad_options=(
                ({}, "'zone'"),
                ({"zone": "no-final-dot"}, "clusters.example.org"),
                ({"zone": ZONE, "ttl": 0}, "'ttl'"),
                ({"zone": ZONE, "name": "a.b"}, "'name'"),
                ({"zone": ZONE, "colour": "red"}, "'colour'"),
            ),
        )


class TestDnsOfADelete(HookSuite):
    """The hook passes it for the other half of its work too."""

    @pytest.fixture
    def case(self, service: Designate, event: HookEvent) -> HookCase:
        DnsHook().run(event)
        return HookCase(
            hook=DnsHook(),
            event=replace(event, operation=OperationKind.DELETE),
            observe=lambda: (dict(service.records), list(service.writes)),
        )


def test_record_of_a_cluster(service: Designate, event: HookEvent) -> None:
    """A cluster that is up has a record in the zone of its owner, made in the owner's name."""
    result = DnsHook().run(event)
    assert result.message == f"{NAME} is 192.0.2.7."
    (made,) = service.recordsets.values()
    assert (made["type"], made["ttl"], made["records"]) == ("A", 300, ["192.0.2.7"])
    assert service.trusts == ["trust"]


def test_record_follows_the_address(service: Designate, event: HookEvent) -> None:
    """When the address changes, the record does; an IPv6 address has a record of its type."""
    hook = DnsHook()
    hook.run(event)
    hook.run(moved(event, "https://192.0.2.8:6443"))
    assert service.records == {NAME: ["192.0.2.8"]}
    assert service.writes == ["POST", "PUT"]
    hook.run(moved(event, "https://[2001:db8::8]:6443"))
    assert service.records == {NAME: ["2001:db8::8"]}
    (made,) = service.recordsets.values()
    assert made["type"] == "AAAA"


def test_record_goes_with_the_cluster(service: Designate, event: HookEvent) -> None:
    """A deleted cluster leaves no record; one that never had any is no error."""
    hook = DnsHook()
    deleted = replace(event, operation=OperationKind.DELETE)
    assert hook.run(deleted).message == "There was no name to remove."
    hook.run(event)
    assert hook.run(deleted).message == "The name was removed."
    assert service.records == {}
    service.zones.clear()
    assert "zone" in hook.run(deleted).message


def test_others_records_are_left_alone(service: Designate, event: HookEvent) -> None:
    """A name that belongs to something else is neither changed nor removed."""
    service.handle(
        "POST",
        "/v2/zones/zone-1/recordsets",
        {"name": NAME, "type": "A", "records": ["198.51.100.1"]},
    )
    with pytest.raises(ConflictError, match=f"The name {NAME} belongs to something else"):
        DnsHook().run(event)
    DnsHook().run(replace(event, operation=OperationKind.DELETE))
    assert service.records == {NAME: ["198.51.100.1"]}


def test_two_clusters_with_one_name(service: Designate, event: HookEvent) -> None:
    """The first cluster has the name; the second one is told, and its end takes nothing away."""
    DnsHook().run(event)
    second = event_of(service, api_address="https://192.0.2.9:6443")
    with pytest.raises(ConflictError):
        DnsHook().run(second)
    DnsHook().run(replace(second, operation=OperationKind.DELETE))
    assert service.records == {NAME: ["192.0.2.7"]}


def test_missing_zone(event: HookEvent) -> None:
    """A project without the zone is told to make it."""
    with pytest.raises(NotFoundError, match=r"no DNS zone nowhere\.example\."):
        DnsHook().run(replace(event, options={"zone": "nowhere.example."}))


@pytest.mark.parametrize("address", [None, "", "https://api.example.org:6443", "https://[::"])
def test_no_address(service: Designate, event: HookEvent, address: str) -> None:
    """A cluster whose API has no IP address gets no record, which is no failure."""
    assert "no IP address" in DnsHook().run(moved(event, address)).message
    assert service.writes == []


def test_service_that_is_down(service: Designate, event: HookEvent) -> None:
    """A Designate that does not answer is asked again later."""
    service.down = True
    with pytest.raises(CloudUnavailableError, match="Designate"):
        DnsHook().run(event)


def test_wrong_options_at_run_time(event: HookEvent) -> None:
    """Options that became wrong end the hook with what is wrong."""
    with pytest.raises(InvalidRequestError, match="zone"):
        DnsHook().run(replace(event, options={}))


@pytest.mark.parametrize(
    ("cluster", "pattern", "expected"),
    [
        ("demo", "{cluster}", "demo"),
        ("My Cluster_1", "{cluster}", "my-cluster-1"),
        ("demo", "api-{cluster}", "api-demo"),
        ("--", "{cluster}", "00000000-0000-4000-8000-000000000000"),
        ("a" * 80, "{cluster}", "a" * 63),
        ("x", "fixed", "fixed"),
    ],
)
def test_name_of_the_record(cluster: str, pattern: str, expected: str) -> None:
    """A cluster's name becomes a label that DNS allows."""
    spec = make_spec(name=cluster, uuid="00000000-0000-4000-8000-000000000000")
    options = Options(zone=ZONE, name=pattern)
    assert record_name(options, spec.cluster) == f"{expected}.{ZONE}"
