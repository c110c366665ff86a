"""Clusters of drivers whose servers are made by an engine other than Heat, for their suites."""

from collections.abc import Callable
from typing import Any

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.servers.driver import ServersDriver
from jeroboam.models import NodeGroup
from jeroboam.testing.driver_case import DriverCase
from tests.acceptance.heat_clusters import POLL_SECONDS, TIMEOUT_SECONDS, Tenant
from tests.unit.drivers.heat.clusters import secrets

UBUNTU = {"image_id": "ubuntu-kube", "cluster_distro": "ubuntu"}


def case(tenant: Tenant, driver: ServersDriver, **fields: Any) -> DriverCase:
    """Return a cluster of the tenant for the compliance suite."""
    identity = {"driver": driver.name, "driver_version": driver.version}
    spec = tenant.spec(template=UBUNTU, **{"workers": 2, **identity, **fields})
    return DriverCase(
        driver=driver,
        spec=spec,
        context=DriverContext(f"{spec.cluster.uuid}:create:submit", tenant.access, secrets),
        count_objects=networks_of(tenant, short_id(spec.cluster)),
        timeout_seconds=TIMEOUT_SECONDS,
        poll_seconds=POLL_SECONDS,
        bad_labels=(
            ("kube_tag", "newest", "a version as v1.2.3"),
            ("etcd_volume_size", "5", "makes no volumes"),
            ("kube_tags", "v1.37.1", "kube_tag"),
        ),
        node_group=NodeGroup(
            name="extra",
            cluster_id=spec.cluster.uuid,
            project_id=tenant.identity.project_id,
            flavor_id="m1.small",
            node_count=1,
        ),
        count_reboots=lambda node: len(tenant.actions(node, "reboot")),
        count_rebuilds=lambda node: len(tenant.actions(node, "rebuild")),
    )


def networks_of(tenant: Tenant, mark: str) -> Callable[[], int]:
    """Return what counts a cluster's networks, asked of Neutron itself."""
    network = tenant.resources.network

    def count() -> int:
        listed = network.networks(project_id=tenant.identity.project_id)
        return sum(1 for one in listed if mark in one.name)

    return count
