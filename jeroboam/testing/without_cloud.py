"""The surroundings of a driver's calls where there is no cloud."""

from functools import cache

from keystoneauth1.session import Session

from jeroboam.certificates import issue_cluster_secrets
from jeroboam.drivers.base import CloudAccess, ClusterSecrets, DriverContext
from jeroboam.errors import CredentialRejectedError
from jeroboam.models import ClusterSpec


class NoCloud(CloudAccess):
    """A cloud for drivers that use none; whoever asks it for a session has a defect."""

    name = "jeroboam"
    region = None
    interface = "public"

    def service_session(self) -> Session:
        """Refuse."""
        raise CredentialRejectedError("There is no cloud here.")

    def tenant_session(self, trust_id: str | None) -> Session:
        """Refuse."""
        raise CredentialRejectedError("There is no cloud here.")


@cache
def secrets() -> ClusterSecrets:
    """Return secrets; the same in one process, so that what is rendered can be compared."""
    return issue_cluster_secrets("demo")


def without_cloud(spec: ClusterSpec) -> DriverContext:
    """Return the surroundings of the call that creates a cluster."""
    return DriverContext(f"{spec.cluster.uuid}:create:submit", NoCloud(), secrets)
