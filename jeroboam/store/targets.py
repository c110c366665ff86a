"""Reads the cluster that an operation is about, and makes its target the record."""

from datetime import datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate, NodeGroup, Operation
from jeroboam.models.targets import target_of
from jeroboam.store.query import fetch_all, fetch_one, model_of
from jeroboam.store.tables import ClusterRow, NodeGroupRow, TemplateRow

_CLUSTER_FIELDS = (
    "cluster_template_id",
    "labels",
    "driver_version",
    "driver_files",
    "trust_id",
    "user_id",
)
_GROUP_FIELDS = (
    "node_count",
    "min_node_count",
    "max_node_count",
    "image_id",
    "labels",
    "node_labels",
    "node_taints",
)


async def spec(connection: AsyncConnection, uuid: str) -> ClusterSpec:
    """Return a cluster with its template and node groups.

    Raises:
        NotFoundError: There is no such cluster.
    """
    statement = (
        select(ClusterRow, TemplateRow)
        .join(TemplateRow, TemplateRow.uuid == ClusterRow.cluster_template_id)
        .where(ClusterRow.uuid == uuid)
    )
    row = await fetch_one(connection, statement, "Cluster", uuid)
    groups = select(NodeGroupRow).where(NodeGroupRow.cluster_id == uuid).order_by(NodeGroupRow.id)
    return ClusterSpec(
        cluster=model_of(Cluster, ClusterRow, row),
        template=model_of(ClusterTemplate, TemplateRow, row),
        node_groups=tuple(
            model_of(NodeGroup, NodeGroupRow, one) for one in await fetch_all(connection, groups)
        ),
    )


async def spec_and_target(
    connection: AsyncConnection, operation: Operation
) -> tuple[ClusterSpec, ClusterSpec]:
    """Return the operation's cluster as it is recorded and as the operation shall leave it.

    Raises:
        NotFoundError: The cluster, or a template or node group that is named, does not exist.
    """
    recorded = await spec(connection, operation.cluster_id)
    template = await _template(connection, operation.parameters.cluster_template_id)
    return recorded, target_of(recorded, operation.kind, operation.parameters, template)


async def commit(connection: AsyncConnection, operation: Operation, at: datetime) -> None:
    """Write the operation's target into the cluster's rows."""
    recorded, target = await spec_and_target(connection, operation)
    changed = _differences(recorded.cluster, target.cluster, _CLUSTER_FIELDS)
    if changed:
        await connection.execute(
            update(ClusterRow)
            .where(ClusterRow.uuid == operation.cluster_id)
            .values(**changed, updated_at=at)
        )
    before = {group.uuid: group for group in recorded.node_groups}
    for group in target.node_groups:
        if group.uuid in before and (
            changed := _differences(before[group.uuid], group, _GROUP_FIELDS)
        ):
            await connection.execute(
                update(NodeGroupRow)
                .where(NodeGroupRow.uuid == group.uuid)
                .values(**changed, updated_at=at)
            )


async def _template(connection: AsyncConnection, uuid: str | None) -> ClusterTemplate | None:
    if uuid is None:
        return None
    statement = select(TemplateRow).where(TemplateRow.uuid == uuid)
    row = await fetch_one(connection, statement, "Cluster template", uuid)
    return model_of(ClusterTemplate, TemplateRow, row)


def _differences(old: Any, new: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    dumped = new.model_dump(include=set(fields))
    return {name: dumped[name] for name in fields if getattr(old, name) != getattr(new, name)}
