"""Changes of a living cluster on a real Heat and Nova, and what these say of it themselves."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from devcloud import Devcloud, Fault
from jeroboam.drivers.base import Phase, Watch
from jeroboam.models import ClusterSpec, Method, NodeGroup
from tests.acceptance.heat_clusters import Living, Tenant, eventually, with_version
from tests.unit.drivers.heat.accounts import ACCOUNT, CINDER, CLOUD_PROVIDER, with_account

RESUBMISSIONS = 5

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]


@pytest.fixture(scope="module")
def living(tenant: Tenant) -> Iterator[Living]:
    """One cluster for all tests; each leaves it well."""
    labels = {"kube_tag": "v1.37.1"}
    cluster = Living(tenant, tenant.spec(workers=2, master_lb_enabled=True, labels=labels))
    try:
        cluster.create()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture(autouse=True)
def no_faults(cloud: Devcloud) -> Iterator[None]:
    yield
    cloud.clear_faults()


def done(living: Living, watch: Watch, again: Callable[[], Watch] | None = None) -> None:
    """Wait for a call.

    Args:
        again: Submits it anew where Heat broke off, as the engine does.
    """
    progress = living.wait(watch)
    for _ in range(RESUBMISSIONS):
        if again is None or progress.phase is not Phase.INTERRUPTED:
            break
        progress = living.wait(again())
    assert progress.phase is Phase.DONE, living.explained(watch, progress)


def upgrade(
    living: Living, target: ClusterSpec, group: NodeGroup, batch: int | None, minutes: int = 10
) -> Watch:
    """Submit an upgrade twice."""
    key = living.key()
    for _ in range(2):
        living.driver.upgrade_node_group(
            living.context(key), target, target.group(group.uuid), batch, minutes
        )
    return living.watch(Method.UPGRADE_NODE_GROUP, key, group)


def test_resize_touches_no_other_node(living: Living) -> None:
    """A group grows, loses the named node, and never uses its index again; the rest stays."""
    before, ports = living.ids(), living.ports()
    done(living, living.resize(living.workers, 3))
    grown = living.ids()
    assert len(grown) == len(before) + 1
    assert before.items() < grown.items()
    living.spec = living.sized(living.workers, 3)
    living.record()
    leaving = living.workers.nodes[1]
    done(living, living.resize(living.workers, 2, [leaving]))
    left = living.ids()
    assert left == {name: one for name, one in grown.items() if name != leaving.name}
    living.spec = living.sized(living.workers, 2)
    living.record()
    done(living, living.resize(living.workers, 3))
    assert leaving.name not in living.ids()
    assert left.items() < living.ids().items()
    done(living, living.resize(living.workers, 2))
    assert living.ids() == left
    living.record()
    now = living.ports()
    stayed = [one for name, one in before.items() if name in left]
    assert {one: now[one] for one in stayed} == {one: ports[one] for one in stayed}


def test_resize_is_undone_while_heat_is_at_it(living: Living, cloud: Devcloud) -> None:
    """The way back is taken at once, also when the new node would never become ready."""
    before = living.ids()
    cloud.add_fault(Fault(target="node", action="drop"))
    watch = living.resize(living.workers, 3)
    eventually(lambda: len(living.ids()) > len(before))
    assert living.look(watch).phase is Phase.RUNNING
    back = living.resize(living.workers, 2)
    assert living.look(watch).phase is Phase.INTERRUPTED
    done(living, back, lambda: living.resize(living.workers, 2, key=back.key))
    assert living.ids() == before
    assert set(living.stack_status().values()) == {"UPDATE_COMPLETE"}


def test_removal_is_undone(living: Living) -> None:
    """A node that was to go comes back, as itself if Heat had not removed it yet."""
    before = set(living.ids())
    living.resize(living.workers, 1, living.workers.nodes[:1])
    back = living.resize(living.workers, 2)
    done(living, back, lambda: living.resize(living.workers, 2, key=back.key))
    assert set(living.ids()) == before
    living.record()


def test_heat_is_killed_in_a_resize(living: Living, cloud: Devcloud) -> None:
    """A change that Heat lost is gone on with by the same call, and nothing is there twice."""
    before = living.ids()
    watch = living.resize(living.workers, 3)
    eventually(lambda: len(living.ids()) > len(before))
    cloud.kill_service("heat")
    cloud.start_service("heat")
    assert living.wait(watch).phase is Phase.INTERRUPTED
    for _ in range(3):
        watch = living.resize(living.workers, 3, key=watch.key)
        progress = living.wait(watch)
        if progress.phase is not Phase.INTERRUPTED:
            break
    assert progress.phase is Phase.DONE, living.explained(watch, progress)
    assert before.items() < living.ids().items()
    servers = list(living.tenant.resources.compute.servers())
    assert len(servers) == len(before) + 1
    done(living, living.resize(living.workers, 2))
    assert living.ids() == before


def test_upgrade_fails_with_its_node_and_returns(living: Living, cloud: Devcloud) -> None:
    """A node that never reports stops the upgrade; the way back leaves untouched nodes alone."""
    before, addresses = living.ids(), living.addresses()
    first, last = living.workers.nodes
    cloud.add_fault(Fault(target="node", action="drop", name=last.name))
    watch = upgrade(living, with_version(living.spec, "v1.38.0"), living.workers, 1, minutes=2)
    progress = living.wait(watch)
    assert progress.phase is Phase.FAILED
    told = living.explained(watch, progress)
    assert any("ready" in path for path in told.faults), told
    assert living.ids()[first.name] == before[first.name]
    assert living.ids()[last.name] != before[last.name]
    cloud.clear_faults()
    done(living, upgrade(living, living.spec, living.workers, 1))
    assert living.ids()[first.name] == before[first.name]
    assert living.addresses() == addresses
    living.record()
    assert {node.version for node in living.workers.nodes} == {"v1.37.1"}


def test_upgrade_without_a_new_server_returns(living: Living, cloud: Devcloud) -> None:
    """The way back may take up the old server of a node again, which then has its address."""
    addresses, last = living.addresses(), living.workers.nodes[-1]
    cloud.add_fault(Fault(target="server", action="fail", name=last.name, message="no disk"))
    watch = upgrade(living, with_version(living.spec, "v1.39.0"), living.workers, None)
    assert living.wait(watch).phase is Phase.FAILED
    cloud.clear_faults()
    done(living, upgrade(living, living.spec, living.workers, None))
    living.record()
    servers = {server.id: server for server in living.tenant.resources.compute.servers()}
    assert {servers[node.id].status for node in living.workers.nodes} == {"ACTIVE"}
    assert living.addresses() == addresses
    living.record()


def test_upgrade_goes_on_after_a_failure(living: Living, cloud: Devcloud) -> None:
    """A failed upgrade can be asked for again, and replaces what did not become ready."""
    addresses = living.addresses()
    last = living.workers.nodes[-1]
    cloud.add_fault(Fault(target="node", action="fail", name=last.name, message="no disk"))
    target = with_version(living.spec, "v1.38.0")
    watch = upgrade(living, target, living.workers, None)
    progress = living.wait(watch)
    assert progress.phase is Phase.FAILED
    told = living.explained(watch, progress)
    assert "no disk" in told.message
    failed = living.ids()[last.name]
    cloud.clear_faults()
    group = target.group(living.workers.uuid)
    living.driver.upgrade_node_group(living.context(watch.key), target, group, None, 10)
    done(living, watch)
    assert living.ids()[last.name] != failed
    assert living.addresses() == addresses
    living.record()
    assert {node.version for node in living.workers.nodes} == {"v1.38.0"}
    done(living, upgrade(living, living.spec, living.workers, None))
    living.record()


def test_masters_grow_and_are_replaced_one_at_a_time(living: Living, cloud: Devcloud) -> None:
    """Masters that come leave the first alone; in an upgrade the next waits for the one before."""
    masters = living.spec.masters
    (only,) = masters.nodes
    done(living, living.resize(masters, 3))
    living.spec = living.sized(masters, 3)
    living.record()
    before, addresses = living.ids(), living.addresses()
    assert before[only.name] == only.id
    assert len(living.spec.masters.nodes) == 3
    names = [node.name for node in living.spec.masters.nodes]
    cloud.add_fault(Fault(target="node", action="fail", message="no power", count=1))
    watch = upgrade(living, with_version(living.spec, "v1.38.0"), living.spec.masters, 1)
    assert living.wait(watch).phase is Phase.FAILED
    # Heat may not have removed the old one yet, which has the same name.
    assert len(living.every_id() - set(before.values())) == 1
    watch = upgrade(living, with_version(living.spec, "v1.38.1"), living.spec.masters, 1)
    done(living, watch)
    assert all(living.ids()[name] != before[name] for name in names)
    assert living.addresses() == addresses
    living.record()
    assert {node.version for node in living.spec.masters.nodes} == {"v1.38.1"}


def test_node_group_of_its_own(living: Living) -> None:
    """A further group lives in its own stack, changes size there and goes without a trace."""
    before = living.ids()
    group = NodeGroup(
        name="gpu",
        cluster_id=living.spec.cluster.uuid,
        project_id=living.spec.cluster.project_id,
        flavor_id="m1.small",
        node_count=1,
        node_labels={"kind": "gpu"},
    )
    recorded, target, key = living.spec, living.with_group(group), living.key()
    for _ in range(2):
        stack_id = living.driver.create_node_group(living.context(key), target, group, 10)
    done(living, living.watch(Method.CREATE_NODE_GROUP, key, group))
    living.spec = living.with_group(group.model_copy(update={"stack_id": stack_id}))
    living.record()
    assert len(living.stack_status()) == 2
    (node,) = living.spec.group("gpu").nodes
    done(living, living.resize(living.spec.group("gpu"), 2))
    assert living.ids()[node.name] == node.id
    key = living.key()
    watch = living.watch(Method.DELETE_NODE_GROUP, key, group)
    for _ in range(2):
        living.driver.delete_node_group(living.context(key), living.spec, group)
    assert living.wait(watch).phase is Phase.GONE
    assert living.ids() == before
    living.spec = recorded


def test_cluster_goes_with_its_groups(tenant: Tenant, nothing_left: None) -> None:
    """The removal of a cluster removes its groups first, and then everything."""
    _ = nothing_left
    living = Living(tenant, tenant.spec(workers=0))
    try:
        living.create()
        group = NodeGroup(
            name="gpu",
            cluster_id=living.spec.cluster.uuid,
            project_id=living.spec.cluster.project_id,
            flavor_id="m1.small",
        )
        target = living.with_group(group)
        living.driver.create_node_group(living.context(living.key()), target, group, 10)
        eventually(lambda: len(living.ids()) == 2)
        kinds = {
            one.split(" ")[0]
            for one in living.driver.find_leftovers(living.context("none"), living.spec)
        }
        assert {"stack", "server", "port", "network", "router", "floating"} <= kinds
    finally:
        living.remove()


def test_another_account_replaces_no_node(tenant: Tenant, nothing_left: None) -> None:
    """Nodes stay as they are in an upgrade that comes after the account was replaced."""
    _ = nothing_left
    fields = {"labels": CLOUD_PROVIDER, "template": CINDER}
    living = Living(tenant, tenant.spec(**fields), read_secrets=with_account)
    try:
        living.create()
        before = living.every_id()
        another = replace(ACCOUNT, password="another")
        living.read_secrets = lambda: with_account(another)
        for group in living.spec.node_groups:
            done(living, upgrade(living, living.spec, group, 1))
        assert living.every_id() == before
    finally:
        living.remove()
