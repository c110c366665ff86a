"""Which clusters and changes the Swarm and Mesos drivers take, and what they say to the others."""

from typing import Any

import pytest

from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.mesos_ubuntu_v1.driver import MesosUbuntuDriver
from jeroboam.drivers.swarm_fedora_atomic_v1.driver import SwarmFedoraAtomicDriver
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup
from tests.unit.drivers.docker.clusters import DRIVERS, mesos_spec, swarm_spec

SWARM, MESOS = SwarmFedoraAtomicDriver(), MesosUbuntuDriver()

Fields = dict[str, Any]


def check_refused(driver: CoeHeatDriver, spec: ClusterSpec, complaint: str) -> None:
    with pytest.raises(InvalidRequestError, match=complaint):
        driver.validate(spec)


@pytest.mark.parametrize("coe", sorted(DRIVERS))
class TestBoth:
    @pytest.mark.parametrize(
        "fields",
        [
            pytest.param({}, id="defaults"),
            pytest.param({"masters": 3, "master_lb_enabled": True}, id="three"),
            pytest.param({"workers": 0}, id="no workers"),
            pytest.param({"template": {"docker_storage_driver": "overlay2"}}, id="overlay2"),
            pytest.param({"template": {"network_driver": "docker"}}, id="docker"),
            pytest.param({"template": {"apiserver_port": 9999}}, id="port"),
        ],
    )
    def test_accepted(self, coe: str, fields: Fields) -> None:
        """What can be built is accepted."""
        driver, make = DRIVERS[coe]
        driver().validate(make(**fields))

    @pytest.mark.parametrize(
        ("fields", "complaint"),
        [
            ({"labels": {"docker_versions": "1"}}, "Did you mean 'docker_version'"),
            ({"labels": {"docker_version": "new"}}, "a version as 1.2.3"),
            ({"labels": {"docker_tarball_sha256": "abc"}}, "64 hexadecimal digits"),
            ({"labels": {"boot_volume_size": "-1"}}, "a whole number"),
            ({"masters": 2, "master_lb_enabled": True}, "majority"),
            ({"template": {"network_driver": "flannel"}}, "network_driver is 'flannel'"),
            ({"template": {"volume_driver": "rexray"}}, "volume_driver is rexray"),
            ({"template": {"tls_disabled": True}}, "tls_disabled is true"),
            ({"template": {"docker_storage_driver": "devicemapper"}}, "uses overlay2"),
            ({"template": {"apiserver_port": 22}}, "apiserver_port is 22"),
            ({"template": {"external_network_id": None}}, "external_network_id is needed"),
            ({"template": {"http_proxy": "p:1; rm"}}, "http_proxy is 'p:1; rm'"),
            ({"group": {"flavor_id": None}}, "has no flavor"),
            ({"fixed_subnet": "s"}, "Set both"),
        ],
    )
    def test_refused(self, coe: str, fields: Fields, complaint: str) -> None:
        """What cannot be built is refused, with what would be right."""
        driver, make = DRIVERS[coe]
        check_refused(driver(), make(**fields), complaint)

    def test_node_groups(self, coe: str) -> None:
        """A group may differ in what concerns its own nodes, and in nothing else."""
        driver, make = DRIVERS[coe]
        spec = make()

        def group(**fields: Any) -> NodeGroup:
            given = {"name": "g", "cluster_id": "c", "project_id": "p", "flavor_id": "f", **fields}
            return NodeGroup(**given)

        good = group(labels={"docker_version": "28.5.2"}, node_labels={"disk": "ssd"})
        driver().check_node_group(spec, good)
        for bad, complaint in (
            (group(labels={"fixed_subnet_cidr": "10.9.0.0/24"}), "holds for the whole cluster"),
            (group(role="master"), "The control plane is one group"),
            (group(flavor_id=None), "has no flavor"),
            (group(node_taints=({"key": "a", "effect": "NoSchedule"},)), "only Kubernetes knows"),
        ):
            with pytest.raises(InvalidRequestError, match=complaint):
                driver().check_node_group(spec, bad)

    def test_further_groups_are_checked_with_the_cluster(self, coe: str) -> None:
        """A cluster is refused for a further group as well."""
        driver, make = DRIVERS[coe]
        spec = make()
        bad = NodeGroup(name="g", cluster_id="c", project_id="p", labels={"docker_versio": "1"})
        target = spec.model_copy(update={"node_groups": (*spec.node_groups, bad)})
        with pytest.raises(InvalidRequestError, match="no flavor"):
            driver().validate(target)
        fixed = bad.model_copy(update={"flavor_id": "f"})
        target = spec.model_copy(update={"node_groups": (*spec.node_groups, fixed)})
        check_refused(driver(), target, "docker_version")

    def test_workers_may_have_any_size(self, coe: str) -> None:
        """Workers come and go as their users like."""
        driver, make = DRIVERS[coe]
        spec = make()
        driver().check_resize(spec, spec.workers[0], 0)
        driver().check_resize(spec, spec.workers[0], 40)

    @pytest.mark.parametrize(
        ("before", "after", "complaint"),
        [
            ({"docker_version": "29.9.3"}, {"docker_version": "28.5.2"}, "cannot go down"),
            ({}, {"fixed_subnet_cidr": "10.9.0.0/24"}, "an upgrade cannot change"),
            ({}, {"docker_version": "30.0.0"}, "docker_volume_size"),
        ],
    )
    def test_no_upgrade(
        self, coe: str, before: dict[str, str], after: dict[str, str], complaint: str
    ) -> None:
        """Versions never go down, and the only master is not lost."""
        driver, make = DRIVERS[coe]
        spec = make(labels=before)
        with pytest.raises(InvalidRequestError, match=complaint):
            driver().check_upgrade(spec, moved(spec, after))

    def test_upgrade(self, coe: str) -> None:
        """A master whose state lies on a volume may be set up anew, and so may one of three."""
        driver, make = DRIVERS[coe]
        for fields in (
            {"group": {"docker_volume_size": 10}},
            {"masters": 3, "master_lb_enabled": True},
        ):
            spec = make(**fields)
            driver().check_upgrade(spec, moved(spec, {"docker_version": "30.0.0"}))
            driver().check_rebuild(spec, spec.masters.nodes)


def moved(spec: ClusterSpec, labels: dict[str, str], only: str | None = None) -> ClusterSpec:
    """Return a cluster whose groups have other labels, or whose workers do."""
    cluster = spec.cluster.model_copy(update={"labels": {**spec.cluster.labels, **labels}})
    groups = tuple(
        one.model_copy(update={"labels": {**one.labels, **labels}})
        if only is None or one.role == only
        else one
        for one in spec.node_groups
    )
    kept = spec.cluster if only else cluster
    return spec.model_copy(update={"cluster": kept, "node_groups": groups})


class TestSwarm:
    @pytest.mark.parametrize(
        ("fields", "complaint"),
        [
            ({"masters": 3}, "master_lb_enabled"),
            ({"masters": 9, "master_lb_enabled": True}, "Choose 1, 3, 5 or 7"),
            ({"labels": {"swarm_address_pool": "10.0.0.0/16"}}, "overlap"),
            ({"labels": {"swarm_address_pool_subnetlen": "16"}}, "Use a larger number"),
            ({"labels": {"swarm_address_pool_subnetlen": "40"}}, "a number from 16 to 29"),
            ({"labels": {"swarm_certificate_expiry": "soon"}}, "a duration as 2160h"),
            ({"labels": {"swarm_strategy": "spread"}}, "swarm_strategy"),
            ({"template": {"apiserver_port": 2377}}, "apiserver_port is 2377"),
        ],
    )
    def test_refused(self, fields: Fields, complaint: str) -> None:
        """What cannot become a swarm is refused."""
        check_refused(SWARM, swarm_spec(**fields), complaint)

    def test_existing_network(self) -> None:
        """Where the nodes' network is not ours, its addresses are not known."""
        labels = {"swarm_address_pool": "10.0.0.0/16"}
        SWARM.validate(swarm_spec(fixed_network="n", labels=labels))

    @pytest.mark.parametrize(
        ("masters", "balanced", "count", "complaint"),
        [
            (3, True, 1, "cannot shrink"),
            (1, True, 2, "majority"),
            (1, False, 3, "built without one"),
            (3, True, 9, "Choose 1, 3, 5 or 7"),
        ],
    )
    def test_managers(self, masters: int, balanced: bool, count: int, complaint: str) -> None:
        """Managers only become more, and an odd number."""
        spec = swarm_spec(masters=masters, master_lb_enabled=balanced)
        with pytest.raises(InvalidRequestError, match=complaint):
            SWARM.check_resize(spec, spec.masters, count)

    def test_more_managers(self) -> None:
        """Behind a load balancer, managers join a living swarm."""
        spec = swarm_spec(master_lb_enabled=True)
        SWARM.check_resize(spec, spec.masters, 3)

    def test_workers_are_not_newer(self) -> None:
        """Managers are upgraded before workers."""
        spec = swarm_spec(masters=3, master_lb_enabled=True)
        target = moved(spec, {"docker_version": "30.0.0"}, only="worker")
        with pytest.raises(InvalidRequestError, match="Upgrade the managers first"):
            SWARM.check_upgrade(spec, target)


class TestMesos:
    @pytest.mark.parametrize(
        ("fields", "complaint"),
        [
            ({"masters": 7}, "1, 3 or 5 masters, not 7"),
            ({"labels": {"mesos_slave_isolation": "a b"}}, "words separated by commas"),
            ({"labels": {"mesos_slave_work_dir": "var"}}, "an absolute path"),
            ({"labels": {"mesos_slave_executor_env_variables": "[1]"}}, "a JSON object"),
            ({"labels": {"mesos_slave_executor_env_variables": "{1"}}, "a JSON object"),
            ({"labels": {"mesos_slave_isolations": "x"}}, "mesos_slave_isolation"),
            ({"labels": {"rexray_preempt": "true"}}, "rexray_preempt"),
            ({"template": {"apiserver_port": 5050}}, "apiserver_port is 5050"),
            ({"group": {"node_labels": {"a": "b;c:d"}}}, "cannot be an attribute"),
        ],
    )
    def test_refused(self, fields: Fields, complaint: str) -> None:
        """What cannot become a cluster of Mesos is refused."""
        check_refused(MESOS, mesos_spec(**fields), complaint)

    @pytest.mark.parametrize("masters", [1, 3, 5])
    def test_masters(self, masters: int) -> None:
        """Masters decide by their majority, with or without a load balancer; they stay so many."""
        spec = mesos_spec(masters=masters)
        MESOS.validate(spec)
        assert MESOS.plan(spec).quorum > masters / 2
        with pytest.raises(InvalidRequestError, match="is fixed"):
            MESOS.check_resize(spec, spec.masters, masters + 2)

    def test_no_minor_is_left_out(self) -> None:
        """Mesos goes up by one minor version at a time."""
        spec = mesos_spec(masters=3)
        MESOS.check_upgrade(spec, moved(spec, {"mesos_tag": "1.8.0"}))
        with pytest.raises(InvalidRequestError, match=r"1\.8"):
            MESOS.check_upgrade(spec, moved(spec, {"mesos_tag": "1.9.0"}))
        with pytest.raises(InvalidRequestError, match="Upgrade the masters first"):
            MESOS.check_upgrade(spec, moved(spec, {"mesos_tag": "1.8.0"}, only="worker"))
