"""The owner's token as work outside of this process gets it, and how long the work may go with it.

Whoever gets a token of a trust cannot exchange it for another. So work gets a new one, ends shortly
before its token does, and is begun again with the next: it looks at what is there before it acts.
"""

from datetime import UTC, datetime
from typing import Any

from keystoneauth1.session import Session

from jeroboam.drivers.openstack import translate_cloud_errors

MARGIN_SECONDS = 180
"""How long before its token work ends; half of their life where tokens are short-lived."""


def renew(owner: Session) -> int:
    """Have a session get a new token; return for how many seconds work may be done with it.

    A session keeps its token until it has ended almost, and may have had this one for long.

    Raises:
        CredentialRejectedError: Keystone gives none.
    """
    plugin: Any = owner.auth
    with translate_cloud_errors("Keystone"):
        plugin.invalidate()
        expires = plugin.get_access(owner).expires
    return seconds_of(expires, datetime.now(UTC))


def seconds_of(expires: datetime, now: datetime) -> int:
    """Return for how many seconds work may be done with a token that expires then."""
    left = (expires - now).total_seconds()
    return max(1, int(max(left - MARGIN_SECONDS, left / 2)))
