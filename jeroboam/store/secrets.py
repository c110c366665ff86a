"""Secrets of clusters, encrypted at rest, and the public halves of their certificates."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam import certificate_sets
from jeroboam.errors import ConfigurationError, ConflictError, NotFoundError
from jeroboam.models import utc_now
from jeroboam.store import certificates
from jeroboam.store.cipher import Cipher
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import execute, scalar
from jeroboam.store.tables import ClusterSecretRow

Values = Mapping[str, str]

MOST_RACES = 10


class SecretRepository:
    """Stores one set of secrets per cluster.

    Args:
        database: Where.
        cipher: Encrypts them; a process without one cannot use this repository.
    """

    def __init__(self, database: Database, cipher: Cipher | None) -> None:
        self._database = database
        self._optional_cipher = cipher

    async def put_if_absent(self, cluster_id: str, values: Values) -> Values:
        """Store ``values`` unless the cluster has secrets; return those that it has now.

        Raises:
            NotFoundError: There is no such cluster.
        """
        envelope = self._encrypted(cluster_id, values)
        try:
            stored = await self._database.write(_put_if_absent, cluster_id, envelope, values)
        except IntegrityError as error:
            raise NotFoundError(f"Cluster {cluster_id} could not be found.") from error
        return self._decrypted(cluster_id, stored)

    async def get(self, cluster_id: str) -> Values:
        """Return the cluster's secrets.

        Raises:
            NotFoundError: It has none.
        """
        return self._decrypted(cluster_id, await self._envelope(cluster_id))

    async def change(self, cluster_id: str, change: Callable[[Values], Values]) -> Values:
        """Store what ``change`` makes of the cluster's secrets, and return that.

        Of several writers at a time none undoes what another one has done: ``change`` is called
        again with what that one has stored.

        Args:
            change: One of ``jeroboam.certificate_sets``, for example.

        Raises:
            NotFoundError: The cluster has no secrets.
        """
        for _ in range(MOST_RACES):
            before = await self._envelope(cluster_id)
            values = self._decrypted(cluster_id, before)
            changed = change(values)
            if changed == values:
                return values
            after = self._encrypted(cluster_id, changed)
            if await self._database.write(_replace, cluster_id, before, after, changed):
                return changed
        raise ConflictError(f"The secrets of cluster {cluster_id} are being changed by others.")

    async def delete(self, cluster_id: str) -> None:
        """Forget the cluster's secrets, if it has any."""
        await self._database.write(_delete, cluster_id)

    async def _envelope(self, cluster_id: str) -> bytes | None:
        statement = select(ClusterSecretRow.envelope).where(
            ClusterSecretRow.cluster_id == cluster_id
        )
        found: bytes | None = await self._database.read(scalar, statement)
        return found

    def _encrypted(self, cluster_id: str, values: Values) -> bytes:
        return self._cipher.encrypt(json.dumps(dict(values)).encode(), cluster_id)

    def _decrypted(self, cluster_id: str, envelope: bytes | None) -> Values:
        if envelope is None:
            raise NotFoundError(f"Cluster {cluster_id} has no secrets.")
        secrets: dict[str, str] = json.loads(self._cipher.decrypt(envelope, cluster_id))
        return secrets

    @property
    def _cipher(self) -> Cipher:
        if self._optional_cipher is None:
            raise ConfigurationError("This process was started without the key of the secrets.")
        return self._optional_cipher


async def _put_if_absent(
    connection: AsyncConnection, cluster_id: str, envelope: bytes, values: Values
) -> bytes | None:
    row: dict[str, Any] = {
        "cluster_id": cluster_id,
        "envelope": envelope,
        "created_at": utc_now(),
    }
    await upsert(connection, ClusterSecretRow, row, key=("cluster_id",))
    stored: bytes | None = await connection.scalar(
        select(ClusterSecretRow.envelope).where(ClusterSecretRow.cluster_id == cluster_id)
    )
    if stored == envelope:
        published = certificate_sets.published(cluster_id, values)
        await certificates.publish(connection, cluster_id, published)
    return stored


async def _replace(
    connection: AsyncConnection,
    cluster_id: str,
    before: bytes | None,
    after: bytes,
    values: Values,
) -> bool:
    statement = (
        update(ClusterSecretRow)
        .where(ClusterSecretRow.cluster_id == cluster_id, ClusterSecretRow.envelope == before)
        .values(envelope=after)
    )
    if not await execute(connection, statement):
        return False
    published = certificate_sets.published(cluster_id, values)
    await certificates.publish(connection, cluster_id, published)
    return True


async def _delete(connection: AsyncConnection, cluster_id: str) -> None:
    await certificates.publish(connection, cluster_id, ())
    await connection.execute(
        delete(ClusterSecretRow).where(ClusterSecretRow.cluster_id == cluster_id)
    )
