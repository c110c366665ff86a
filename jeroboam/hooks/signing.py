"""Signatures of webhooks, by the Standard Webhooks scheme (https://www.standardwebhooks.com)."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime

from standardwebhooks.webhooks import Webhook

from jeroboam.errors import InvalidRequestError

PREFIX = "whsec_"
SHORTEST_BYTES = 24
LONGEST_BYTES = 64


def check_secret(secret: str | None) -> None:
    """Refuse what is no signing secret; the message does not quote it.

    Raises:
        InvalidRequestError: With the way to make one.
    """
    secrets = (secret or "").split()
    if not secrets or not all(_good(one) for one in secrets):
        raise InvalidRequestError(
            f"A webhook needs a signing secret: '{PREFIX}' and {SHORTEST_BYTES} to {LONGEST_BYTES} "
            "random bytes as base64; or two such, separated by a blank, while it is changed. Make "
            f'one with: echo "{PREFIX}$(openssl rand -base64 32)".'
        )


def signed_headers(
    secret: str, message_id: str, body: bytes, at: datetime | None = None
) -> Mapping[str, str]:
    """Return the headers of a signed request.

    Args:
        secret: One or more secrets, separated by blanks; each gives one signature.
        message_id: The same on every attempt.
        at: When it is signed, in UTC; now by default.
    """
    now = at or datetime.now(UTC)
    text = body.decode()
    signatures = (Webhook(one).sign(message_id, now, text) for one in secret.split())
    return {
        "Content-Type": "application/json",
        "User-Agent": "jeroboam",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


def _good(secret: str) -> bool:
    if not secret.startswith(PREFIX):
        return False
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        return False
    return SHORTEST_BYTES <= len(key) <= LONGEST_BYTES
