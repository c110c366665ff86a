"""Hand-written stand-ins for what a test must not need: a cloud and its secrets."""

from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess, ClusterSecrets
from jeroboam.errors import CredentialRejectedError


class NoCloud(CloudAccess):
    """A cloud for drivers that use none; whoever asks it for a session has a defect."""

    name = "jeroboam"
    region = None
    interface = "public"

    def service_session(self) -> Session:
        raise CredentialRejectedError("There is no cloud here.")

    def tenant_session(self, trust_id: str | None) -> Session:
        raise CredentialRejectedError("There is no cloud here.")


def no_secrets() -> ClusterSecrets:
    raise AssertionError("This driver needs no secrets.")
