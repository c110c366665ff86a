"""The Ansible driver with real playbooks on Nova and Neutron, without the engine around it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from devcloud import Devcloud, Fault
from jeroboam.drivers.ansible import runs
from jeroboam.drivers.base import Phase
from jeroboam.drivers.k8s_ansible_v1.driver import AnsibleDriver
from jeroboam.models import Method
from jeroboam.testing.driver_case import DriverCase, LivingCluster
from jeroboam.testing.driver_suite import DriverSuite
from tests.acceptance import server_clusters
from tests.acceptance.heat_clusters import Tenant, eventually
from tests.unit.drivers.heat.clusters import secrets

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    where = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(runs.SETTING, str(where))
        yield where


@pytest.fixture(scope="class")
def shared(tenant: Tenant) -> Iterator[LivingCluster]:
    clusters, case = len(tenant.specs), server_clusters.case(tenant, AnsibleDriver())
    try:
        yield LivingCluster.build(case)
        assert case.remove().phase is Phase.GONE
    finally:
        tenant.sweep(clusters)


def test_the_installation_is_complete() -> None:
    AnsibleDriver().check_installation()


class TestContract(DriverSuite):
    @pytest.fixture
    def case(self, tenant: Tenant) -> DriverCase:
        return server_clusters.case(tenant, AnsibleDriver(), workers=1)

    @pytest.fixture
    def living(self, shared: LivingCluster) -> LivingCluster:
        """One cluster serves all tests of a living one; each leaves it as it was."""
        return shared

    def check_outputs(self, case: DriverCase) -> None:
        """Check also that nothing of what the playbook was given in confidence is left."""
        super().check_outputs(case)
        token = secrets().bootstrap_token.encode()
        files = [path for path in runs.root().rglob("*") if path.is_file()]
        assert files
        assert not any(token in path.read_bytes() for path in files)


@pytest.mark.usefixtures("nothing_left")
def test_the_playbook_is_killed(tenant: Tenant, cloud: Devcloud) -> None:
    """A cluster whose playbook died is gone on with; then a node fails it in its own words."""
    cloud.add_fault(Fault(target="node", action="fail", name="*-master-0", message="no containerd"))
    case = server_clusters.case(tenant, AnsibleDriver(), workers=0).create()
    try:
        eventually(lambda: case.count_objects() == 1)
        (run,) = runs.of_cluster(case.spec.cluster.uuid)
        os.kill(int(run.started["process"]), signal.SIGKILL)
        assert case.wait(Method.CREATE_CLUSTER).phase is Phase.INTERRUPTED
        case.create()
        progress = case.wait(Method.CREATE_CLUSTER)
        assert progress.phase is Phase.FAILED
        watch = case.watch(Method.CREATE_CLUSTER)
        told = case.driver.explain_failure(case.context, case.spec, watch, progress)
        assert "no containerd" in told.message
        assert case.count_objects() == 1
    finally:
        cloud.clear_faults()
        assert case.remove().phase is Phase.GONE
