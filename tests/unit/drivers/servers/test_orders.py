"""Orders tell an engine what is missing and what has to go."""

from types import SimpleNamespace
from typing import Any

import pytest

from jeroboam.drivers.k8s_mistral_v1.driver import MistralDriver
from jeroboam.drivers.servers import orders, rules, wishes
from jeroboam.drivers.servers.inventory import CALL, READY, Inventory
from jeroboam.drivers.servers.orders import Place, Setup
from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import ClusterSpec, Node
from tests.unit.drivers.heat.clusters import make_spec

DRIVER = MistralDriver()
OWN = Place(external="ext", network=None, subnet=None)
NOTHING = Inventory({}, {}, {}, {}, {}, frozenset(), {}, {})


def thing(ident: str, **more: Any) -> Any:
    return SimpleNamespace(id=ident, **more)


def order(spec: ClusterSpec, there: Inventory = NOTHING, place: Place = OWN) -> Any:
    wanted = wishes.of_cluster(spec)
    setups = {
        group.uuid: Setup("image", "flavor", "text of __NODE_NAME__", "v1.37.1")
        for group in spec.node_groups
    }
    return orders.apply(DRIVER.plan(spec), place, there, wanted, setups, spec.node_groups, 10)


def test_of_a_new_cluster_everything_is_missing() -> None:
    found = order(make_spec(workers=2, floating_ip_enabled=True))
    assert [found[kind]["id"] for kind in ("network", "subnet", "router")] == [None] * 3
    assert {one["id"] for one in (*found["servers"], *found["ports"])} == {None}
    assert all(one["rules"] for one in found["security_groups"])
    assert found["surplus"] == {"servers": [], "ports": [], "floating_ips": []}
    assert sorted(found["floating"]) == sorted(one["name"] for one in found["servers"])
    assert found["api_node"] == found["servers"][0]["name"]


def test_what_is_there_is_not_made_again() -> None:
    """A group without all its rules gets them; a worker too many goes with port and address."""
    spec = make_spec(workers=1, floating_ip_enabled=True)
    first = order(spec)
    names = [one["name"] for one in first["servers"]]
    extra = f"{names[1][:-1]}7"
    ports = {name: thing(f"p-{name}") for name in (*names, extra)}
    groups = {
        one["name"]: thing(one["name"], security_group_rules=[{"direction": "ingress"}])
        for one in first["security_groups"]
    }
    whole = first["network"]["name"]
    there = Inventory(
        networks={whole: thing("n")},
        subnets={whole: thing("s")},
        routers={whole: thing("r")},
        security_groups=groups,
        ports=ports,
        interfaces=frozenset({("r", "s")}),
        floating_ips={ports[extra].id: thing("f", floating_ip_address="1.1.1.1")},
        servers={name: thing(f"s-{name}", metadata={}) for name in (*names, extra)},
    )
    found = order(spec, there)
    assert (found["network"]["id"], found["subnet"]["id"]) == ("n", "s")
    assert found["router"]["attached"]
    assert all(one["id"] for one in (*found["servers"], *found["ports"]))
    assert found["surplus"] == {
        "servers": [f"s-{extra}"],
        "ports": [f"p-{extra}"],
        "floating_ips": ["f"],
    }
    assert all(one["id"] and one["rules"] for one in found["security_groups"])


def test_an_existing_network_is_used_as_it_is() -> None:
    spec = make_spec(floating_ip_enabled=False, fixed_network="net")
    found = order(spec, place=Place(external=None, network="N", subnet=None))
    assert (found["network"]["id"], found["subnet"]["id"], found["router"]["id"]) == ("N", "", "")
    assert found["router"]["attached"]
    assert found["floating"] == []


def test_a_rebuild_reaches_each_node_once() -> None:
    nodes = [Node(name=name, id=name, status="ACTIVE") for name in ("a", "b", "c")]
    there = {
        "a": thing("a", status="ACTIVE", metadata={READY: "yes", "x": "1"}, image={"id": "i"}),
        "b": thing("b", status="ACTIVE", metadata={CALL: "call"}, image={"id": "i"}),
        "c": thing("c", status="ERROR", metadata={CALL: "call"}, image={"id": "i"}),
    }
    found = orders.rebuild(there, nodes, "mark", "call", 5)["nodes"]
    assert [one["name"] for one in found] == ["a", "c"]
    assert found[0]["metadata"] == {"x": "1", CALL: "call"}
    with pytest.raises(NotFoundError, match="Node d has no server"):
        orders.rebuild(there, [Node(name="d", id="d", status="")], "mark", "call", 5)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"labels": {"etcd_volume_size": "5"}}, "etcd_volume_size is 5"),
        ({"labels": {"boot_volume_size": "5"}}, "boot_volume_size is 5"),
        ({"group": {"docker_volume_size": 3}}, "docker_volume_size is 3"),
        ({"masters": 3, "master_lb_enabled": True}, "one master and no load balancer"),
    ],
)
def test_what_an_engine_of_servers_cannot_do_is_refused(change: Any, told: str) -> None:
    spec = make_spec(**change)
    with pytest.raises(InvalidRequestError, match=told):
        DRIVER.validate(spec)


def test_only_masters_hear_etcd() -> None:
    found = rules.security_groups(DRIVER.plan(make_spec(keypair="key")))
    assert any(rule.get("port_range_min") == 22 for rule in found[rules.NODES])
    assert {
        "own_group": True,
        "protocol": "tcp",
        "port_range_min": 2379,
        "port_range_max": 2380,
    } in (found[rules.MASTERS])
    assert not any(rule.get("port_range_min") == 2379 for rule in found[rules.NODES])
