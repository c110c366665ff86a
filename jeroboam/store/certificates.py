"""The public halves of clusters' certificate authorities."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import delete, func, insert, select
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.models.certificate import (
    CertificateEnds,
    CertificateKind,
    CertificateState,
    ClusterCertificate,
)
from jeroboam.store.database import Database
from jeroboam.store.query import fetch_all, model_of, values_of
from jeroboam.store.tables import ClusterCertificateRow


class CertificateRepository:
    """Reads what ``SecretRepository`` publishes.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, cluster_id: str) -> Sequence[ClusterCertificate]:
        """Return the certificates of a cluster's authorities; none before it has any."""
        table = ClusterCertificateRow
        statement = select(table).where(table.cluster_id == cluster_id)
        rows = await self._database.read(fetch_all, statement)
        found = [model_of(ClusterCertificate, table, row) for row in rows]
        states, kinds = list(CertificateState), list(CertificateKind)
        return sorted(found, key=lambda one: (states.index(one.state), kinds.index(one.kind)))

    async def ends(self, now: datetime, days: Sequence[int]) -> CertificateEnds:
        """Return when the current authorities of all clusters end.

        Args:
            days: For each of these, how many end within so many days of ``now``.
        """
        return CertificateEnds(
            first=await self._first_ends(),
            within={count: await self._ending(now + timedelta(days=count)) for count in days},
        )

    async def _first_ends(self) -> Mapping[CertificateKind, datetime]:
        table = ClusterCertificateRow
        statement = (
            select(table.kind, func.min(table.not_after).label("first"))
            .where(table.state == CertificateState.CURRENT)
            .group_by(table.kind)
            .order_by(table.kind)
        )
        rows = await self._database.read(fetch_all, statement)
        return {CertificateKind(row["kind"]): row["first"] for row in rows}

    async def _ending(self, moment: datetime) -> Mapping[CertificateKind, int]:
        table = ClusterCertificateRow
        statement = (
            select(table.kind, func.count().label("number"))
            .where(table.state == CertificateState.CURRENT, table.not_after < moment)
            .group_by(table.kind)
        )
        rows = await self._database.read(fetch_all, statement)
        found = {row["kind"]: row["number"] for row in rows}
        return {kind: found.get(kind, 0) for kind in CertificateKind}


async def publish(
    connection: AsyncConnection, cluster_id: str, certificates: Sequence[ClusterCertificate]
) -> None:
    """Make these the certificates of a cluster, in the transaction that stores their keys."""
    table = ClusterCertificateRow
    await connection.execute(delete(table).where(table.cluster_id == cluster_id))
    if certificates:
        await connection.execute(insert(table), [values_of(one) for one in certificates])
