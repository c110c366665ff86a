"""What a test must not need: a cloud and its secrets."""

from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccount, ClusterSecrets
from jeroboam.errors import CredentialRejectedError
from jeroboam.testing.without_cloud import NoCloud

__all__ = ["AccountsInMemory", "CloudOfTrusts", "NoCloud", "no_secrets"]


class CloudOfTrusts(NoCloud):
    """A cloud in which one can log in with some trusts, and then do nothing."""

    def __init__(self, trusts: set[str]) -> None:
        self._trusts = trusts

    def tenant_session(self, trust_id: str | None) -> Session:
        """Refuse whoever has none of the trusts."""
        if trust_id not in self._trusts:
            raise CredentialRejectedError(f"Keystone knows no trust {trust_id}.")
        return Session()


class AccountsInMemory:
    """A domain for users of clusters; ``users`` has the password of each by name.

    Args:
        trusts: Those that can be delegated; all where there is none.
    """

    def __init__(self, trusts: set[str] | None = None) -> None:
        self._trusts = trusts
        self.users: dict[str, str] = {}
        self.made = 0

    def make(self, name: str, password: str, trust_id: str) -> CloudAccount:
        """Note a user."""
        if self._trusts is not None and trust_id not in self._trusts:
            raise CredentialRejectedError(f"Keystone knows no trust {trust_id}.")
        self.users[name] = password
        self.made += 1
        return CloudAccount("http://127.0.0.1/v3", name, password, f"below-{trust_id}")

    def remove(self, cluster_id: str, *, keep: str | None = None) -> None:
        """Forget a cluster's users but one."""
        for name in [one for one in self.users if cluster_id in one and one != keep]:
            del self.users[name]


def no_secrets() -> ClusterSecrets:
    raise AssertionError("This driver needs no secrets.")
