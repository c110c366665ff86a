"""The compliance suite of Jeroboam's driver contract, on the cloud that clouds.yaml names."""

from collections.abc import Iterator

import pytest
from jeroboam.testing.cloud import CloudTenant, tenant_of
from jeroboam.testing.driver_suite import DriverCase, DriverSuite, LivingCluster

from k8s_hardened_v1.driver import K8sHardenedV1Driver

# Labels with which a cluster of this driver can do all that the driver offers.
LABELS: dict[str, str] = {}


@pytest.fixture(scope="module")
def tenant() -> Iterator[CloudTenant]:
    with tenant_of() as found:
        yield found


@pytest.fixture(scope="class")
def shared(tenant: CloudTenant) -> Iterator[LivingCluster]:
    """One cluster for all tests that need a living one: to build it takes a while."""
    case = tenant.case(K8sHardenedV1Driver(), workers=2, labels=LABELS)
    try:
        yield LivingCluster.build(case)
    finally:
        case.remove()


class TestK8sHardenedV1Driver(DriverSuite):
    @pytest.fixture
    def case(self, tenant: CloudTenant) -> DriverCase:
        return tenant.case(K8sHardenedV1Driver(), workers=2, labels=LABELS)

    @pytest.fixture
    def living(self, shared: LivingCluster) -> LivingCluster:
        return shared
