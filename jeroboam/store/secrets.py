"""Secrets of clusters, encrypted at rest."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Select, delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConfigurationError, NotFoundError
from jeroboam.models import utc_now
from jeroboam.store.cipher import Cipher
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import execute, scalar
from jeroboam.store.tables import ClusterSecretRow


class SecretRepository:
    """Stores one set of secrets per cluster.

    Args:
        database: Where.
        cipher: Encrypts them; a process without one cannot use this repository.
    """

    def __init__(self, database: Database, cipher: Cipher | None) -> None:
        self._database = database
        self._optional_cipher = cipher

    async def put_if_absent(self, cluster_id: str, values: Mapping[str, str]) -> Mapping[str, str]:
        """Store ``values`` unless the cluster has secrets; return those that it has now.

        Raises:
            NotFoundError: There is no such cluster.
        """
        plaintext = json.dumps(dict(values)).encode()
        row = {
            "cluster_id": cluster_id,
            "envelope": self._cipher.encrypt(plaintext, cluster_id),
            "created_at": utc_now(),
        }
        try:
            envelope = await self._database.write(_put_if_absent, row)
        except IntegrityError as error:
            raise NotFoundError(f"Cluster {cluster_id} could not be found.") from error
        return self._decrypted(cluster_id, envelope)

    async def get(self, cluster_id: str) -> Mapping[str, str]:
        """Return the cluster's secrets.

        Raises:
            NotFoundError: It has none.
        """
        envelope = await self._database.read(scalar, _envelope(cluster_id))
        return self._decrypted(cluster_id, envelope)

    async def delete(self, cluster_id: str) -> None:
        """Forget the cluster's secrets, if it has any."""
        statement = delete(ClusterSecretRow).where(ClusterSecretRow.cluster_id == cluster_id)
        await self._database.write(execute, statement)

    def _decrypted(self, cluster_id: str, envelope: bytes | None) -> Mapping[str, str]:
        if envelope is None:
            raise NotFoundError(f"Cluster {cluster_id} has no secrets.")
        secrets: dict[str, str] = json.loads(self._cipher.decrypt(envelope, cluster_id))
        return secrets

    @property
    def _cipher(self) -> Cipher:
        if self._optional_cipher is None:
            raise ConfigurationError("This process was started without the key of the secrets.")
        return self._optional_cipher


async def _put_if_absent(connection: AsyncConnection, row: Mapping[str, Any]) -> bytes | None:
    await upsert(connection, ClusterSecretRow, row, key=("cluster_id",))
    envelope: bytes | None = await connection.scalar(_envelope(row["cluster_id"]))
    return envelope


def _envelope(cluster_id: str) -> Select[tuple[bytes]]:
    return select(ClusterSecretRow.envelope).where(ClusterSecretRow.cluster_id == cluster_id)
