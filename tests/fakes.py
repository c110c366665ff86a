"""What a test must not need: a cloud and its secrets."""

from keystoneauth1.session import Session

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.errors import CredentialRejectedError
from jeroboam.testing.without_cloud import NoCloud

__all__ = ["CloudOfTrusts", "NoCloud", "no_secrets"]


class CloudOfTrusts(NoCloud):
    """A cloud in which one can log in with some trusts, and then do nothing."""

    def __init__(self, trusts: set[str]) -> None:
        self._trusts = trusts

    def tenant_session(self, trust_id: str | None) -> Session:
        """Refuse whoever has none of the trusts."""
        if trust_id not in self._trusts:
            raise CredentialRejectedError(f"Keystone knows no trust {trust_id}.")
        return Session()


def no_secrets() -> ClusterSecrets:
    raise AssertionError("This driver needs no secrets.")
