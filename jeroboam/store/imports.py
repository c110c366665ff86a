"""Clusters that were built by something else become records."""

from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError
from jeroboam.models import Cluster, ClusterSpec
from jeroboam.models.quota import Amounts
from jeroboam.store.database import Database
from jeroboam.store.query import fetch_all, model_of, values_of
from jeroboam.store.quotas import require_cluster
from jeroboam.store.tables import ClusterRow, NodeGroupRow, TemplateRow


class ImportRepository:
    """Stores what is taken over.

    Args:
        database: Where.
        quotas: What a project may have that has no quotas of its own.
    """

    def __init__(self, database: Database, quotas: Amounts) -> None:
        self._database = database
        self._quotas = quotas

    async def holder(self, uuid: str, stack_id: str | None) -> Cluster | None:
        """Return the cluster that has this uuid, or is what this stack holds."""
        return await self._database.read(_holder, uuid, stack_id)

    async def add(self, spec: ClusterSpec) -> None:
        """Store a cluster, its node groups and, unless it is stored, its template.

        Raises:
            ConflictError: It is one of Jeroboam's clusters already.
            QuotaExceededError: The project has as many clusters as it may.
        """
        try:
            await self._database.write(_add, spec, self._quotas)
        except IntegrityError as error:
            raise ConflictError(
                f"Cluster {spec.cluster.name} could not be stored: somebody has imported it at the "
                "same moment, two of its node groups have the same name, or its template is gone."
            ) from error


async def _holder(connection: AsyncConnection, uuid: str, stack_id: str | None) -> Cluster | None:
    same = ClusterRow.uuid == uuid
    if stack_id is not None:
        same |= ClusterRow.stack_id == stack_id
    for row in await fetch_all(connection, select(ClusterRow).where(same).limit(1)):
        return model_of(Cluster, ClusterRow, row)
    return None


async def _add(connection: AsyncConnection, spec: ClusterSpec, quotas: Amounts) -> None:
    cluster = spec.cluster
    await require_cluster(connection, cluster.project_id, quotas)
    holder = await _holder(connection, cluster.uuid, cluster.stack_id)
    if holder is not None:
        raise ConflictError(f"Cluster {holder.uuid} was imported at the same moment.")
    known = select(TemplateRow.id).where(TemplateRow.uuid == spec.template.uuid)
    if await connection.scalar(known) is None:
        await connection.execute(insert(TemplateRow).values(**values_of(spec.template)))
    await connection.execute(insert(ClusterRow).values(**values_of(cluster)))
    groups = [values_of(group) for group in spec.node_groups]
    await connection.execute(insert(NodeGroupRow), groups)
