"""Heat's client on a session of the cloud."""

from typing import Any

from heatclient.v1.client import Client
from keystoneauth1.session import Session
from openstack.connection import Connection

from jeroboam.drivers.base import CloudAccess

# Heat hides failed attempts to connect for a moment while it is restarted.
CONNECT_RETRIES = 2


def heat_client(cloud: CloudAccess, session: Session) -> Any:
    """Return a Heat client; time-outs are those of the session."""
    return Client(
        session=session,
        service_type="orchestration",
        region_name=cloud.region,
        interface=cloud.interface,
        connect_retries=CONNECT_RETRIES,
    )


def tenant_client(cloud: CloudAccess, trust_id: str | None) -> Any:
    """Return a Heat client that acts for a cluster's owner."""
    return heat_client(cloud, cloud.tenant_session(trust_id))


def service_client(cloud: CloudAccess) -> Any:
    """Return a Heat client of Jeroboam's own service user."""
    return heat_client(cloud, cloud.service_session())


def connection(cloud: CloudAccess, trust_id: str | None) -> Connection:
    """Return a connection to all other services that acts for a cluster's owner."""
    session = cloud.tenant_session(trust_id)
    return Connection(session=session, region_name=cloud.region, default_interface=cloud.interface)
