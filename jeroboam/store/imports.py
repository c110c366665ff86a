"""Clusters that were built by something else become records."""

from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError, QuotaExceededError
from jeroboam.models import Cluster, ClusterSpec
from jeroboam.store.database import Database, lock
from jeroboam.store.query import fetch_all, model_of, values_of
from jeroboam.store.tables import ClusterRow, NodeGroupRow, TemplateRow


class ImportRepository:
    """Stores what is taken over.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def holder(self, uuid: str, stack_id: str | None) -> Cluster | None:
        """Return the cluster that has this uuid, or is what this stack holds."""
        return await self._database.read(_holder, uuid, stack_id)

    async def add(self, spec: ClusterSpec, *, project_limit: int | None) -> None:
        """Store a cluster, its node groups and, unless it is stored, its template.

        Its nodes and cores are in use already, so they count only for what is asked for later.

        Args:
            project_limit: The most clusters that the project may have.

        Raises:
            ConflictError: It is one of Jeroboam's clusters already.
            QuotaExceededError: The project has as many clusters as it may.
        """
        try:
            await self._database.write(_add, spec, project_limit)
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


async def _add(connection: AsyncConnection, spec: ClusterSpec, limit: int | None) -> None:
    cluster = spec.cluster
    # All creates of the project wait here, so the count stays true.
    await lock(connection, f"quota:{cluster.project_id}")
    counted = select(func.count()).where(ClusterRow.project_id == cluster.project_id)
    if limit is not None and int(await connection.scalar(counted) or 0) >= limit:
        raise QuotaExceededError(
            f"You have reached the maximum clusters per project, {limit}. You may delete a "
            "cluster to make room for this one, or ask your operator for more."
        )
    holder = await _holder(connection, cluster.uuid, cluster.stack_id)
    if holder is not None:
        raise ConflictError(f"Cluster {holder.uuid} was imported at the same moment.")
    known = select(TemplateRow.id).where(TemplateRow.uuid == spec.template.uuid)
    if await connection.scalar(known) is None:
        await connection.execute(insert(TemplateRow).values(**values_of(spec.template)))
    await connection.execute(insert(ClusterRow).values(**values_of(cluster)))
    groups = [values_of(group) for group in spec.node_groups]
    await connection.execute(insert(NodeGroupRow), groups)
