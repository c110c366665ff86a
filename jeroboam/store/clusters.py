"""Clusters and their node groups."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import ConflictError
from jeroboam.models import (
    Cluster,
    ClusterSpec,
    DriverFiles,
    HealthStatus,
    NodeGroup,
    Operation,
    utc_now,
)
from jeroboam.models.quota import Amounts
from jeroboam.store import driver_files, quotas, targets
from jeroboam.store.database import Database
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


@dataclass(frozen=True)
class Numbers:
    """How many clusters, and nodes in them, those of the control planes included."""

    clusters: int
    nodes: int


_NOUN = "Cluster"
_GROUP_NOUN = "Node group"


class ListedGroup(NamedTuple):
    """What a list of clusters shows of a node group."""

    role: str
    node_count: int


class ClusterRepository:
    """Stores clusters as the API shows them.

    Args:
        database: Where.
        limits: What a project may have that has no quotas of its own.
    """

    def __init__(self, database: Database, limits: Amounts) -> None:
        self._database = database
        self._limits = limits

    async def create(
        self,
        spec: ClusterSpec,
        operation: Operation,
        *,
        files: DriverFiles | None = None,
    ) -> None:
        """Store a new cluster, its node groups and the operation that builds it: all or nothing.

        Args:
            files: What the driver builds it from.

        Raises:
            QuotaExceededError: The project has no room for it.
            ConflictError: The template is gone, or a uuid is taken.
        """
        try:
            await self._database.write(_create, spec, operation, self._limits, files)
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

    async def sizes(self, cluster_ids: Sequence[str]) -> Mapping[str, Sequence[ListedGroup]]:
        """Return how large the node groups of several clusters are, and nothing else of them."""
        columns = NodeGroupRow.cluster_id, NodeGroupRow.role, NodeGroupRow.node_count
        statement = select(*columns).where(NodeGroupRow.cluster_id.in_(cluster_ids))
        sizes: dict[str, list[ListedGroup]] = {uuid: [] for uuid in cluster_ids}
        for row in await self._database.read(fetch_all, statement):
            sizes[row["cluster_id"]].append(ListedGroup(row["role"], row["node_count"]))
        return sizes

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

    async def count(self, scope: Scope) -> Numbers:
        """Return how many clusters there are that the caller may see, and how many nodes."""
        return await self._database.read(_count, scope)


async def _create(
    connection: AsyncConnection,
    spec: ClusterSpec,
    operation: Operation,
    limits: Amounts,
    files: DriverFiles | None,
) -> None:
    await quotas.require_room(connection, operation, limits, spec)
    await driver_files.keep(connection, files)
    await _insert(connection, spec, operation)


async def _count(connection: AsyncConnection, scope: Scope) -> Numbers:
    clusters = select(func.count()).select_from(ClusterRow).where(_visible(scope))
    nodes = (
        select(func.sum(NodeGroupRow.node_count))
        .join(ClusterRow, ClusterRow.uuid == NodeGroupRow.cluster_id)
        .where(_visible(scope))
    )
    return Numbers(
        clusters=int(await connection.scalar(clusters) or 0),
        nodes=int(await connection.scalar(nodes) or 0),
    )


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
