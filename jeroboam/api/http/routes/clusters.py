"""``/v1/clusters``."""

import asyncio
from collections.abc import Mapping, Sequence

import structlog
from fastapi import APIRouter

from jeroboam.api.http import new_cluster, progress
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import (
    CurrentCaller,
    CurrentLinks,
    CurrentVersion,
    Dependencies,
    Injected,
)
from jeroboam.api.http.gates import rollback_argument
from jeroboam.api.http.paging import (
    CurrentPaging,
    create_arguments,
    list_arguments,
    no_arguments,
)
from jeroboam.api.http.promise import promised
from jeroboam.api.http.schemas import cluster as schema
from jeroboam.models import Cluster, ClusterTemplate, Operation, OperationKind
from jeroboam.store import Scope

router = APIRouter(prefix="/v1/clusters", tags=["clusters"])


@router.get("", dependencies=[list_arguments], response_model_exclude_unset=True)
async def list_clusters(
    dependencies: Injected,
    caller: CurrentCaller,
    paging: CurrentPaging,
    links: CurrentLinks,
    version: CurrentVersion,
) -> schema.ClusterList:
    """List the caller's clusters."""
    dependencies.authorizer.require("cluster:get_all", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "cluster:get_all_all_projects", caller.identity
    )
    clusters = await dependencies.store.clusters.list(caller.scope, paging.page)
    groups = await dependencies.store.clusters.node_groups([one.uuid for one in clusters])
    return schema.ClusterList(
        clusters=[schema.summary(one, groups[one.uuid], links, version) for one in clusters],
        **paging.next_link(clusters, "clusters"),
    )


@router.get("/detail", dependencies=[list_arguments], response_model_exclude_unset=True)
async def list_clusters_in_detail(
    dependencies: Injected,
    caller: CurrentCaller,
    paging: CurrentPaging,
    links: CurrentLinks,
    version: CurrentVersion,
) -> schema.ClusterDetailList:
    """List the caller's clusters with all their fields."""
    dependencies.authorizer.require("cluster:detail", caller.identity)
    dependencies.authorizer.require_for_all_projects("cluster:detail_all_projects", caller.identity)
    clusters = await dependencies.store.clusters.list(caller.scope, paging.page)
    groups = await dependencies.store.clusters.node_groups([one.uuid for one in clusters])
    templates = await _templates(dependencies, clusters)
    details = [
        schema.detail(
            one, groups[one.uuid], templates[one.cluster_template_id].labels, links, version
        )
        for one in clusters
    ]
    return schema.ClusterDetailList(
        clusters=details, **paging.next_link(clusters, "clusters", "detail")
    )


@router.get("/{ident}", dependencies=[no_arguments], response_model_exclude_unset=True)
async def show_cluster(
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    version: CurrentVersion,
) -> schema.ClusterDetail:
    """Show one cluster; while an operation runs, ``status_reason`` says where it stands."""
    dependencies.authorizer.require_for_all_projects(
        "cluster:get_one_all_projects", caller.identity
    )
    cluster = await _visible(dependencies, caller, ident)
    dependencies.authorizer.require("cluster:get", caller.identity, cluster)
    spec = await dependencies.store.clusters.spec(cluster.uuid)
    cluster = await _with_progress(dependencies, spec.cluster)
    body = schema.detail(cluster, spec.node_groups, spec.template.labels, links, version)
    return schema.with_faults(body, cluster, spec.node_groups)


@router.post("", status_code=202, dependencies=[rollback_argument, create_arguments])
async def create_cluster(
    body: schema.ClusterCreate,
    dependencies: Injected,
    caller: CurrentCaller,
    version: CurrentVersion,
    *,
    rollback: bool = False,
) -> schema.ClusterReference:
    """Accept the creation of a cluster, after everything that can be checked was checked.

    With ``rollback`` a create that fails removes what it has built. Magnum has the argument for
    updates only; without it a failed cluster is kept for inspection, as Magnum does.
    """
    cluster = await new_cluster.create_cluster(
        dependencies, caller, body, version, rollback=rollback
    )
    return schema.ClusterReference(uuid=cluster.uuid)


@router.delete("/{ident}", status_code=204, dependencies=[no_arguments])
async def delete_cluster(ident: str, dependencies: Injected, caller: CurrentCaller) -> None:
    """Accept the deletion of a cluster, whatever happens to it at the moment."""
    dependencies.authorizer.require_for_all_projects("cluster:delete_all_projects", caller.identity)
    cluster = await _visible(dependencies, caller, ident)
    dependencies.authorizer.require("cluster:delete", caller.identity, cluster)
    operation = Operation(
        kind=OperationKind.DELETE,
        cluster_id=cluster.uuid,
        cluster_name=cluster.name,
        project_id=cluster.project_id,
        user_id=caller.identity.user_id,
        request_id=caller.request_id,
    )
    structlog.contextvars.bind_contextvars(operation_id=operation.uuid)
    async with promised(dependencies.store, operation):
        await dependencies.operations.delete(cluster, operation)


async def _visible(dependencies: Dependencies, caller: Caller, ident: str) -> Cluster:
    cluster = await dependencies.store.clusters.get(ident, caller.scope)
    structlog.contextvars.bind_contextvars(cluster_id=cluster.uuid)
    return cluster


async def _with_progress(dependencies: Dependencies, cluster: Cluster) -> Cluster:
    if not cluster.status.in_progress:
        return cluster
    sentence = await progress.describe(dependencies.store, cluster.uuid)
    if sentence is None:
        return cluster
    return cluster.model_copy(update={"status_reason": sentence})


async def _templates(
    dependencies: Dependencies, clusters: Sequence[Cluster]
) -> Mapping[str, ClusterTemplate]:
    """Return the templates of a page by uuid; clusters commonly share them."""
    uuids = sorted({cluster.cluster_template_id for cluster in clusters})
    templates = await asyncio.gather(
        *(dependencies.store.templates.get(uuid, Scope(None)) for uuid in uuids)
    )
    return dict(zip(uuids, templates, strict=True))
