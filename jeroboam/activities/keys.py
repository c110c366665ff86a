"""Keeps the keys of imported clusters, which arrive sealed."""

import json

from temporalio import activity

from jeroboam.certificates import IMPORTED
from jeroboam.models.key_wire import SealedKeys
from jeroboam.store import Store

_UNKNOWN = {"service_account_key": "", "bootstrap_token": "", IMPORTED: "true"}
"""Secrets that Jeroboam makes for its own clusters; nobody asks for those of imported ones."""


class KeyActivities:
    """Opens what was sealed, and stores it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @activity.defn
    async def keep_keys(self, keys: SealedKeys) -> None:
        """Store a cluster's keys, unless it has some.

        Raises:
            NotFoundError: The cluster is gone.
            InvalidRequestError: They were sealed for another installation.
        """
        values = json.loads(self._store.inbox.open(keys.sealed, keys.cluster_id))
        await self._store.secrets.put_if_absent(keys.cluster_id, {**_UNKNOWN, **values})
