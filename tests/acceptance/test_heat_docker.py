"""The Swarm and Mesos drivers on a real Heat, Nova and Neutron, without the engine around them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar
from urllib.parse import urlsplit

import pytest

from jeroboam.drivers.base import DriverContext, Phase
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.coe_driver import CoeHeatDriver
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.swarm.contents import join_key
from jeroboam.models import ClusterSpec, Method, NodeGroup
from jeroboam.testing.driver_case import DriverCase
from tests.acceptance.heat_clusters import POLL_SECONDS, TIMEOUT_SECONDS, Tenant
from tests.acceptance.test_kubernetes_drivers import OneClusterSuite
from tests.unit.drivers.docker.clusters import DRIVERS
from tests.unit.drivers.heat.clusters import secrets

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]

IMAGE = {"swarm": "fedora-coreos", "mesos": "ubuntu-kube"}
"""Images of the devcloud, whose contents are of no use anyhow."""

VERSIONS = {
    "swarm": ("docker_version", "29.9.3", "30.0.0"),
    "mesos": ("mesos_tag", "1.7.1", "1.8.0"),
}
API_PORTS = {"swarm": 2376, "mesos": 8443}


def case_of(tenant: Tenant, coe: str, **fields: object) -> DriverCase:
    """Return a cluster for the compliance suite; its master's state lies on a volume."""
    driver, make = DRIVERS[coe]
    label, old, new = VERSIONS[coe]
    spec: ClusterSpec = make(
        project_id=tenant.identity.project_id,
        user_id=tenant.identity.user_id,
        trust_id=tenant.trust_id,
        template={"image_id": IMAGE[coe]},
        group={"docker_volume_size": 1},
        labels={label: old},
        **fields,
    )
    tenant.specs.append(spec)
    return DriverCase(
        driver=driver(),
        spec=spec,
        context=DriverContext(f"{spec.cluster.uuid}:create:submit", tenant.access, secrets),
        count_objects=lambda: len(tenant.stacks(spec)),
        timeout_seconds=TIMEOUT_SECONDS,
        poll_seconds=POLL_SECONDS,
        bad_labels=(
            (label, "newest", "a version as 1.2.3"),
            ("boot_volume_size", "large", "a whole number"),
            ("docker_versions", "29.9.3", "docker_version"),
        ),
        node_group=NodeGroup(
            name="extra",
            cluster_id=spec.cluster.uuid,
            project_id=tenant.identity.project_id,
            flavor_id="m1.small",
            node_count=1,
        ),
        upgraded=lambda one: with_label(one, label, new),
        count_reboots=lambda node: len(tenant.actions(node, "reboot")),
        count_rebuilds=lambda node: len(tenant.actions(node, "rebuild")),
    )


def with_label(spec: ClusterSpec, name: str, value: str) -> ClusterSpec:
    """Return a cluster whose groups all have another value of a label."""

    def moved(labels: Mapping[str, str]) -> dict[str, str]:
        return {**labels, name: value}

    cluster = spec.cluster.model_copy(update={"labels": moved(spec.cluster.labels)})
    groups = tuple(
        group.model_copy(update={"labels": moved(group.labels)}) for group in spec.node_groups
    )
    return spec.model_copy(update={"cluster": cluster, "node_groups": groups})


class DockerSuite(OneClusterSuite):
    """The contract on one cluster, and what the cloud itself says of it."""

    coe: ClassVar[str]
    tenant: Tenant

    @pytest.fixture(autouse=True)
    def owner(self, tenant: Tenant) -> None:
        self.tenant = tenant

    @classmethod
    def case_of(cls, tenant: Tenant) -> DriverCase:
        return case_of(tenant, cls.coe)

    def check_outputs(self, case: DriverCase) -> None:
        """Check the outputs against Nova, and that Heat shows nothing that is secret."""
        super().check_outputs(case)
        outputs = case.driver.read_outputs(case.context, case.spec)
        address = urlsplit(outputs.api_address or "")
        (master,) = outputs.node_addresses[case.spec.masters.uuid]
        expected = ("https", master, API_PORTS[self.coe])
        assert (address.scheme, address.hostname, address.port) == expected
        assert outputs.coe_version == VERSIONS[self.coe][1]
        mine = self.tenant.resources.compute.servers(name=short_id(case.spec.cluster))
        assert len(list(mine)) == 2
        heat = tenant_client(case.context.cloud, case.spec.cluster.trust_id)
        shown = str(heat.stacks.get(case.spec.cluster.stack_id).to_dict())
        assert "user_data" in shown
        for secret in (secrets().bootstrap_token, join_key(secrets()), "prepare.sh"):
            assert secret not in shown


class TestSwarm(DockerSuite):
    coe = "swarm"


@pytest.mark.like("swarm_fedora_atomic_v1")
class TestMesos(DockerSuite):
    coe = "mesos"


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("coe", sorted(DRIVERS))
def test_three_masters(tenant: Tenant, coe: str) -> None:
    """Three masters stand behind a load balancer, and each node of Mesos knows all of them."""
    case = case_of(tenant, coe, masters=3, master_lb_enabled=True)
    try:
        case = case.create()
        progress = case.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.DONE, progress
        outputs = case.outputs()
        masters = outputs.node_addresses[case.spec.masters.uuid]
        assert len(masters) == 3
        assert urlsplit(outputs.api_address or "").hostname not in masters
        heat = tenant_client(tenant.access, tenant.trust_id)
        found = heat.resources.list(case.spec.cluster.stack_id, nested_depth=5)
        made = [one for one in found if one.resource_status == "CREATE_COMPLETE"]
        members = [one for one in made if one.resource_type == "OS::Octavia::PoolMember"]
        # The managers of a swarm are reached at a second port as well.
        assert len(members) == {"swarm": 6, "mesos": 3}[coe]
        (group,) = (one for one in made if one.resource_type == "node_group.yaml")
        told = heat.stacks.get(group.physical_resource_id).parameters["master_addresses"]
        assert told == {"swarm": "", "mesos": ",".join(masters)}[coe]
    finally:
        assert case.remove().phase is Phase.GONE


@pytest.mark.parametrize("coe", sorted(DRIVERS))
@pytest.mark.parametrize("name", ["cluster.yaml", "security.yaml"])
def test_templates_are_valid(tenant: Tenant, coe: str, name: str) -> None:
    """Heat's own check finds nothing wrong with the templates that no other COE has."""
    driver: CoeHeatDriver = DRIVERS[coe][0]()
    template, files = replace(driver.definition, template=name).load()
    some = {"string": "", "number": 0, "json": [], "boolean": False, "comma_delimited_list": ""}
    missing = {
        parameter: some[described["type"]]
        for parameter, described in template["parameters"].items()
        if "default" not in described and "constraints" not in described
    }
    heat = tenant_client(tenant.access, tenant.trust_id)
    answer = heat.stacks.validate(
        template=template, files=files, environment={"parameters": missing}
    )
    assert answer["Description"]
    hidden = {n for n, p in answer["Parameters"].items() if str(p.get("NoEcho")) == "true"}
    expected = {"master_user_data", "worker_user_data"} if name == "cluster.yaml" else set()
    assert hidden == expected
