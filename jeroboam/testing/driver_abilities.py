"""The rules for what a driver may offer beyond the core; each holds only where it is offered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from jeroboam.drivers.base import (
    Phase,
    SupportsCertificateRotation,
    SupportsCloudAccount,
    SupportsHealth,
    SupportsNodeGroups,
    SupportsReboot,
    SupportsRebuild,
    SupportsUpgrade,
)
from jeroboam.drivers.coe_api import SupportsCoeApi
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, HealthStatus, Method, Node
from jeroboam.testing.driver_case import DriverCase, LivingCluster, with_group, with_size
from jeroboam.testing.patience import ask

Count = Callable[[Node], int] | None


def names(nodes: Sequence[Node]) -> list[str]:
    """Return the names of nodes in an order that can be compared."""
    return sorted(node.name for node in nodes)


def versions(spec: ClusterSpec) -> list[str | None]:
    """Return the versions of the control plane's nodes."""
    return [node.version for node in spec.masters.nodes]


def addresses(node: Node) -> tuple[str, ...]:
    """Return a node's addresses in an order that can be compared."""
    return tuple(sorted(node.addresses))


class SizeRules:
    """Change of size, which every driver offers."""

    @pytest.fixture
    def living(self, case: DriverCase) -> Iterator[LivingCluster]:
        """Yield a cluster that is up; override it with a wider scope where building is slow."""
        try:
            yield LivingCluster.build(case)
        finally:
            case.remove()

    def test_nothing_submitted_is_not_done(self, living: LivingCluster) -> None:
        """A watch for a call that never reached the backend is not answered with DONE."""
        for method in (Method.UPDATE_CLUSTER, Method.UPGRADE_NODE_GROUP, Method.REBOOT_NODES):
            call = living.call(method, group=living.workers.uuid)
            progress = living.case.wait_for(call.watch())
            assert progress.phase in {Phase.INTERRUPTED, Phase.GONE}, method

    def test_grows_and_shrinks(self, living: LivingCluster) -> None:
        """A group gets the size that it is given, once, and the other groups stay as they are."""
        before = living.workers
        others = [group.nodes for group in living.spec.node_groups if group.uuid != before.uuid]
        for count in (before.node_count + 1, before.node_count):
            target = with_size(living.spec, living.workers, count)
            living.do(living.call(Method.UPDATE_CLUSTER, target, group=before.uuid))
            assert len(living.nodes(before)) == count
        assert {node.id for node in living.nodes(before)} & {node.id for node in before.nodes}
        now = [group.nodes for group in living.spec.node_groups if group.uuid != before.uuid]
        assert now == others

    def test_named_nodes_go(self, living: LivingCluster) -> None:
        """A node that shall be removed is removed, and none in its place."""
        group = living.workers
        if not group.nodes:
            pytest.skip("The driver names no nodes.")
        goes = group.nodes[0]
        target = with_size(living.spec, group, group.node_count - 1)
        living.do(
            living.call(Method.UPDATE_CLUSTER, target, group=group.uuid, nodes_to_remove=(goes,))
        )
        assert goes.id not in {node.id for node in living.nodes(group)}
        assert len(living.nodes(group)) == group.node_count - 1
        back = with_size(living.spec, living.workers, group.node_count)
        living.do(living.call(Method.UPDATE_CLUSTER, back, group=group.uuid))

    def test_rolls_back_from_the_middle(self, living: LivingCluster) -> None:
        """A change at work is led back to the recorded size by the same method."""
        group = living.workers
        target = with_size(living.spec, group, group.node_count + 2)
        living.submit(living.call(Method.UPDATE_CLUSTER, target, group=group.uuid))
        living.do(living.call(Method.UPDATE_CLUSTER, living.spec, group=group.uuid))
        assert len(living.nodes(group)) == group.node_count
        assert {node.id for node in living.nodes(group)} == {node.id for node in group.nodes}


class AbilityRules(SizeRules):
    """Node groups, upgrade, reboot, rebuild and health."""

    def test_node_group(self, living: LivingCluster) -> None:
        """A node group is built once and removed as a whole; the others do not notice."""
        case, driver = living.case, living.case.driver
        if not isinstance(driver, SupportsNodeGroups) or case.node_group is None:
            pytest.skip("The driver offers no node groups.")
        group, before = case.node_group, living.spec
        target = with_group(before, group)
        driver.check_node_group(target, group)
        living.do(living.call(Method.CREATE_NODE_GROUP, target, group=group.uuid))
        assert living.spec.group(group.uuid).stack_id
        assert len(living.nodes(group)) == group.node_count
        for other in before.node_groups:
            assert living.nodes(other) == other.nodes
        living.do(living.call(Method.DELETE_NODE_GROUP, group=group.uuid))
        living.spec = before
        living.refresh()
        for other in before.node_groups:
            assert living.nodes(other) == other.nodes

    def test_removal_of_no_group(self, living: LivingCluster) -> None:
        """The removal of a node group that was never built is success."""
        case = living.case
        if not isinstance(case.driver, SupportsNodeGroups) or case.node_group is None:
            pytest.skip("The driver offers no node groups.")
        target = with_group(living.spec, case.node_group)
        call = living.call(Method.DELETE_NODE_GROUP, target, group=case.node_group.uuid)
        call.make(case)
        assert case.wait_for(call.watch()).phase is Phase.GONE

    def test_upgrade_and_return(self, living: LivingCluster) -> None:
        """Each group's nodes get what the target says, once; the way back is the same call."""
        case, driver = living.case, living.case.driver
        if not isinstance(driver, SupportsUpgrade) or case.upgraded is None:
            pytest.skip("The driver offers no upgrade.")
        before, target = living.spec, case.upgraded(living.spec)
        driver.check_upgrade(before, target)
        self._upgrade(living, target)
        assert versions(living.spec) != versions(before)
        self._upgrade(living, before)
        assert versions(living.spec) == versions(before)

    @staticmethod
    def _upgrade(living: LivingCluster, target: ClusterSpec) -> None:
        for group in (target.masters, *target.workers):
            before = names(living.nodes(group))
            living.do(living.call(Method.UPGRADE_NODE_GROUP, target, group=group.uuid))
            assert len(living.nodes(group)) == group.node_count
            assert names(living.nodes(group)) == before

    def test_new_certificates(self, living: LivingCluster) -> None:
        """A group's nodes get what the cluster has now, once; the way back is the same call."""
        case, group = living.case, living.workers
        if not isinstance(case.driver, SupportsCertificateRotation):
            pytest.skip("The driver gives nodes no other certificates.")
        now = case.context.read_secrets()
        both = replace(now.kubernetes, also_trusted=(now.etcd.certificate,))
        before = names(group.nodes)
        for secrets in (replace(now, kubernetes=both), now):
            call = living.call(Method.RENEW_CERTIFICATES, group=group.uuid, secrets=secrets)
            living.do(call)
            assert names(living.nodes(group)) == before

    def test_need_of_an_account(self, case: DriverCase) -> None:
        """Whether programs in a cluster call the cloud is known at once, and does not change."""
        if not isinstance(case.driver, SupportsCloudAccount):
            pytest.skip("The driver's clusters hold no program that calls the cloud.")
        needed = case.driver.needs_cloud_account(case.spec)
        assert case.driver.needs_cloud_account(case.spec) is needed
        assert not needed or case.context.read_secrets().account is not None
        assert case.count_objects() == 0

    def test_no_downgrade(self, living: LivingCluster) -> None:
        """The way back is no upgrade that a user may ask for."""
        case, driver = living.case, living.case.driver
        if not isinstance(driver, SupportsUpgrade) or case.upgraded is None:
            pytest.skip("The driver offers no upgrade.")
        with pytest.raises(InvalidRequestError):
            driver.check_upgrade(case.upgraded(living.spec), living.spec)

    @pytest.mark.parametrize("hard", [False, True])
    def test_reboot(self, living: LivingCluster, *, hard: bool) -> None:
        """Nodes are rebooted once, however often it is asked, and are who they were."""
        if not isinstance(living.case.driver, SupportsReboot):
            pytest.skip("The driver offers no reboot.")
        self._work_on_nodes(living, Method.REBOOT_NODES, living.case.count_reboots, hard=hard)

    def test_rebuild(self, living: LivingCluster) -> None:
        """Nodes are rebuilt once, however often it is asked, and keep name, id and addresses."""
        driver = living.case.driver
        if not isinstance(driver, SupportsRebuild):
            pytest.skip("The driver offers no rebuild.")
        driver.check_rebuild(living.spec, living.workers.nodes)
        self._work_on_nodes(living, Method.REBUILD_NODES, living.case.count_rebuilds)

    @staticmethod
    def _work_on_nodes(
        living: LivingCluster, method: Method, count: Count, *, hard: bool = False
    ) -> None:
        group = living.workers
        nodes = group.nodes
        assert nodes, "A driver that works on single nodes names them."
        before = {node.name: count(node) for node in nodes} if count else {}
        call = living.call(method, group=group.uuid, nodes=nodes, hard=hard)
        living.do(call)
        now = living.nodes(group)
        assert {node.name: (node.id, addresses(node)) for node in now} == {
            node.name: (node.id, addresses(node)) for node in nodes
        }
        if count:
            assert {node.name: count(node) for node in now} == {
                name: number + 1 for name, number in before.items()
            }

    def test_health(self, living: LivingCluster) -> None:
        """A cluster that is up is healthy, or it is said what is not."""
        driver = living.case.driver
        if not isinstance(driver, SupportsHealth):
            pytest.skip("The driver offers no health check.")
        found = ask(driver.check_health, living.case.context, living.spec)
        assert found.status is HealthStatus.HEALTHY or found.reasons

    def test_routes(self, case: DriverCase) -> None:
        """What a driver adds to the API can be mounted, and is always the same."""
        driver = case.driver
        if not isinstance(driver, SupportsCoeApi):
            pytest.skip("The driver adds no routes.")
        driver.coe_api.check()
        assert driver.coe_api == driver.coe_api
