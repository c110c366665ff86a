"""Whether Senlin may act for the owner of a cluster for as long as it must.

With the first request of a user in a project, Senlin makes itself a trust with the token of the
request, and uses this one ever after. Made with a token of Jeroboam's, it would end with the
cluster that Jeroboam has the token for, and all others of the owner would be lost to Senlin. So the
API introduces the owner, with the token of the request that creates a cluster.
"""

import os

from keystoneauth1 import plugin
from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.drivers.senlin.client import Senlin
from jeroboam.errors import InvalidRequestError
from jeroboam.models import Cluster

SETTING = "JEROBOAM_SENLIN_USER"
"""Environment variable with the name of Senlin's own user in Keystone."""

_DEFAULT = "senlin"
_IDENTITY = {"interface": plugin.AUTH_INTERFACE, "version": "3"}


def introduce(cloud: CloudAccess, owner: Session) -> None:
    """Have Senlin make a trust with the owner's own token, unless it has one.

    Raises:
        CloudUnavailableError: Senlin does not answer, or could make none.
    """
    Senlin(cloud, owner).greet()


def check(cloud: CloudAccess, cluster: Cluster) -> None:
    """Check that Senlin has a trust of the owner's own.

    Raises:
        InvalidRequestError: It has none; the message says how it gets one.
    """
    service, owner = cloud.service_session(), cloud.tenant_session(cluster.trust_id)
    name = os.environ.get(SETTING) or _DEFAULT
    with translate_cloud_errors("Keystone"):
        query = {"trustor_user_id": owner.get_user_id()}
        listed = owner.get("/OS-TRUST/trusts", params=query, endpoint_filter=_IDENTITY).json()
        users = service.get("/users", params={"name": name}, endpoint_filter=_IDENTITY).json()
    senlin = {one["id"] for one in users["users"]}
    for trust in listed["trusts"]:
        own = not trust.get("redelegated_trust_id") and trust["project_id"] == cluster.project_id
        if own and trust["trustee_user_id"] in senlin:
            return
    raise InvalidRequestError(
        "Senlin has never met the owner of the cluster, and what it would learn now would end with "
        "this cluster. Log in as the owner, call Senlin once in the cluster's project (`openstack "
        "cluster list`), then try again. If that does not help, the trust that Senlin had of the "
        "owner was deleted."
    )
