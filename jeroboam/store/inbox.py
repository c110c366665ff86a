"""Secrets that a request brings and only workers may read: application credentials, imported keys.

The API has no key of the clusters' secrets (ADR-0011), and what it writes into Temporal or into the
database is kept there. So workers publish an address, whose private half they derive from the key
of the secrets; the API seals to it, and what it passes on is opaque to everybody but workers. The
address carries a proof made with the key that API and workers share: whoever can write to the
database cannot put an address of their own in its place.
"""

import hmac
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import select

from jeroboam.errors import ConfigurationError, InvalidRequestError, StoreUnavailableError
from jeroboam.models import utc_now
from jeroboam.sealing import Envelope, seal
from jeroboam.store.cipher import Cipher
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import fetch_all
from jeroboam.store.tables import WorkerAddressRow

_PURPOSE = "inbox of workers"
_PROOF = "proof of workers' addresses"


class InboxRepository:
    """Seals for workers, and opens what was sealed.

    Args:
        database: Where addresses are.
        cipher: The key of the secrets; a process without it can only seal.
        shared: The key that API and workers share.
    """

    def __init__(self, database: Database, cipher: Cipher | None, shared: Cipher | None) -> None:
        self._database = database
        self._cipher = cipher
        self._shared = shared

    async def announce(self) -> None:
        """Publish the address of this process's key; of several keys the newest is used."""
        address, now = self._envelopes[0].address, utc_now()
        values = {"proof": self._proof(address), "announced_at": now}
        await self._database.write(
            upsert,
            WorkerAddressRow,
            {"address": address, **values},
            key=("address",),
            update=values,
        )

    async def seal(self, plaintext: bytes, context: str) -> str:
        """Return a text that only workers can read; it may go into Temporal and the database.

        Args:
            context: What the secret belongs to, for example a cluster's uuid.

        Raises:
            StoreUnavailableError: No worker has published its address yet.
        """
        statement = select(WorkerAddressRow).order_by(WorkerAddressRow.announced_at.desc())
        columns = WorkerAddressRow.__table__.c
        for row in await self._database.read(fetch_all, statement):
            address = str(row[columns["address"]])
            if hmac.compare_digest(row[columns["proof"]], self._proof(address)):
                return seal(address, plaintext, context)
        raise StoreUnavailableError(
            "No worker has published the address to which secrets are sealed. Try again when one "
            "is up; API and workers need the same JEROBOAM_HOOKS_KEY."
        )

    def open(self, sealed: str, context: str) -> bytes:
        """Return what was sealed for workers and belongs to ``context``.

        Raises:
            InvalidRequestError: It was sealed for another key or something else, or altered.
            ConfigurationError: This process is no worker.
        """
        newest, *older = self._envelopes
        for envelope in older:
            with suppress(InvalidRequestError):
                return envelope.open(sealed, context)
        return newest.open(sealed, context)

    @property
    def _envelopes(self) -> Sequence[Envelope]:
        """Those of all keys, the newest first: what was sealed before a change is still read."""
        if self._cipher is None:
            raise ConfigurationError("This process was started without the key of the secrets.")
        return [Envelope(key) for key in self._cipher.derive_all(_PURPOSE)]

    def _proof(self, address: str) -> bytes:
        if self._shared is None:
            raise ConfigurationError("This process was started without the key of the hooks.")
        return hmac.digest(self._shared.derive(_PROOF), address.encode(), "sha256")
