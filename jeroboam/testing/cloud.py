"""A tenant of a real cloud, for a driver's compliance tests.

Two entries of ``clouds.yaml`` are used: that of Jeroboam's service user, ``jeroboam``, and that
of a tenant, ``demo``; ``OS_CLIENT_CONFIG_FILE`` says where the file is, and the environment
variables ``JEROBOAM_CLOUD`` and ``OS_CLOUD`` name other entries. A devcloud has both.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import openstack
from keystoneauth1.session import Session
from openstack.connection import Connection

from jeroboam.cloud import Cloud
from jeroboam.drivers.base import ClusterDriver, DriverContext
from jeroboam.drivers.heat.clients import tenant_client
from jeroboam.drivers.heat.driver import HeatDriver
from jeroboam.drivers.nodes.names import short_id
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import NotFoundError
from jeroboam.models import ClusterSpec, Identity, Node, NodeGroup
from jeroboam.testing.driver_case import DriverCase
from jeroboam.testing.specs import make_spec
from jeroboam.testing.without_cloud import secrets

SERVICE_CLOUD = "jeroboam"
TENANT_CLOUD = "demo"
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class CloudTenant:
    """A user of a cloud who lets Jeroboam act for them.

    Args:
        access: Jeroboam's own access to the cloud.
        trust_id: By which it acts for the tenant.
        resources: A client with the tenant's own rights, to look at what there is.
    """

    access: Cloud
    trust_id: str
    identity: Identity
    resources: Connection

    def spec(self, driver: ClusterDriver, **fields: Any) -> ClusterSpec:
        """Return a cluster of the tenant; for the fields see ``make_spec``.

        Raises:
            NotFoundError: The cloud has no image for the driver, and no field names one.
        """
        owner: dict[str, Any] = {
            "project_id": self.identity.project_id,
            "user_id": self.identity.user_id,
        }
        template: dict[str, Any] = dict(fields.pop("template", None) or {})
        template.setdefault("image_id", self.image(driver))
        return make_spec(driver, trust_id=self.trust_id, template=template, **owner, **fields)

    def image(self, driver: ClusterDriver) -> str:
        """Return an image whose properties say that the driver is meant, or its system.

        Raises:
            NotFoundError: There is none.
        """
        distro = driver.provides[0].os
        wanted = (("magnum_driver", driver.name), ("magnum_distro", distro), ("os_distro", distro))
        with translate_cloud_errors("Glance"):
            images = list(self.resources.image.images())
        for name, value in wanted:
            for image in images:
                if (image.properties or {}).get(name) == value:
                    return str(image.id)
        raise NotFoundError(
            f"The cloud has no image for the driver {driver.name}: openstack image set "
            f"--property magnum_driver={driver.name} --property magnum_distro={distro} IMAGE"
        )

    def case(self, driver: ClusterDriver, **fields: Any) -> DriverCase:
        """Return a cluster of the tenant for the compliance suite.

        What the suite cannot know is added with ``dataclasses.replace``: ``bad_labels``,
        ``upgraded``, ``leave_behind``.
        """
        spec = self.spec(driver, **fields)
        return DriverCase(
            driver=driver,
            spec=spec,
            context=DriverContext(f"{spec.cluster.uuid}:create:submit", self.access, secrets),
            count_objects=lambda: self.count(driver, spec),
            timeout_seconds=300.0,
            poll_seconds=0.5,
            node_group=NodeGroup(
                name="extra",
                cluster_id=spec.cluster.uuid,
                project_id=spec.cluster.project_id,
                flavor_id="m1.small",
                node_count=1,
            ),
            count_reboots=lambda node: self.count_actions(node, "reboot"),
            count_rebuilds=lambda node: self.count_actions(node, "rebuild"),
        )

    def count(self, driver: ClusterDriver, spec: ClusterSpec) -> int:
        """Count what there is of a cluster: stacks for a driver on Heat, else whether servers."""
        if not isinstance(driver, HeatDriver):
            mark = short_id(spec.cluster)
            return min(1, len(list(self.resources.compute.servers(name=mark))))
        listed = tenant_client(self.access, self.trust_id).stacks.list(tags=spec.cluster.uuid)
        return sum(one.stack_status != "DELETE_COMPLETE" for one in listed)

    def count_actions(self, node: Node, kind: str) -> int:
        """Count how often Nova has done something to a node, by its own log."""
        listed = self.resources.compute.server_actions(node.id)
        return sum(action.action == kind for action in listed)


@contextmanager
def tenant_of(service: str | None = None, tenant: str | None = None) -> Iterator[CloudTenant]:
    """Let Jeroboam act for a tenant, until the block ends.

    Args:
        service: Entry of ``clouds.yaml`` of Jeroboam's service user.
        tenant: Entry of the tenant.

    Raises:
        ConfigurationError: There is no such entry, or it cannot be used.
        CloudUnavailableError: The cloud does not answer.
    """
    access = Cloud(
        service or os.environ.get("JEROBOAM_CLOUD", SERVICE_CLOUD), timeout_seconds=TIMEOUT_SECONDS
    )
    with (
        translate_cloud_errors("Keystone"),
        openstack.connect(tenant or os.environ.get("OS_CLOUD", TENANT_CLOUD)) as resources,
    ):
        identity, token = _identity(resources.session), resources.auth_token
        trust_id = access.create_trust(str(token), identity)
        try:
            yield CloudTenant(access, trust_id, identity, resources)
        finally:
            access.delete_trust(trust_id)


def _identity(session: Session) -> Identity:
    found: Any = session.auth.get_access(session)  # type: ignore[union-attr]
    return Identity(
        user_id=found.user_id,
        project_id=found.project_id,
        roles=tuple(found.role_names or ()),
    )
