"""The Senlin driver on a real Senlin, Nova and Neutron, without the engine around it."""

from collections.abc import Iterator

import pytest
from keystoneauth1.session import Session

from devcloud import Devcloud, Fault
from jeroboam.drivers.base import Phase
from jeroboam.drivers.k8s_senlin_v1.driver import SenlinDriver
from jeroboam.drivers.senlin.client import Senlin
from jeroboam.drivers.senlin.records import GROUP, Record
from jeroboam.errors import InvalidRequestError
from jeroboam.models import Method
from jeroboam.testing.driver_case import DriverCase, LivingCluster
from jeroboam.testing.driver_suite import DriverSuite
from tests import logins
from tests.acceptance import server_clusters
from tests.acceptance.heat_clusters import Tenant
from tests.conftest import devcloud_of

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]


@pytest.fixture(scope="module")
def cloud() -> Iterator[Devcloud]:
    """A cloud with Senlin, beside the one that all other tests share."""
    devcloud = devcloud_of("senlin", ports=100)
    devcloud.start()
    devcloud.clear_faults()
    yield devcloud
    devcloud.stop()


@pytest.fixture(scope="module", autouse=True)
def acquainted(cloud: Devcloud, tenant: Tenant) -> None:
    """The API has introduced the tenant to Senlin, after Jeroboam was refused without that."""
    owner = Session(logins.password(cloud, "demo"))
    case = server_clusters.case(tenant, SenlinDriver(), workers=0)
    trusts = f"{cloud.url('keystone')}/OS-TRUST/trusts?trustor_user_id={tenant.identity.user_id}"
    for trust in owner.get(trusts).json()["trusts"]:
        if trust["id"] != tenant.trust_id:
            # The home of an earlier run; Senlin itself does not forget.
            return
    with pytest.raises(InvalidRequestError, match="never met the owner"):
        case.create()
    session = tenant.access.token_session(logins.token_of(owner), tenant.identity.project_id)
    SenlinDriver().prepare_owner(tenant.access, session)


@pytest.fixture(scope="class")
def shared(tenant: Tenant) -> Iterator[LivingCluster]:
    clusters, case = len(tenant.specs), server_clusters.case(tenant, SenlinDriver())
    try:
        yield LivingCluster.build(case)
        assert case.remove().phase is Phase.GONE
    finally:
        tenant.sweep(clusters)


@pytest.mark.like("k8s_mistral_v1")
class TestContract(DriverSuite):
    @pytest.fixture
    def case(self, tenant: Tenant) -> DriverCase:
        return server_clusters.case(tenant, SenlinDriver(), workers=1)

    @pytest.fixture
    def living(self, shared: LivingCluster) -> LivingCluster:
        """One cluster serves all tests of a living one; each leaves it as it was."""
        return shared

    def check_outputs(self, case: DriverCase) -> None:
        """Check also that node groups are clusters of Senlin's, and user data are confidential."""
        super().check_outputs(case)
        senlin, cluster = Senlin(case.context.cloud), case.spec.cluster
        groups = {one["metadata"][GROUP]: one for one in senlin.clusters()[cluster.uuid]}
        for group in case.spec.node_groups:
            assert len(groups[group.uuid]["nodes"]) == group.node_count
            assert groups[group.uuid]["status"] == "ACTIVE"
        (profile,) = senlin.profiles([f"{groups[case.spec.masters.uuid]['name']}-0"])
        assert "#cloud-config" in profile["spec"]["properties"]["user_data"]
        owner = case.context.cloud.tenant_session(cluster.trust_id)
        where = {"service_type": "clustering", "version": "1"}
        for path in ("/profiles", f"/profiles/{profile['id']}"):
            answer = owner.get(path, endpoint_filter=where, raise_exc=False)
            assert answer.status_code == 403

    def check_nothing_is_left(self, case: DriverCase) -> None:
        """Check also that no profile is left, since they hold keys."""
        super().check_nothing_is_left(case)
        name = Record.name_of(case.spec.cluster.uuid)
        assert Senlin(case.context.cloud).profiles([name]) == []


@pytest.mark.usefixtures("nothing_left")
def test_node_fails(tenant: Tenant, cloud: Devcloud) -> None:
    """What a node reports of itself ends the cluster at once, in the node's words."""
    cloud.add_fault(Fault(target="node", action="fail", name="*-master-0", message="no containerd"))
    case = server_clusters.case(tenant, SenlinDriver(), workers=0)
    try:
        case = case.create()
        progress = case.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.FAILED
        (name,) = progress.faults
        assert name.endswith("-master-0")
        assert "no containerd" in progress.faults[name]
    finally:
        cloud.clear_faults()
        assert case.remove().phase is Phase.GONE
