"""Clusters and their node groups."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sqlalchemy import ColumnElement, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError, QuotaExceededError
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    DriverFiles,
    HealthStatus,
    NodeGroup,
    Operation,
    utc_now,
)
from jeroboam.store import driver_files, targets
from jeroboam.store.database import Database, lock
from jeroboam.store.query import (
    Page,
    Scope,
    execute,
    fetch_all,
    fetch_one,
    fetch_page,
    identified,
    model_of,
    values_of,
)
from jeroboam.store.tables import ClusterRow, NodeGroupRow, OperationRow

# The repository has a method called ``list``, which hides the type within its class.
NodeGroups: TypeAlias = list[NodeGroup]

_NOUN = "Cluster"
_GROUP_NOUN = "Node group"


class ClusterRepository:
    """Stores clusters as the API shows them.

    Args:
        database: Where.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self,
        spec: ClusterSpec,
        operation: Operation,
        *,
        project_limit: int,
        files: DriverFiles | None = None,
    ) -> None:
        """Store a new cluster, its node groups and the operation that builds it: all or nothing.

        Args:
            project_limit: The most clusters that the project may have.
            files: What the driver builds it from.

        Raises:
            QuotaExceededError: It has them already.
            ConflictError: The template is gone, or a uuid is taken.
        """
        try:
            await self._database.write(_create, spec, operation, project_limit, files)
        except IntegrityError as error:
            raise ConflictError(
                f"Cluster {spec.cluster.name} could not be stored: its template "
                f"{spec.cluster.cluster_template_id} was deleted meanwhile, or its uuid or the "
                "name of a node group is taken."
            ) from error

    async def get(self, ident: str, scope: Scope) -> Cluster:
        """Return the cluster with this uuid or name.

        Raises:
            NotFoundError: There is none, or it is another project's.
            AmbiguousNameError: Several have the name.
        """
        statement = select(ClusterRow).where(identified(ClusterRow, ident), _visible(scope))
        row = await self._database.read(fetch_one, statement, _NOUN, ident)
        return model_of(Cluster, ClusterRow, row)

    async def list(self, scope: Scope, page: Page) -> list[Cluster]:
        """Return one page of the clusters that the caller may see."""
        rows = await self._database.read(fetch_page, ClusterRow, _visible(scope), page, _NOUN)
        return [model_of(Cluster, ClusterRow, row) for row in rows]

    async def spec(self, uuid: str) -> ClusterSpec:
        """Return the cluster with its template and node groups.

        Raises:
            NotFoundError: There is no such cluster.
        """
        return await self._database.read(targets.spec, uuid)

    async def spec_and_target(self, operation: Operation) -> tuple[ClusterSpec, ClusterSpec]:
        """Return an operation's cluster as it is recorded and as the operation shall leave it.

        Raises:
            NotFoundError: The cluster, or a template or node group that is named, does not exist.
        """
        return await self._database.read(targets.spec_and_target, operation)

    async def node_groups(self, cluster_ids: Sequence[str]) -> Mapping[str, tuple[NodeGroup, ...]]:
        """Return the node groups of several clusters at once, in the order of their making."""
        groups: dict[str, tuple[NodeGroup, ...]] = dict.fromkeys(cluster_ids, ())
        for group in await self._database.read(_groups_of, cluster_ids):
            groups[group.cluster_id] += (group,)
        return groups

    async def node_group(self, cluster_id: str, ident: str) -> NodeGroup:
        """Return the cluster's node group with this uuid or name.

        Raises:
            NotFoundError: There is none.
        """
        statement = select(NodeGroupRow).where(
            NodeGroupRow.cluster_id == cluster_id, identified(NodeGroupRow, ident)
        )
        row = await self._database.read(fetch_one, statement, _GROUP_NOUN, ident)
        return model_of(NodeGroup, NodeGroupRow, row)

    async def list_node_groups(
        self, cluster_id: str, page: Page, role: str | None = None
    ) -> NodeGroups:
        """Return one page of a cluster's node groups, of one role if ``role`` is given."""
        visible = NodeGroupRow.cluster_id == cluster_id
        if role is not None:
            visible &= NodeGroupRow.role == role
        rows = await self._database.read(fetch_page, NodeGroupRow, visible, page, _GROUP_NOUN)
        return [model_of(NodeGroup, NodeGroupRow, row) for row in rows]

    async def report_health(
        self, uuid: str, status: HealthStatus | None, reasons: Mapping[str, str]
    ) -> None:
        """Write what somebody outside found out about a cluster's health."""
        statement = (
            update(ClusterRow)
            .where(ClusterRow.uuid == uuid)
            .values(
                health_status=status,
                health_status_reason=dict(reasons),
                updated_at=utc_now(),
            )
        )
        await self._database.write(execute, statement)

    async def count(self, project_id: str) -> int:
        """Return how many clusters a project has, as its quota counts them."""
        return await self._database.read(_count, project_id)


async def _create(
    connection: AsyncConnection,
    spec: ClusterSpec,
    operation: Operation,
    limit: int,
    files: DriverFiles | None,
) -> None:
    # The count stays true until the commit: all creates of the project wait here.
    await lock(connection, f"quota:{spec.cluster.project_id}")
    await _check_quota(connection, spec.cluster.project_id, limit)
    await driver_files.keep(connection, files)
    await _insert(connection, spec, operation)


async def _check_quota(connection: AsyncConnection, project_id: str, limit: int) -> None:
    if await _count(connection, project_id) >= limit:
        raise QuotaExceededError(
            f"You have reached the maximum clusters per project, {limit}. You may delete a "
            "cluster to make room for a new one, or ask your operator for more."
        )


async def _count(connection: AsyncConnection, project_id: str) -> int:
    statement = select(func.count()).where(ClusterRow.project_id == project_id)
    return int(await connection.scalar(statement) or 0)


async def _insert(connection: AsyncConnection, spec: ClusterSpec, operation: Operation) -> None:
    cluster = values_of(spec.cluster) | {"operation_id": operation.uuid}
    await connection.execute(insert(ClusterRow).values(**cluster))
    if spec.node_groups:
        groups = [values_of(group) for group in spec.node_groups]
        await connection.execute(insert(NodeGroupRow), groups)
    await connection.execute(insert(OperationRow).values(**values_of(operation)))


async def _groups_of(
    connection: AsyncConnection, cluster_ids: Sequence[str]
) -> Sequence[NodeGroup]:
    statement = (
        select(NodeGroupRow)
        .where(NodeGroupRow.cluster_id.in_(cluster_ids))
        .order_by(NodeGroupRow.id)
    )
    rows = await fetch_all(connection, statement)
    return [model_of(NodeGroup, NodeGroupRow, row) for row in rows]


def _visible(scope: Scope) -> ColumnElement[bool]:
    if scope.project_id is None:
        return true()
    return ClusterRow.project_id == scope.project_id
