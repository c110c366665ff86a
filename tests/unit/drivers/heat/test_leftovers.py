"""What Heat does not know of is removed, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeroboam.drivers.heat import leftovers
from jeroboam.errors import CloudUnavailableError
from tests.unit.drivers.heat.fake_connection import FakeConnection, Thing

MARK = "0123456789ab"
NAME = f"demo-{MARK}-master-0"
KINDS = (
    "load balancer",
    "server",
    "floating IP",
    "port",
    "router",
    "subnet",
    "network",
    "security group",
    "server group",
    "volume",
)
EVERYTHING = frozenset({"load-balancer", "block-storage"})


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "PAUSE_SECONDS", 0)


def test_every_kind() -> None:
    """Orphans of every kind go, users before what they use; others stay."""
    cloud = FakeConnection(services=EVERYTHING)
    for kind in KINDS:
        cloud.add(
            Thing(f"{kind} orphan", kind, NAME),
            Thing(f"{kind} known", kind, NAME),
            Thing(f"{kind} stranger", kind, "demo-other"),
        )
    known = frozenset(f"{kind} known" for kind in KINDS)
    assert leftovers.remove(cloud.connection, MARK, lambda: known).removed == len(KINDS)
    assert cloud.removed == [f"{kind} orphan" for kind in KINDS]


def test_floating_ip_by_its_description() -> None:
    """Floating IPs have no name; their description tells whose they are."""
    cloud = FakeConnection()
    cloud.add(Thing("f", "floating IP", "172.24.0.9", description=NAME))
    assert leftovers.remove(cloud.connection, MARK, frozenset).removed == 1


def test_absent_services() -> None:
    """A cloud without load balancers and volumes is not asked for them."""
    cloud = FakeConnection()
    cloud.add(Thing("v", "volume", NAME))
    assert leftovers.remove(cloud.connection, MARK, frozenset).removed == 0


def test_interfaces_of_routers() -> None:
    """An interface that Heat does not know is detached; its port is left to the router."""
    cloud = FakeConnection()
    cloud.add(Thing("r", "router", NAME))
    for number, subnet in enumerate(("s1", "s2")):
        cloud.add(
            Thing(
                f"p{number}",
                "port",
                NAME,
                device_owner="network:router_interface",
                device_id="r",
                fixed_ips=({"subnet_id": subnet},),
            )
        )
    known = frozenset({"r", "r:subnet_id=s1"})
    assert leftovers.remove(cloud.connection, MARK, lambda: known).removed == 0
    assert cloud.detached == [("r", "s2")]


def test_servers_let_go_of_their_ports() -> None:
    """The next objects are looked at when the servers are really gone."""
    cloud = FakeConnection(lingering=3)
    cloud.add(Thing("s", "server", NAME))
    assert leftovers.remove(cloud.connection, MARK, frozenset).removed == 1
    assert cloud.lingering == 0


def test_used_objects_are_kept() -> None:
    """What is still in use does not stop the rest."""
    cloud = FakeConnection(stubborn={"n"})
    cloud.add(Thing("n", "network", NAME), Thing("g", "security group", NAME))
    assert leftovers.remove(cloud.connection, MARK, frozenset).removed == 1
    assert set(cloud.things) == {"n"}


def test_trouble_does_not_stop_the_rest() -> None:
    """A service that fails with one object, or with one kind, is told of when the rest is gone."""
    cloud = FakeConnection(failing={"n1", "router"})
    cloud.add(
        Thing("n1", "network", NAME),
        Thing("n2", "network", NAME),
        Thing("r", "router", NAME),
        Thing("g", "server group", NAME),
    )
    removal = leftovers.remove(cloud.connection, MARK, frozenset)
    assert set(cloud.things) == {"n1", "r"}
    assert removal.removed == 2
    with pytest.raises(CloudUnavailableError, match="no router now"):
        removal.settle()
    cloud.failing.clear()
    leftovers.remove(cloud.connection, MARK, frozenset).settle()
    assert cloud.things == {}


def test_what_is_noted_meanwhile_stays() -> None:
    """What Heat notes after the lists were read is not taken for lost."""
    cloud = FakeConnection()
    cloud.add(Thing("first", "port", NAME))

    def noted() -> leftovers.Known:
        cloud.add(Thing("second", "port", NAME))
        return frozenset({"first"})

    assert leftovers.remove(cloud.connection, MARK, noted).removed == 0
    assert set(cloud.things) == {"first", "second"}


@given(st.lists(st.tuples(st.text(), st.text(), st.booleans()), max_size=10))
def test_only_marked_and_unknown(listed: list[tuple[str, str, bool]]) -> None:
    """An object is an orphan if it has the mark and the stack does not know it."""
    things = [Thing(str(n), "port", name, text) for n, (name, text, _) in enumerate(listed)]
    known = frozenset(str(n) for n, (_, _, is_known) in enumerate(listed) if is_known)
    for one in leftovers.orphans(things, MARK, known):
        assert MARK in one.name + one.description
        assert one.id not in known
    marked = [Thing(f"m{n}", "port", MARK) for n in range(2)]
    assert leftovers.orphans(marked, MARK, known) == marked
