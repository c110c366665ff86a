"""The Fedora CoreOS driver on a real Heat, Nova and Neutron, without the engine around it."""

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

import pytest
from keystoneauth1.session import Session
from openstack.connection import Connection

from devcloud import Devcloud, Fault
from jeroboam.cloud import Cloud
from jeroboam.drivers.base import CloudAccess, Phase, Progress
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.stacks import stack_name
from jeroboam.drivers.k8s_fedora_coreos_v1.driver import FedoraCoreosDriver
from jeroboam.drivers.nodes.names import short_id
from jeroboam.models import Method
from jeroboam.testing.driver_case import DriverCase, LivingCluster
from jeroboam.testing.driver_suite import DriverSuite
from tests import logins
from tests.acceptance.conftest import TIMEOUT
from tests.acceptance.heat_clusters import Tenant, eventually
from tests.unit.drivers.heat.clusters import secrets

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]

# With a volume for etcd, the only master may be set up anew.
LABELS = {
    "ssh_allowed_cidrs": "10.0.0.0/8",
    "etcd_volume_size": "1",
    "kube_tag": "v1.37.1",
}
SUBNET = "192.168.77.0/24"


@pytest.fixture(scope="class")
def shared(tenant: Tenant) -> Iterator[LivingCluster]:
    clusters, case = len(tenant.specs), tenant.case(workers=2, labels=LABELS)
    try:
        yield LivingCluster.build(case)
        assert case.remove().phase is Phase.GONE
    finally:
        tenant.sweep(clusters)


class TestContract(DriverSuite):
    @pytest.fixture
    def case(self, tenant: Tenant) -> DriverCase:
        self.tenant = tenant
        return tenant.case(workers=2, labels=LABELS)

    @pytest.fixture
    def living(self, shared: LivingCluster) -> LivingCluster:
        """One cluster serves all tests of a living one; each leaves it as it was."""
        return shared

    def check_outputs(self, case: DriverCase) -> None:
        """Check the outputs against Nova and Neutron, and the stack against its marks."""
        super().check_outputs(case)
        outputs = case.driver.read_outputs(case.context, case.spec)
        address = urlsplit(outputs.api_address or "")
        (master,) = outputs.node_addresses[case.spec.masters.uuid]
        assert (address.scheme, address.hostname, address.port) == ("https", master, 6443)
        floating = {
            one.floating_ip_address: one.port_id for one in self.tenant.resources.network.ips()
        }
        assert floating[master]
        assert set(outputs.node_addresses[case.spec.workers[0].uuid]) < set(floating)
        mine = self.tenant.resources.compute.servers(name=short_id(case.spec.cluster))
        names = {server.name for server in mine}
        assert len(names) == 3
        (stack,) = self.tenant.stacks(case.spec)
        assert stack.stack_name == stack_name(case.spec.cluster)
        assert set(stack.tags) == {
            "jeroboam",
            case.spec.cluster.uuid,
            case.context.idempotency_key,
        }
        self.check_secrecy(case)

    def check_secrecy(self, case: DriverCase) -> None:
        """Check that Heat does not show what it was given in confidence."""
        heat = tenant_client(case.context.cloud, case.spec.cluster.trust_id)
        shown = str(heat.stacks.get(case.spec.cluster.stack_id).to_dict())
        assert "user_data" in shown
        assert "kubeadm" not in shown
        assert secrets().bootstrap_token not in shown


def create(case: DriverCase) -> tuple[DriverCase, Progress]:
    submitted = case.create()
    return submitted, submitted.wait(Method.CREATE_CLUSTER)


def explained(case: DriverCase, progress: Progress) -> Progress:
    watch = case.watch(Method.CREATE_CLUSTER)
    return case.driver.explain_failure(case.context, case.spec, watch, progress)


@pytest.mark.usefixtures("nothing_left")
def test_three_masters(tenant: Tenant) -> None:
    """Three masters stand behind a load balancer with a public address; volumes are optional."""
    case = tenant.case(
        masters=3,
        master_lb_enabled=True,
        labels={"etcd_volume_size": "5", "master_lb_allowed_cidrs": "10.0.0.0/8"},
        group={"docker_volume_size": 10},
        template={"network_driver": "calico"},
    )
    try:
        case, progress = create(case)
        assert progress.phase is Phase.DONE, progress
        outputs = case.driver.read_outputs(case.context, case.spec)
        masters = outputs.node_addresses[case.spec.masters.uuid]
        assert len(masters) == 3
        assert all(ip_address(one) in ip_network("10.0.0.0/24") for one in masters)
        api = urlsplit(outputs.api_address or "").hostname
        assert api not in masters
        assert api in {one.floating_ip_address for one in tenant.resources.network.ips()}
        groups = tenant.resources.compute.server_groups()
        assert sorted(len(one.member_ids) for one in groups) == [1, 3]
    finally:
        assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_existing_network(tenant: Tenant) -> None:
    """In a network of the tenant's own nothing but ports is made, and it survives the cluster."""
    resources = tenant.resources.network
    network = resources.create_network(name="existing")
    subnet = resources.create_subnet(network_id=network.id, cidr=SUBNET, ip_version=4)
    case = tenant.case(
        floating_ip_enabled=False,
        fixed_network=network.id,
        fixed_subnet=subnet.id,
        template={"external_network_id": None},
    )
    try:
        case, progress = create(case)
        assert progress.phase is Phase.DONE, progress
        outputs = case.driver.read_outputs(case.context, case.spec)
        address = urlsplit(outputs.api_address or "").hostname or ""
        assert ip_address(address) in ip_network(SUBNET)
        assert not list(resources.routers(project_id=tenant.identity.project_id))
    finally:
        assert case.remove().phase is Phase.GONE
        assert resources.find_network(network.id)
        resources.delete_network(network.id)


@pytest.mark.usefixtures("nothing_left")
def test_quota(tenant: Tenant, cloud: Devcloud) -> None:
    """A used-up quota fails the cluster with Nova's own words and the server that met it."""
    session = Session(logins.password(cloud, "admin"), timeout=TIMEOUT)
    admin = Connection(session=session, region_name="RegionOne").compute
    admin.update_quota_set(tenant.identity.project_id, instances=1)
    case = tenant.case(workers=2)
    try:
        case, progress = create(case)
        assert progress.phase is Phase.FAILED
        told = explained(case, progress)
        assert "Quota exceeded for instances" in told.message
        assert any(path.endswith(".server") for path in told.faults)
        assert sum(len(path) + len(reason) for path, reason in told.faults.items()) < 4096
    finally:
        admin.update_quota_set(tenant.identity.project_id, instances=-1)
        assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_node_fails(tenant: Tenant, cloud: Devcloud) -> None:
    """What a node reports of itself ends the cluster at once, in the node's words."""
    cloud.add_fault(Fault(target="node", action="fail", name="*-master-0", message="no containerd"))
    case = tenant.case()
    try:
        case, progress = create(case)
        assert progress.phase is Phase.FAILED
        told = explained(case, progress)
        assert told.faults == {
            "masters.0.ready": "A node reported that it could not be set up: no containerd"
        }
        assert told.message.startswith("masters.0.ready: A node reported")
    finally:
        cloud.clear_faults()
        assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_heat_is_killed(tenant: Tenant, cloud: Devcloud) -> None:
    """A stack that Heat lost halfway is gone on with, and it stays the only one."""
    case = tenant.case().create()
    try:
        eventually(lambda: len(list(tenant.resources.compute.servers())) > 0)
        cloud.kill_service("heat")
        cloud.start_service("heat")
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.INTERRUPTED
        again = replace(case, spec=case.spec.model_copy())
        assert again.create().spec.cluster.stack_id == case.spec.cluster.stack_id
        progress = case.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.DONE, explained(case, progress)
        assert case.count_objects() == 1
        assert len(list(tenant.resources.compute.servers())) == 2
    finally:
        assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_heat_is_killed_during_delete(tenant: Tenant, cloud: Devcloud) -> None:
    """A delete that Heat lost halfway is repeated and ends."""
    case = tenant.case(workers=0)
    case, progress = create(case)
    assert progress.phase is Phase.DONE
    case.driver.delete_cluster(case.context, case.spec)
    cloud.kill_service("heat")
    cloud.start_service("heat")
    assert case.wait(Method.DELETE_CLUSTER).phase in {Phase.INTERRUPTED, Phase.GONE}
    assert case.remove().phase is Phase.GONE


@pytest.mark.usefixtures("nothing_left")
def test_neutron_fails_during_delete(tenant: Tenant, cloud: Devcloud) -> None:
    """What Heat has lost goes in spite of a Neutron that fails now and then, and so does the rest.

    Heat is killed in the middle of a create, and Neutron fails the first removals of two kinds.
    """
    case = tenant.case().create()
    eventually(lambda: len(list(tenant.resources.compute.servers())) > 0)
    cloud.kill_service("heat")
    lost = {"name": f"lost-{short_id(case.spec.cluster)}"}
    network = tenant.resources.network.create_network(**lost)
    tenant.resources.network.create_subnet(network_id=network.id, cidr=SUBNET, ip_version=4, **lost)
    tenant.resources.network.create_security_group(**lost)
    cloud.start_service("heat")
    for path in ("subnets/", "security-groups/"):
        cloud.add_fault(
            Fault(
                target="api",
                action="fail",
                service="neutron",
                method="DELETE",
                path=path,
                status=500,
                count=3,
            )
        )
    assert case.remove().phase is Phase.GONE


class WithoutGlobalList(CloudAccess):
    """A cloud whose policy does not let the service user see all projects."""

    region = "RegionOne"
    interface = "public"
    name = "strict"

    def __init__(self, access: Cloud, service: Session) -> None:
        self._access = access
        self._service = service

    def service_session(self) -> Session:
        return self._service

    def tenant_session(self, trust_id: str | None) -> Session:
        return self._access.tenant_session(trust_id)


@pytest.mark.usefixtures("nothing_left")
def test_policy_forbids_the_global_list(tenant: Tenant, cloud: Devcloud) -> None:
    """Where Heat's policy is strict, the poller sees a cluster through its owner's project."""
    service = Session(logins.password(cloud, "other"), timeout=TIMEOUT)
    case = tenant.case(workers=0).create()
    strict = WithoutGlobalList(tenant.access, service)
    watch = case.watch(Method.CREATE_CLUSTER)
    try:
        found = case.driver.poller().poll(strict, [watch])
        assert found[watch.cluster_id].phase is Phase.RUNNING
    finally:
        assert case.remove().phase is Phase.GONE


@pytest.mark.parametrize("name", ["cluster.yaml", "master.yaml", "node_group.yaml", "node.yaml"])
def test_templates_are_valid(tenant: Tenant, name: str) -> None:
    """Heat's own check finds nothing wrong with any of the templates."""
    definition = replace(FedoraCoreosDriver.definition, template=name)
    template, files = definition.load()
    # Conditions are evaluated, so whatever has no default needs some value.
    some = {"string": "", "number": 0, "json": [], "boolean": False}
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
    hidden = [n for n, p in answer["Parameters"].items() if str(p.get("NoEcho")) == "true"]
    assert hidden
    assert all("user_data" in one for one in hidden)
