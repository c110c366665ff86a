"""Carries out a JSON patch of a cluster."""

from collections.abc import Mapping, Sequence

from fastapi.responses import Response

from jeroboam.api.http import accepting, cluster_patch, sizes, versions
from jeroboam.api.http.answers import answer, planned
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.cluster_patch import ClusterChange, HealthReport
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.patches import PatchOperation
from jeroboam.api.http.schemas.cluster import ClusterReference
from jeroboam.models import Cluster, ClusterSpec, OperationKind, Parameters


async def change(
    dependencies: Dependencies,
    caller: Caller,
    cluster: Cluster,
    patch: Sequence[PatchOperation],
    version: versions.Microversion,
    *,
    rollback: bool | None,
    dry_run: bool,
) -> Response:
    """Begin the operation that a patch asks for, and write the health that it reports."""
    spec = await dependencies.store.clusters.spec(cluster.uuid)
    asked = cluster_patch.read(spec, patch)
    if asked.health is not None:
        # As in Magnum without a target: the healer that reports is not the cluster's owner.
        dependencies.authorizer.require("cluster:update_health_status", caller.identity)
    outcome = None
    if asked.node_count is not None:
        sizes.check_zero(asked.node_count, version)
        wish = _wish(spec, asked.node_count, rollback=rollback)
        outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    if dry_run:
        return planned(outcome.plan if outcome else None, _changes(cluster, asked))
    if asked.health is not None:
        await dependencies.store.clusters.report_health(
            cluster.uuid, asked.health.status, asked.health.reasons
        )
    return answer(outcome, ClusterReference(uuid=cluster.uuid))


def _wish(spec: ClusterSpec, node_count: int, *, rollback: bool | None) -> accepting.Wish:
    # The first of the workers is the default group.
    group = spec.workers[0]
    sizes.check_bounds(group, node_count)
    parameters = Parameters(node_group=group.uuid, node_count=node_count)
    return accepting.Wish(spec.cluster, OperationKind.UPDATE, parameters, rollback)


def _changes(cluster: Cluster, asked: ClusterChange) -> Mapping[str, str]:
    if asked.health is None:
        return {}
    before = HealthReport(cluster.health_status, cluster.health_status_reason)
    if asked.health == before:
        return {}
    return {"health_status": f"{before.status} -> {asked.health.status}"}
