"""Load balancers of Kubernetes' services go before the cluster, and nobody else's go with them."""

from typing import Any

import pytest

from jeroboam.drivers.heat import remains, services
from jeroboam.drivers.heat.stacks import Stacks, stack_name
from jeroboam.drivers.nodes.names import short_id
from jeroboam.errors import CloudUnavailableError
from tests.unit.drivers.heat.clusters import make_spec
from tests.unit.drivers.heat.fake_connection import FakeConnection, Thing
from tests.unit.drivers.heat.fake_heat import FakeHeat, serving

CLUSTER = make_spec().cluster
EVERYTHING = frozenset({"load-balancer", "block-storage"})
FLOATING = "Floating IP for "


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "PAUSE_SECONDS", 0)


def described(cluster: str) -> str:
    """Return the words of cloud-provider-openstack."""
    return f"Kubernetes external service default/web from cluster {cluster}"


def balancer(ident: str, cluster: str, **fields: Any) -> Thing:
    name = f"kube_service_{cluster}_default_web"
    return Thing(ident, "load balancer", name, description=described(cluster), **fields)


def cloud_of(*things: Thing, **fields: Any) -> Any:
    cloud = FakeConnection(services=EVERYTHING, **fields)
    cloud.add(*things)
    return cloud


@pytest.mark.parametrize("name", [CLUSTER.uuid, stack_name(CLUSTER)], ids=["uuid", "stack"])
def test_balancer_that_names_the_cluster(name: str) -> None:
    """A load balancer whose description names the cluster goes, with its floating IP first."""
    cloud = cloud_of(
        balancer("lb", name, vip_port_id="vip"),
        Thing("ip", "floating IP", "1.2.3.4", FLOATING + described(name), port_id="vip"),
    )
    services.remove(cloud, CLUSTER)
    assert cloud.removed == ["ip", "lb"]


def test_balancer_in_the_own_network() -> None:
    """What lies in the cluster's own network is the cluster's, by whatever name."""
    cloud = cloud_of(
        Thing("net", "network", stack_name(CLUSTER)),
        balancer("lb", "kubernetes", vip_network_id="net"),
    )
    services.remove(cloud, CLUSTER)
    assert cloud.removed == ["lb"]


def test_strangers_stay() -> None:
    """Load balancers of other clusters, of the tenant and of Heat are none of its business."""
    cloud = cloud_of(
        Thing("net", "network", stack_name(CLUSTER)),
        Thing("other net", "network", "other"),
        balancer("a", CLUSTER.name),
        balancer("b", "another", vip_network_id="other net"),
        Thing("c", "load balancer", "mine", vip_network_id="net"),
        Thing("d", "floating IP", "1.2.3.4", FLOATING + described("another")),
    )
    services.remove(cloud, CLUSTER)
    assert cloud.removed == []


def test_cloud_without_load_balancers() -> None:
    """Where there is no Octavia, there is nothing to do."""
    cloud: Any = FakeConnection()
    cloud.add(balancer("lb", CLUSTER.uuid))
    services.remove(cloud, CLUSTER)
    assert cloud.removed == []


def test_removal_is_waited_for() -> None:
    """The call ends when Octavia has really removed what it was asked to remove."""
    cloud = cloud_of(balancer("lb", CLUSTER.uuid), lingering=6)
    services.remove(cloud, CLUSTER)
    assert cloud.lingering == 0


def test_slow_removal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where that takes too long, the call fails so that it is made again, and names what it is."""
    monkeypatch.setattr(services, "WAIT_SECONDS", 0)
    cloud = cloud_of(balancer("lb", CLUSTER.uuid), lingering=100)
    with pytest.raises(CloudUnavailableError, match=r"kube_service_.* \(lb\)") as caught:
        services.remove(cloud, CLUSTER)
    assert caught.value.retryable


def test_busy_balancer() -> None:
    """A load balancer that Octavia works at is asked for again later."""
    cloud = cloud_of(balancer("lb", CLUSTER.uuid), balancer("going", CLUSTER.uuid), stubborn={"lb"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "WAIT_SECONDS", 0)
        with pytest.raises(CloudUnavailableError):
            services.remove(cloud, CLUSTER)
    assert cloud.removed == ["going"]


def test_balancer_on_its_way() -> None:
    """One that is being removed is not asked for again."""
    going = balancer("lb", CLUSTER.uuid, provisioning_status="PENDING_DELETE")
    cloud = cloud_of(going)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "WAIT_SECONDS", 0)
        with pytest.raises(CloudUnavailableError):
            services.remove(cloud, CLUSTER)
    assert cloud.removed == []


def test_what_is_left_is_named() -> None:
    """Each object that belongs to the cluster is named with kind, name and id; others are not."""
    mark = short_id(CLUSTER)
    claimed = {"cinder.csi.openstack.org/cluster": CLUSTER.uuid}
    cloud = cloud_of(
        Thing("1", "server", f"demo-{mark}-master-0"),
        Thing("2", "volume", "pvc-1", metadata=claimed),
        Thing("3", "volume", "pvc-2", metadata={"cinder.csi.openstack.org/cluster": "other"}),
        Thing("4", "network", "other"),
        Thing("5", "router", f"demo-{mark}"),
        balancer("6", CLUSTER.uuid, vip_port_id="vip"),
        Thing("7", "floating IP", "", FLOATING + described(CLUSTER.uuid), port_id="vip"),
    )
    with serving(FakeHeat()) as access:
        found = remains.find(cloud, Stacks(access, "p1"), CLUSTER)
    assert found == [
        f"server demo-{mark}-master-0 (1)",
        f"router demo-{mark} (5)",
        f"load balancer kube_service_{CLUSTER.uuid}_default_web (6)",
        "floating IP unnamed (7)",
        "volume pvc-1 (2), made by a claim of the cluster; it may hold data",
    ]
    assert cloud.removed == []


def test_looking_changes_nothing() -> None:
    """Interfaces of routers stay where they are when somebody only looks."""
    mark = short_id(CLUSTER)
    cloud = cloud_of(
        Thing("r", "router", f"demo-{mark}"),
        Thing(
            "p",
            "port",
            device_owner="network:router_interface",
            device_id="r",
            fixed_ips=({"subnet_id": "s"},),
        ),
    )
    with serving(FakeHeat()) as access:
        remains.find(cloud, Stacks(access, "p1"), CLUSTER)
    assert cloud.detached == []


def test_stacks_that_are_left() -> None:
    """A stack is named with its state, which tells whether Heat tried."""
    heat = FakeHeat()
    heat.add("p1", CLUSTER.uuid, "DELETE_FAILED")
    with serving(heat) as access:
        found = remains.find(cloud_of(), Stacks(access, "p1"), CLUSTER)
    assert found == [f"stack name-{CLUSTER.uuid} (stack-{CLUSTER.uuid}), DELETE_FAILED"]


def test_silence_of_one_service() -> None:
    """Where a service does not answer, what the others tell of is named, and the stack's id."""
    mark = short_id(CLUSTER)
    cloud = cloud_of(Thing("5", "router", f"demo-{mark}"), failing={"server", "volume"})
    cluster = CLUSTER.model_copy(update={"stack_id": "stack-1"})
    heat = FakeHeat(down=True)
    with (
        serving(heat) as access,
        pytest.raises(CloudUnavailableError, match="cannot be told whether all is gone") as caught,
    ):
        remains.find(cloud, Stacks(access, "p1"), cluster)
    told = caught.value.message
    for part in ("no server now", "no volume now", "Heat failed", f"router demo-{mark} (5)"):
        assert part in told
    assert f"{stack_name(cluster)} (stack-1)" in told
