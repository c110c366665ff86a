"""The Kubernetes drivers that differ by their system only, each on one cluster of a real Heat.

What they share with the Fedora CoreOS driver, and that is nearly all, its tests prove at length.
"""

from collections.abc import Iterator
from typing import ClassVar

import pytest

from jeroboam.drivers.base import Phase
from jeroboam.drivers.heat.kubernetes.driver import KubernetesHeatDriver
from jeroboam.drivers.k8s_coreos_v1.driver import CoreosDriver
from jeroboam.drivers.k8s_fedora_atomic_v1.driver import FedoraAtomicDriver
from jeroboam.drivers.k8s_ubuntu_v1.driver import UbuntuDriver
from jeroboam.testing.driver_case import DriverCase, LivingCluster
from jeroboam.testing.driver_suite import DriverSuite
from tests.acceptance.heat_clusters import Tenant

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.filterwarnings("ignore:Support for InfluxDB"),
    pytest.mark.usefixtures("swept"),
]

# With a volume for etcd, the only master may be set up anew.
LABELS = {"etcd_volume_size": "1", "kube_tag": "v1.37.1"}


class OneClusterSuite(DriverSuite):
    """The compliance suite on one cluster for all tests."""

    driver: ClassVar[type[KubernetesHeatDriver]]

    @pytest.fixture
    def case(self, tenant: Tenant) -> DriverCase:
        return self.case_of(tenant)

    @pytest.fixture(scope="class")
    @classmethod
    def shared(cls, tenant: Tenant) -> Iterator[LivingCluster]:
        clusters, case = len(tenant.specs), cls.case_of(tenant)
        try:
            living = LivingCluster.build(case)
            yield living
            assert case.remove().phase is Phase.GONE
            assert case.remove().phase is Phase.GONE
            cls().check_nothing_is_left(living.case)
        finally:
            tenant.sweep(clusters)

    @pytest.fixture
    def living(self, shared: LivingCluster) -> LivingCluster:
        """Each test leaves the cluster as it was."""
        return shared

    def test_create_twice_builds_once(self, living: LivingCluster) -> None:  # type: ignore[override]
        """A create that comes again builds nothing; the cluster is as it was ordered."""
        assert living.case.count_objects() == 1
        self.check_outputs(living.case)
        self.check_repeated_create(living.case)

    @classmethod
    def case_of(cls, tenant: Tenant) -> DriverCase:
        """Return a cluster of the driver's first system."""
        driver = cls.driver()
        distro = driver.provides[0].os
        cluster = {"template": {"cluster_distro": distro}, "labels": LABELS}
        return tenant.case(driver, driver_version=driver.version, **cluster)


class TestUbuntu(OneClusterSuite):
    """Nodes that are set up by cloud-init."""

    driver = UbuntuDriver


@pytest.mark.like("k8s_fedora_coreos_v1")
class TestFlatcar(OneClusterSuite):
    """Nodes that are set up by an earlier version of Ignition."""

    driver = CoreosDriver


@pytest.mark.like("k8s_ubuntu_v1")
class TestFedoraAtomic(OneClusterSuite):
    """Nodes that are set up by an early cloud-init."""

    driver = FedoraAtomicDriver
