"""Reboot, rebuild and health of nodes on a real Nova, with Nova's own log as the witness."""

from collections.abc import Iterator

import pytest

from devcloud import Devcloud, Fault
from jeroboam.drivers.base import Phase
from jeroboam.errors import CloudUnavailableError, ConflictError, InvalidRequestError
from jeroboam.models import HealthStatus, Method, Node
from tests.acceptance.heat_clusters import Living, Tenant, eventually

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]


@pytest.fixture(scope="module")
def living(tenant: Tenant) -> Iterator[Living]:
    """One cluster for all tests; each leaves it well."""
    cluster = Living(tenant, tenant.spec(workers=2))
    try:
        cluster.create()
        yield cluster
    finally:
        cluster.remove()


@pytest.fixture(autouse=True)
def no_faults(cloud: Devcloud) -> Iterator[None]:
    yield
    cloud.clear_faults()


def count(living: Living, kind: str) -> list[int]:
    """Return how often Nova says that it did something to each worker."""
    return [len(living.tenant.actions(node, kind)) for node in living.workers.nodes]


def reboot(living: Living, *nodes: Node, hard: bool = False, key: str | None = None) -> str:
    """Submit a reboot twice; return its key."""
    key = key or living.key()
    for _ in range(2):
        living.driver.reboot_nodes(living.context(key), living.spec, nodes, hard=hard)
    return key


def rebuild(living: Living, *nodes: Node, key: str | None = None) -> str:
    """Submit a rebuild twice; return its key."""
    key = key or living.key()
    for _ in range(2):
        living.driver.rebuild_nodes(living.context(key), living.spec, nodes)
    return key


@pytest.mark.parametrize("hard", [False, True])
def test_reboot(living: Living, *, hard: bool) -> None:
    """Each node is rebooted once, however often the call is repeated, also when it is over."""
    before, nodes = count(living, "reboot"), living.workers.nodes
    key = reboot(living, *nodes, hard=hard)
    watch = living.watch(Method.REBOOT_NODES, key, nodes=nodes)
    assert living.wait(watch).phase is Phase.DONE
    reboot(living, *nodes, hard=hard, key=key)
    assert living.wait(watch).phase is Phase.DONE
    assert count(living, "reboot") == [number + 1 for number in before]
    other = living.watch(Method.REBOOT_NODES, living.key(), nodes=nodes)
    assert living.look(other).phase is Phase.INTERRUPTED


def test_failed_reboot(living: Living, cloud: Devcloud) -> None:
    """A reboot that Nova gave up is told with Nova's words; a new attempt is one more reboot."""
    node = living.workers.nodes[0]
    cloud.add_fault(Fault(target="reboot", action="fail", name=node.name, message="no power"))
    key = living.key()
    living.driver.reboot_nodes(living.context(key), living.spec, [node], hard=True)
    watch = living.watch(Method.REBOOT_NODES, key, nodes=[node])
    progress = living.wait(watch)
    assert progress.phase is Phase.FAILED
    assert "no power" in progress.faults[node.name]
    cloud.clear_faults()
    living.driver.reboot_nodes(living.context(key), living.spec, [node], hard=True)
    assert living.wait(watch).phase is Phase.DONE


def test_switched_off_node(living: Living) -> None:
    """A node that is off cannot be asked to reboot; a hard reboot starts it."""
    node = living.workers.nodes[1]
    compute = living.tenant.resources.compute
    compute.stop_server(node.id)
    eventually(lambda: str(compute.get_server(node.id).status) == "SHUTOFF")
    health = living.driver.check_health(living.context("none"), living.spec)
    assert health.status is HealthStatus.UNHEALTHY
    assert "SHUTOFF" in health.reasons[node.name]
    with pytest.raises(ConflictError, match=rf"{node.name} is switched off.*hard reboot"):
        reboot(living, node)
    key = reboot(living, node, hard=True)
    watch = living.watch(Method.REBOOT_NODES, key, nodes=[node])
    assert living.wait(watch).phase is Phase.DONE


def test_rebuild(living: Living) -> None:
    """Nodes are rebuilt once and keep server, ports and addresses."""
    nodes, before = living.workers.nodes, count(living, "rebuild")
    ids, ports, addresses = living.ids(), living.ports(), living.addresses()
    key = rebuild(living, *nodes)
    watch = living.watch(Method.REBUILD_NODES, key, nodes=nodes)
    assert living.wait(watch).phase is Phase.DONE
    rebuild(living, *nodes, key=key)
    assert living.wait(watch).phase is Phase.DONE
    assert count(living, "rebuild") == [number + 1 for number in before]
    assert (living.ids(), living.ports(), living.addresses()) == (ids, ports, addresses)


def test_rebuilt_node_has_to_report(living: Living, cloud: Devcloud) -> None:
    """Nova being done is not enough: the node itself has to say that it is ready again."""
    node = living.workers.nodes[0]
    cloud.add_fault(Fault(target="node", action="delay", name=node.name, seconds=8))
    key = rebuild(living, node)
    watch = living.watch(Method.REBUILD_NODES, key, nodes=[node])
    eventually(lambda: "has not reported" in living.look(watch).message)
    assert living.look(watch).phase is Phase.RUNNING
    assert living.wait(watch).phase is Phase.DONE


def test_rebuilt_node_reports_failure(living: Living, cloud: Devcloud) -> None:
    """What a rebuilt node says of its failure is the reason."""
    node = living.workers.nodes[0]
    cloud.add_fault(Fault(target="node", action="fail", name=node.name, message="no containerd"))
    watch = living.watch(Method.REBUILD_NODES, rebuild(living, node), nodes=[node])
    progress = living.wait(watch)
    assert progress.phase is Phase.FAILED
    assert "no containerd" in progress.faults[node.name]


def test_failed_rebuild(living: Living, cloud: Devcloud) -> None:
    """A rebuild that Nova gave up is told with Nova's fault, and can be asked for again."""
    node = living.workers.nodes[0]
    cloud.add_fault(Fault(target="server", action="fail", name=node.name, message="disk broken"))
    key = living.key()
    living.driver.rebuild_nodes(living.context(key), living.spec, [node])
    watch = living.watch(Method.REBUILD_NODES, key, nodes=[node])
    progress = living.wait(watch)
    assert progress.phase is Phase.FAILED
    assert "disk broken" in progress.faults[node.name]
    cloud.clear_faults()
    living.driver.rebuild_nodes(living.context(key), living.spec, [node])
    assert living.wait(watch).phase is Phase.DONE


def test_only_master(living: Living) -> None:
    """The only master is not rebuilt where the cluster's state would go with its disk."""
    with pytest.raises(InvalidRequestError, match="would lose the state"):
        living.driver.rebuild_nodes(
            living.context(living.key()), living.spec, living.spec.masters.nodes
        )
    (master,) = living.spec.masters.nodes
    assert living.tenant.actions(master, "rebuild") == []


def test_nova_is_away(living: Living, cloud: Devcloud) -> None:
    """While Nova does not answer, a wait goes on; a repeated call reboots nothing twice."""
    node, before = living.workers.nodes[0], count(living, "reboot")[0]
    key = reboot(living, node)
    watch = living.watch(Method.REBOOT_NODES, key, nodes=[node])
    cloud.add_fault(Fault(target="api", action="fail", service="nova", status=503))
    with pytest.raises(CloudUnavailableError):
        living.look(watch)
    with pytest.raises(CloudUnavailableError):
        reboot(living, node, key=key)
    health = living.driver.check_health(living.context("none"), living.spec)
    assert health.status is HealthStatus.UNKNOWN
    assert "503" in health.reasons["cloud"]
    cloud.clear_faults()
    reboot(living, node, key=key)
    assert living.wait(watch).phase is Phase.DONE
    assert count(living, "reboot")[0] == before + 1


def test_lost_answer(living: Living, cloud: Devcloud) -> None:
    """A reboot whose answer was lost on the way is not submitted again."""
    node, before = living.workers.nodes[1], count(living, "reboot")[1]
    key = living.key()
    living.driver.reboot_nodes(living.context(key), living.spec, [node], hard=False)
    cloud.kill_service("nova")
    cloud.start_service("nova")
    reboot(living, node, key=key)
    watch = living.watch(Method.REBOOT_NODES, key, nodes=[node])
    assert living.wait(watch).phase in {Phase.DONE, Phase.FAILED}
    assert count(living, "reboot")[1] == before + 1
