"""Secrets of clusters, and the public halves of their certificates."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import partial

import structlog
from sqlalchemy import Select, delete, exists, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam import certificate_sets
from jeroboam.errors import ConfigurationError, ConflictError, JeroboamError, NotFoundError
from jeroboam.models import utc_now
from jeroboam.store import certificates
from jeroboam.store.database import Database, upsert
from jeroboam.store.query import execute, fetch_all
from jeroboam.store.secret_stores.registry import SecretStores
from jeroboam.store.tables import ClusterCertificateRow, ClusterSecretRow

Values = Mapping[str, str]

MOST_RACES = 10

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Place:
    """Where a cluster's secrets are: a store's name, and its reference."""

    store: str
    reference: bytes


@dataclass(frozen=True)
class Renewed:
    """What was done about the secrets of one cluster.

    Args:
        changed: Whether they were kept in another way than they are now.
        problem: Why they could not be looked at; what is stored is as it was.
    """

    cluster_id: str
    changed: bool
    problem: str | None = None


class SecretRepository:
    """Stores one set of secrets per cluster.

    The database says which secret of a store is the cluster's. So of several writers one wins, and
    no secret is ever changed in place.

    Args:
        database: Where the references are.
        stores: Where the secrets are; a process without them cannot use this repository.
    """

    def __init__(self, database: Database, stores: SecretStores | None) -> None:
        self._database = database
        self._optional_stores = stores

    async def put_if_absent(self, cluster_id: str, values: Values) -> Values:
        """Store ``values`` unless the cluster has secrets; return those that it has now.

        Raises:
            NotFoundError: There is no such cluster.
        """
        if place := await self._place(cluster_id):
            return await self._read(cluster_id, place)
        mine = await self._put(cluster_id, values)
        try:
            stored = await self._database.write(_put_if_absent, cluster_id, mine, values)
        except IntegrityError as error:
            await self._discard(cluster_id, mine)
            raise NotFoundError(f"Cluster {cluster_id} could not be found.") from error
        if stored == mine:
            return values
        await self._discard(cluster_id, mine)
        return await self._read(cluster_id, stored)

    async def get(self, cluster_id: str) -> Values:
        """Return the cluster's secrets.

        Raises:
            NotFoundError: It has none.
        """
        return await self._read(cluster_id, await self._required_place(cluster_id))

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
            before = await self._required_place(cluster_id)
            values = await self._read(cluster_id, before)
            changed = change(values)
            if changed == values:
                return values
            if await self._replace(cluster_id, before, changed):
                return changed
        raise ConflictError(f"The secrets of cluster {cluster_id} are being changed by others.")

    async def delete(self, cluster_id: str) -> None:
        """Forget the cluster's secrets, if it has any, wherever they are."""
        place = await self._place(cluster_id)
        names = {self._stores.current.name, *([place.store] if place else [])}
        for name in sorted(names):
            store = self._stores.named(name)
            await self._stores.call(store, partial(store.forget, cluster_id))
        await self._database.write(_delete, cluster_id)

    async def renew(self) -> AsyncGenerator[Renewed, None]:
        """Keep all secrets as new ones are kept: in the same store, with the newest key.

        It may be broken off and begun anew: what is done is not done again. Clusters without
        published certificates get theirs.
        """
        rows = await self._database.read(fetch_all, _all())
        for cluster_id in [str(row["cluster_id"]) for row in rows]:
            try:
                yield Renewed(cluster_id, changed=await self._renew(cluster_id))
            except NotFoundError:
                continue  # Deleted in the meantime.
            except JeroboamError as error:
                yield Renewed(cluster_id, changed=False, problem=error.message)

    async def publish_missing(self) -> None:
        """Publish certificates of clusters from before they were published."""
        rows = await self._database.read(fetch_all, _unpublished())
        for cluster_id in [str(row["cluster_id"]) for row in rows]:
            try:
                values = await self.get(cluster_id)
                published = certificate_sets.published(cluster_id, values)
                await self._database.write(certificates.publish, cluster_id, published)
            except (JeroboamError, IntegrityError) as error:
                log.warning("certificates_not_published", cluster_id=cluster_id, error=str(error))

    async def _renew(self, cluster_id: str) -> bool:
        current = self._stores.current
        for _ in range(MOST_RACES):
            place = await self._required_place(cluster_id)
            if place.store == current.name and current.is_up_to_date(place.reference):
                return False
            values = await self._read(cluster_id, place)
            if await self._replace(cluster_id, place, values):
                return True
        raise ConflictError("They are being changed by others.")

    async def _replace(self, cluster_id: str, before: _Place, values: Values) -> bool:
        """Store values in the place of others; false if those are not the cluster's any more."""
        mine = await self._put(cluster_id, values)
        done = await self._database.write(_replace, cluster_id, before, mine, values)
        await self._discard(cluster_id, before if done else mine)
        return done

    async def _put(self, cluster_id: str, values: Values) -> _Place:
        store, secret = self._stores.current, json.dumps(dict(values)).encode()
        reference = await self._stores.call(store, partial(store.put, cluster_id, secret))
        return _Place(store.name, reference)

    async def _read(self, cluster_id: str, place: _Place) -> Values:
        store = self._stores.named(place.store)
        secret = await self._stores.call(store, partial(store.get, cluster_id, place.reference))
        secrets: dict[str, str] = json.loads(secret)
        return secrets

    async def _discard(self, cluster_id: str, place: _Place) -> None:
        """Remove a secret that no row names; what stays behind goes with the cluster."""
        store = self._stores.named(place.store)
        try:
            await self._stores.call(store, partial(store.discard, cluster_id, place.reference))
        except JeroboamError as error:
            log.warning("secret_not_discarded", cluster_id=cluster_id, error=error.message)

    async def _place(self, cluster_id: str) -> _Place | None:
        return await self._database.read(_read_place, cluster_id)

    async def _required_place(self, cluster_id: str) -> _Place:
        place = await self._place(cluster_id)
        if place is None:
            raise NotFoundError(f"Cluster {cluster_id} has no secrets.")
        return place

    @property
    def _stores(self) -> SecretStores:
        if self._optional_stores is None:
            raise ConfigurationError("This process was started without the key of the secrets.")
        return self._optional_stores


async def _read_place(connection: AsyncConnection, cluster_id: str) -> _Place | None:
    row = ClusterSecretRow
    statement = select(row.store, row.envelope).where(row.cluster_id == cluster_id)
    found = (await connection.execute(statement)).one_or_none()
    return None if found is None else _Place(found.store, found.envelope)


async def _put_if_absent(
    connection: AsyncConnection, cluster_id: str, mine: _Place, values: Values
) -> _Place:
    row = {
        "cluster_id": cluster_id,
        "store": mine.store,
        "envelope": mine.reference,
        "created_at": utc_now(),
    }
    await upsert(connection, ClusterSecretRow, row, key=("cluster_id",))
    stored = await _read_place(connection, cluster_id)
    if stored == mine:
        published = certificate_sets.published(cluster_id, values)
        await certificates.publish(connection, cluster_id, published)
    return stored or mine


async def _replace(
    connection: AsyncConnection, cluster_id: str, before: _Place, after: _Place, values: Values
) -> bool:
    row = ClusterSecretRow
    statement = (
        update(row)
        .where(row.cluster_id == cluster_id)
        .where(row.store == before.store, row.envelope == before.reference)
        .values(store=after.store, envelope=after.reference)
    )
    if not await execute(connection, statement):
        return False
    published = certificate_sets.published(cluster_id, values)
    await certificates.publish(connection, cluster_id, published)
    return True


async def _delete(connection: AsyncConnection, cluster_id: str) -> None:
    await certificates.publish(connection, cluster_id, ())
    row = ClusterSecretRow
    await connection.execute(delete(row).where(row.cluster_id == cluster_id))


def _all() -> Select[tuple[str]]:
    return select(ClusterSecretRow.cluster_id).order_by(ClusterSecretRow.cluster_id)


def _unpublished() -> Select[tuple[str]]:
    published = exists().where(ClusterCertificateRow.cluster_id == ClusterSecretRow.cluster_id)
    return _all().where(~published)
