"""Quotas: what operators have set, what projects use, and whether there is room for more."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, delete, func, insert, select, true, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.errors import (
    ConflictError,
    NotFoundError,
    QuotaExceededError,
    TooManyOperationsError,
)
from jeroboam.models import ClusterSpec, Operation, OperationKind, OperationState, utc_now
from jeroboam.models.quota import (
    REMOVALS,
    Amounts,
    GroupSize,
    Quota,
    QuotaResource,
    growth,
    refusal,
    total,
)
from jeroboam.store.database import Database, lock
from jeroboam.store.query import Page, execute, fetch_all, fetch_page, model_of, values_of
from jeroboam.store.tables import ClusterRow, NodeGroupRow, OperationRow, QuotaRow

# The repository has a method called ``list``, which hides the type within its class.
Quotas: TypeAlias = list[Quota]

_NOUN = "Quota"
_ACTIVE = [state for state in OperationState if state.active]
_SIZED = (OperationKind.UPDATE, OperationKind.RESIZE, OperationKind.UPDATE_NODE_GROUP)
"""Kinds that make room for themselves by their operation; what others add has rows at once."""


class QuotaRepository:
    """Stores quotas, and counts.

    Args:
        database: Where.
        defaults: What a project may have that has no quotas of its own.
    """

    def __init__(self, database: Database, defaults: Amounts) -> None:
        self._database = database
        self._defaults = defaults

    async def add(self, quota: Quota) -> Quota:
        """Store a new quota; return it with its number.

        Raises:
            ConflictError: The project has one for this resource.
        """
        try:
            return await self._database.write(_add, quota)
        except IntegrityError as error:
            raise ConflictError(
                f"Quota for project {quota.project_id} already exists for resource "
                f"{quota.resource}."
            ) from error

    async def get(self, project_id: str, resource: QuotaResource) -> Quota | None:
        """Return what was set for a project, if anything was."""
        return await self._database.read(_get, project_id, resource)

    async def list(self, project_id: str | None, page: Page) -> Quotas:
        """Return one page of the quotas of a project, or of all."""
        visible = true() if project_id is None else QuotaRow.project_id == project_id
        rows = await self._database.read(fetch_page, QuotaRow, visible, page, _NOUN)
        return [model_of(Quota, QuotaRow, row) for row in rows]

    async def change(self, project_id: str, resource: QuotaResource, hard_limit: int) -> Quota:
        """Set another limit; return the quota.

        Raises:
            NotFoundError: None was set before.
        """
        return await self._database.write(_change, project_id, resource, hard_limit)

    async def delete(self, project_id: str, resource: QuotaResource) -> None:
        """Return a project to the limit of the settings.

        Raises:
            NotFoundError: None was set.
        """
        statement = delete(QuotaRow).where(_is(project_id, resource))
        if await self._database.write(execute, statement) == 0:
            raise _not_found(project_id, resource)

    async def limit(self, project_id: str, resource: QuotaResource) -> int | None:
        """Return the limit in force; ``None`` is none."""
        limits = await self._database.read(_limits, project_id, self._defaults)
        return limits.get(resource)

    async def used(self, project_id: str) -> Amounts:
        """Return what a project has, what its operations at work ask for included."""
        return await self._database.read(_used, project_id, None, QuotaResource)

    async def check(self, operation: Operation, new: ClusterSpec | None = None) -> None:
        """Refuse an operation for which there is no room now; acceptance asks again.

        Args:
            new: The cluster, for its create.

        Raises:
            QuotaExceededError: A quota is used up; the message says which.
        """
        await self._database.read(require_room, operation, self._defaults, new, locked=False)

    async def check_clusters(self, project_id: str) -> None:
        """Refuse a project that has as many clusters as it may, before more is looked at.

        Raises:
            QuotaExceededError: It has.
        """
        limit = await self.limit(project_id, QuotaResource.CLUSTER)
        if limit is not None:
            used = await self._database.read(_used, project_id, None, [QuotaResource.CLUSTER])
            _require(QuotaResource.CLUSTER, limit, used[QuotaResource.CLUSTER], 1)


async def require_room(
    connection: AsyncConnection,
    operation: Operation,
    defaults: Amounts,
    new: ClusterSpec | None = None,
    *,
    locked: bool = True,
) -> None:
    """Refuse an operation for which its project has no room.

    Nothing else of the project is accepted from here to the end of the transaction, so the answer
    stays true. What asks for nothing that is limited does not wait.

    Args:
        new: The cluster, for its create, before its rows are stored.
        locked: Whether to hold others off; a question alone need not.

    Raises:
        QuotaExceededError: A quota is used up; the message says which.
    """
    limits = await _limits(connection, operation.project_id, defaults)
    wanted = await _wanted(connection, operation, new)
    scarce = [resource for resource in QuotaResource if wanted[resource] and resource in limits]
    if not scarce:
        return
    if locked:
        await lock(connection, f"quota:{operation.project_id}")
    used = await _used(connection, operation.project_id, operation.uuid, scarce)
    for resource in scarce:
        _require(resource, limits[resource], used[resource], wanted[resource])


async def require_cluster(connection: AsyncConnection, project_id: str, defaults: Amounts) -> None:
    """Refuse one more cluster that is there already, and hold off other ones of its project.

    Its nodes and cores are in use, so they count only for what is asked for later.

    Raises:
        QuotaExceededError: The project has as many clusters as it may.
    """
    limits = await _limits(connection, project_id, defaults)
    await lock(connection, f"quota:{project_id}")
    if QuotaResource.CLUSTER in limits:
        used = await _used(connection, project_id, None, [QuotaResource.CLUSTER])
        limit = limits[QuotaResource.CLUSTER]
        _require(QuotaResource.CLUSTER, limit, used[QuotaResource.CLUSTER], 1)


def _require(resource: QuotaResource, limit: int, used: int, wanted: int) -> None:
    reason = refusal(resource, limit, used, wanted)
    if reason is None:
        return
    if resource is QuotaResource.OPERATION:
        raise TooManyOperationsError(reason)
    raise QuotaExceededError(reason)


async def _limits(connection: AsyncConnection, project_id: str, defaults: Amounts) -> Amounts:
    statement = select(QuotaRow.resource, QuotaRow.hard_limit).where(
        QuotaRow.project_id == project_id
    )
    rows = (await connection.execute(statement)).all()
    return {**defaults, **{QuotaResource(row.resource): row.hard_limit for row in rows}}


async def _wanted(
    connection: AsyncConnection, operation: Operation, new: ClusterSpec | None
) -> Amounts:
    if new is None:
        recorded = await _groups(connection, NodeGroupRow.cluster_id == operation.cluster_id)
        more = growth(operation, recorded)
    else:
        fields = set(GroupSize.model_fields)
        more = total(GroupSize(**group.model_dump(include=fields)) for group in new.node_groups)
    return {
        QuotaResource.CLUSTER: 0 if new is None else 1,
        QuotaResource.OPERATION: 0 if operation.kind in REMOVALS else 1,
        **more,
    }


async def _used(
    connection: AsyncConnection,
    project_id: str,
    besides: str | None,
    resources: Iterable[QuotaResource],
) -> Amounts:
    """Return what a project has of some resources; others cost nothing.

    Args:
        besides: An operation that does not count.
    """
    asked, used = set(resources), dict[QuotaResource, int]()
    if QuotaResource.CLUSTER in asked:
        used[QuotaResource.CLUSTER] = await _count(connection, ClusterRow, project_id)
    if QuotaResource.OPERATION in asked:
        others = (OperationRow.state.in_(_ACTIVE), OperationRow.uuid != (besides or ""))
        used[QuotaResource.OPERATION] = await _count(connection, OperationRow, project_id, *others)
    if asked & {QuotaResource.NODE, QuotaResource.CORE}:
        there = await _sums(connection, project_id)
        growing = await _growing(connection, project_id, besides)
        used |= {resource: there[resource] + growing[resource] for resource in there}
    return used


async def _count(
    connection: AsyncConnection, table: Any, project_id: str, *conditions: ColumnElement[bool]
) -> int:
    statement = select(func.count()).where(table.project_id == project_id, *conditions)
    return int(await connection.scalar(statement) or 0)


async def _sums(connection: AsyncConnection, project_id: str) -> Amounts:
    """Return the nodes and cores of the record."""
    cores = NodeGroupRow.node_count * func.coalesce(NodeGroupRow.vcpus, 0)
    statement = select(
        func.sum(NodeGroupRow.node_count).label("nodes"), func.sum(cores).label("cores")
    ).where(NodeGroupRow.project_id == project_id)
    row = (await connection.execute(statement)).one()
    return {QuotaResource.NODE: int(row.nodes or 0), QuotaResource.CORE: int(row.cores or 0)}


async def _growing(connection: AsyncConnection, project_id: str, besides: str | None) -> Amounts:
    """Return the nodes and cores which operations at work add to the record."""
    statement = select(OperationRow).where(
        OperationRow.project_id == project_id,
        OperationRow.state.in_(_ACTIVE),
        OperationRow.kind.in_(_SIZED),
        OperationRow.uuid != (besides or ""),
    )
    operations = [
        model_of(Operation, OperationRow, row) for row in await fetch_all(connection, statement)
    ]
    if not operations:
        return {QuotaResource.NODE: 0, QuotaResource.CORE: 0}
    clusters = [operation.cluster_id for operation in operations]
    recorded = await _groups(connection, NodeGroupRow.cluster_id.in_(clusters))
    each = [growth(operation, recorded) for operation in operations]
    return {
        resource: sum(one[resource] for one in each)
        for resource in (QuotaResource.NODE, QuotaResource.CORE)
    }


async def _groups(connection: AsyncConnection, which: ColumnElement[bool]) -> Sequence[GroupSize]:
    columns = [getattr(NodeGroupRow, name) for name in GroupSize.model_fields]
    rows = (await connection.execute(select(*columns).where(which))).mappings().all()
    return [GroupSize.model_validate(dict(row)) for row in rows]


async def _add(connection: AsyncConnection, quota: Quota) -> Quota:
    await connection.execute(insert(QuotaRow).values(**values_of(quota)))
    stored = await _get(connection, quota.project_id, quota.resource)
    if stored is None:
        raise _not_found(quota.project_id, quota.resource)
    return stored


async def _get(
    connection: AsyncConnection, project_id: str, resource: QuotaResource
) -> Quota | None:
    statement = select(QuotaRow).where(_is(project_id, resource))
    rows = await fetch_all(connection, statement)
    return model_of(Quota, QuotaRow, rows[0]) if rows else None


async def _change(
    connection: AsyncConnection, project_id: str, resource: QuotaResource, hard_limit: int
) -> Quota:
    await connection.execute(
        update(QuotaRow)
        .where(_is(project_id, resource))
        .values(hard_limit=hard_limit, updated_at=utc_now())
    )
    changed = await _get(connection, project_id, resource)
    if changed is None:
        raise _not_found(project_id, resource)
    return changed


def _is(project_id: str, resource: QuotaResource) -> ColumnElement[bool]:
    return (QuotaRow.project_id == project_id) & (QuotaRow.resource == resource)


def _not_found(project_id: str, resource: QuotaResource) -> NotFoundError:
    return NotFoundError(f"Quota could not be found: project {project_id} has none for {resource}.")
