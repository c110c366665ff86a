"""What Heat keeps of the credential with which a stack was made, and how it is replaced.

Heat delegates a trust of its own from the one with which a stack is made, and stores it. At each
change and each removal it compares who asks with who gave that trust. If they differ it makes a new
one in its place; but first it logs in with the stored one, and where the former owner was disabled
or has left the project, that fails and Heat refuses everything (403). Without the stored trust in
Keystone it goes on. If they do not differ, the stored one stays, below the cluster's former trust:
as long as the owner stays, the trust with which a stack was made is needed.
"""

from collections.abc import Sequence

from keystoneauth1 import plugin
from keystoneauth1.session import Session

from jeroboam.drivers.base import CloudAccess
from jeroboam.drivers.openstack import translate_cloud_errors
from jeroboam.errors import CredentialRejectedError, NotAuthorizedError, NotFoundError

_KEYSTONE = "Keystone"
_TRUSTS = "/OS-TRUST/trusts"
_IDENTITY_API = {"interface": plugin.AUTH_INTERFACE, "version": "3"}


def let_go(cloud: CloudAccess, former_trust_ids: Sequence[str], trust_id: str | None) -> None:
    """Take away what keeps Heat from changing the stacks of an owner who has left.

    Args:
        former_trust_ids: The trusts that the cluster has had; Heat's own may be below any of them.
        trust_id: The one that takes their place.

    Raises:
        NotAuthorizedError: An administrator has to do it; the message says how.
    """
    user = _user(cloud.tenant_session(trust_id))
    for former in former_trust_ids:
        owner = _owner(cloud, former)
        if owner not in {None, user} and not _works(cloud, former):
            _remove_delegated(cloud.service_session(), former, str(owner))


def _owner(cloud: CloudAccess, trust_id: str) -> str | None:
    """Return who gave a trust; ``None`` if it is gone, and with it all delegated from it."""
    try:
        with translate_cloud_errors(_KEYSTONE):
            answer = cloud.service_session().get(
                f"{_TRUSTS}/{trust_id}", endpoint_filter=_IDENTITY_API
            )
    except NotFoundError:
        return None
    return str(answer.json()["trust"]["trustor_user_id"])


def _user(session: Session) -> str | None:
    with translate_cloud_errors(_KEYSTONE):
        return session.get_user_id()


def _works(cloud: CloudAccess, trust_id: str) -> bool:
    """Whether one can still log in with a trust; a token from before would not tell."""
    try:
        session = cloud.tenant_session(trust_id)
        with translate_cloud_errors(_KEYSTONE):
            session.invalidate()
            session.get_token()
    except CredentialRejectedError:
        return False
    return True


def _remove_delegated(session: Session, trust_id: str, owner: str) -> None:
    """Remove what was delegated from a trust of which nobody can make use."""
    try:
        with translate_cloud_errors(_KEYSTONE):
            listed = session.get(
                _TRUSTS, params={"trustor_user_id": owner}, endpoint_filter=_IDENTITY_API
            ).json()["trusts"]
            for one in listed:
                if one.get("redelegated_trust_id") == trust_id:
                    session.delete(f"{_TRUSTS}/{one['id']}", endpoint_filter=_IDENTITY_API)
    except NotAuthorizedError as error:
        raise NotAuthorizedError(
            "Heat cannot be handed over: the cluster's former owner was disabled or has left the "
            "project, and only an administrator may delete the trust of such a user. Have one run "
            f"`openstack trust delete {trust_id}`, then rotate the credential again. "
            f"({error.message})"
        ) from None
