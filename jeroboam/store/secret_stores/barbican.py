"""Secrets in Barbican, OpenStack's store of keys, in the project of Jeroboam's service user."""

import base64
import zlib
from collections.abc import Callable
from typing import Any, ClassVar, Self
from urllib.parse import quote
from uuid import UUID

from keystoneauth1 import exceptions
from keystoneauth1.adapter import Adapter

from jeroboam.drivers.base import CloudAccess
from jeroboam.errors import ConfigurationError, CredentialRejectedError, StoreUnavailableError
from jeroboam.store.secret_stores.base import SecretStore, Surroundings

PAGE = 100

_NOT_FOUND = 404
_FORBIDDEN = (401, 403)
# The second is for a long secret, the first for one that makes the whole request too long.
_TOO_LARGE = (400, 413)


class BarbicanSecretStore(SecretStore):
    """One secret of the type ``opaque`` for each version of a cluster's secrets.

    The reference is the secret's uuid, so that Barbican may move to another address.

    Args:
        cloud: Returns the access to the cloud; its service user needs the role ``member``, or
            ``creator`` where Barbican still has its old rules.
    """

    name: ClassVar[str] = "barbican"

    def __init__(self, cloud: Callable[[], CloudAccess]) -> None:
        self._cloud = cloud

    @classmethod
    def make(cls, surroundings: Surroundings) -> Self:
        """Return the store."""
        return cls(surroundings.cloud)

    def put(self, cluster_id: str, secret: bytes) -> bytes:
        """Make a secret; it is compressed, since Barbican takes 20 KB by default."""
        body = {
            "name": _name(cluster_id),
            "secret_type": "opaque",
            "payload": base64.b64encode(zlib.compress(secret, 9)).decode(),
            "payload_content_type": "application/octet-stream",
            "payload_content_encoding": "base64",
        }
        answer = self._call("POST", "/v1/secrets", json=body)
        if answer is None:
            raise StoreUnavailableError("Barbican has no /v1/secrets at its endpoint.")
        return _uuid_of(answer.json()["secret_ref"])

    def get(self, cluster_id: str, reference: bytes) -> bytes:
        """Read a secret's payload."""
        headers = {"Accept": "application/octet-stream"}
        path = _path(cluster_id, reference)
        owner = self._call("GET", path)
        if owner is not None and owner.json().get("name") == _name(cluster_id):
            answer = self._call("GET", f"{path}/payload", headers=headers)
            if answer is not None:
                return zlib.decompress(answer.content)
        raise ConfigurationError(
            f"Barbican has no secret {reference.decode(errors='replace')} of {cluster_id} for "
            "Jeroboam's service user. Restore it from a backup, or correct JEROBOAM_CLOUD."
        )

    def discard(self, cluster_id: str, reference: bytes) -> None:
        """Delete a secret."""
        self._call("DELETE", _path(cluster_id, reference))

    def forget(self, cluster_id: str) -> None:
        """Delete all secrets with the name of a cluster."""
        path = f"/v1/secrets?name={quote(_name(cluster_id), safe='')}&limit={PAGE}"
        while (answer := self._call("GET", path)) and (found := answer.json()["secrets"]):
            for one in found:
                self.discard(cluster_id, _uuid_of(one["secret_ref"]))

    def _call(self, method: str, path: str, **kwargs: Any) -> Any:
        """Send one request; return the answer, ``None`` where it says that nothing is there.

        Raises:
            StoreUnavailableError: There is no answer, or Barbican is in trouble.
            CredentialRejectedError: Barbican refuses the service user.
        """
        cloud = self._cloud()
        adapter = Adapter(
            cloud.service_session(),
            service_type="key-manager",
            interface=cloud.interface,
            region_name=cloud.region,
        )
        try:
            # Some catalogues name the version, and some do not.
            endpoint = (adapter.get_endpoint() or "").rstrip("/").removesuffix("/v1")
            url = f"{endpoint}{path}"
            answer = adapter.request(url, method, raise_exc=False, **kwargs)
        except exceptions.EndpointNotFound:
            raise ConfigurationError(
                "The cloud's catalogue has no key-manager. Choose another JEROBOAM_SECRET_STORE."
            ) from None
        except exceptions.ClientException as error:
            # Its text holds a URL at most; the payload is in no URL.
            raise StoreUnavailableError(f"Barbican does not answer: {error}") from None
        return _checked(answer)


def _checked(answer: Any) -> Any:
    if answer.status_code in _FORBIDDEN:
        raise CredentialRejectedError(
            "Barbican refuses Jeroboam's service user. Give it the role 'member' in its project, "
            "or 'creator' where Barbican has its old rules."
        )
    if answer.status_code == _NOT_FOUND:
        return None
    if answer.status_code in _TOO_LARGE:
        raise ConfigurationError(
            "Barbican takes no secret as long as a cluster's. Set its max_allowed_secret_in_bytes "
            "to 20000 or more."
        )
    if not answer.ok:
        raise StoreUnavailableError(f"Barbican answers with HTTP {answer.status_code}.")
    return answer


def _name(cluster_id: str) -> str:
    return f"jeroboam/{cluster_id}"


def _uuid_of(secret_ref: str) -> bytes:
    return secret_ref.rstrip("/").rpartition("/")[2].encode()


def _path(cluster_id: str, reference: bytes) -> str:
    """Return the path of a secret; a reference that was altered leads nowhere else."""
    try:
        return f"/v1/secrets/{UUID(reference.decode('ascii'))}"
    except ValueError:
        raise ConfigurationError(f"The secrets of {cluster_id} have no id of Barbican's.") from None
