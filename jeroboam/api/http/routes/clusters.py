"""``/v1/clusters``."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from fastapi.responses import Response

from jeroboam.api.http import accepting, changed_cluster, new_cluster, progress
from jeroboam.api.http.answers import ACCEPTED, NO_CONTENT, answer, answered
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
    DryRunArgument,
    RollbackArgument,
    change_arguments,
    list_arguments,
    no_arguments,
    only_arguments,
)
from jeroboam.api.http.patches import PatchOperation
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas import cluster as schema
from jeroboam.models import Cluster

router = APIRouter(prefix="/v1/clusters", tags=["clusters"])

RequestKeyHeader = Annotated[
    str | None,
    Header(min_length=1, max_length=255, description="The caller's name for this request."),
]


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
    sizes = await dependencies.store.clusters.sizes([one.uuid for one in clusters])
    return schema.ClusterList(
        clusters=[schema.summary(one, sizes[one.uuid], links, version) for one in clusters],
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
    labels = await dependencies.store.templates.labels(
        {one.cluster_template_id for one in clusters}
    )
    details = [
        schema.detail(
            one, groups[one.uuid], labels.get(one.cluster_template_id, {}), links, version
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
    cluster = await permitted_cluster(
        dependencies, caller, ident, "cluster:get", all_projects="cluster:get_one_all_projects"
    )
    spec = await dependencies.store.clusters.spec(cluster.uuid)
    cluster = await _with_progress(dependencies, spec.cluster)
    body = schema.detail(cluster, spec.node_groups, spec.template.labels, links, version)
    return schema.with_faults(body, cluster, spec.node_groups)


@router.post(
    "",
    dependencies=[rollback_argument, change_arguments],
    **answered(ACCEPTED, schema.ClusterReference),
)
async def create_cluster(
    body: schema.ClusterCreate,
    dependencies: Injected,
    caller: CurrentCaller,
    version: CurrentVersion,
    *,
    rollback: RollbackArgument = None,
    dry_run: DryRunArgument = False,
    idempotency_key: RequestKeyHeader = None,
) -> Response:
    """Accept the creation of a cluster, after everything that can be checked was checked.

    With ``rollback`` a create that fails removes what it has built. Magnum has the argument for
    updates only; without it a failed cluster is kept for inspection, as Magnum does.

    The same request with the same ``Idempotency-Key`` creates one cluster, however often it is
    sent; another request with that key is refused.
    """
    outcome = await new_cluster.create_cluster(
        dependencies,
        caller,
        body,
        version,
        rollback=bool(rollback),
        dry_run=dry_run,
        key=idempotency_key,
    )
    return answer(outcome, schema.ClusterReference(uuid=outcome.operation.cluster_id))


@router.patch(
    "/{ident}",
    dependencies=[rollback_argument, change_arguments],
    **answered(ACCEPTED, schema.ClusterReference),
)
async def change_cluster(
    ident: str,
    patch: Sequence[PatchOperation],
    dependencies: Injected,
    caller: CurrentCaller,
    version: CurrentVersion,
    *,
    rollback: RollbackArgument = None,
    dry_run: DryRunArgument = False,
) -> Response:
    """Change by a JSON patch the number of a cluster's workers, or what is known of its health.

    A new number is an operation, which is rolled back when it fails unless ``rollback`` is false.
    The health is written at once.
    """
    cluster = await permitted_cluster(
        dependencies,
        caller,
        ident,
        "cluster:update",
        all_projects="cluster:update_all_projects",
    )
    return await changed_cluster.change(
        dependencies, caller, cluster, patch, version, rollback=rollback, dry_run=dry_run
    )


@router.delete(
    "/{ident}",
    dependencies=[Depends(only_arguments("force", "dry_run"))],
    **answered(NO_CONTENT),
)
async def delete_cluster(
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    *,
    force: bool = False,
    dry_run: DryRunArgument = False,
) -> Response:
    """Accept the deletion of a cluster, whatever happens to it at the moment.

    With ``force`` it goes even when hooks or the backend fail; what is left is in the operation's
    record.
    """
    rules = ("cluster:delete", "cluster:force_delete") if force else ("cluster:delete",)
    cluster = await permitted_cluster(
        dependencies, caller, ident, *rules, all_projects="cluster:delete_all_projects"
    )
    outcome = await accepting.remove(dependencies, caller, cluster, force=force, dry_run=dry_run)
    return answer(outcome, None)


async def _with_progress(dependencies: Dependencies, cluster: Cluster) -> Cluster:
    if not cluster.status.in_progress:
        return cluster
    sentence = await progress.describe(dependencies.store, cluster.uuid)
    if sentence is None:
        return cluster
    return cluster.model_copy(update={"status_reason": sentence})
