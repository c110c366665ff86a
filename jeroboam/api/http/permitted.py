"""Finds what a request is about, for callers who may do to it what they ask."""

import structlog

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.errors import NotFoundError
from jeroboam.models import Cluster, Operation


async def permitted_cluster(
    dependencies: Dependencies,
    caller: Caller,
    ident: str,
    *rules: str,
    all_projects: str | None = None,
) -> Cluster:
    """Return the cluster with this uuid or name.

    Args:
        rules: What the caller must be allowed to do to it.
        all_projects: A rule that binds those who see all projects.

    Raises:
        NotFoundError: There is none, or it is another project's.
        NotAuthorizedError: A rule forbids it.
    """
    if all_projects:
        dependencies.authorizer.require_for_all_projects(all_projects, caller.identity)
    cluster = await dependencies.store.clusters.get(ident, caller.scope)
    structlog.contextvars.bind_contextvars(cluster_id=cluster.uuid)
    for rule in rules:
        dependencies.authorizer.require(rule, caller.identity, cluster)
    return cluster


async def permitted_operation(
    dependencies: Dependencies, caller: Caller, uuid: str, *rules: str
) -> Operation:
    """Return an operation of the caller's project, also of a cluster that is gone.

    Raises:
        NotFoundError: There is none, or it is another project's.
        NotAuthorizedError: A rule forbids it.
    """
    operation = await dependencies.store.operations.get(uuid)
    if caller.scope.project_id not in {None, operation.project_id}:
        raise NotFoundError(f"Operation {uuid} could not be found.")
    structlog.contextvars.bind_contextvars(
        cluster_id=operation.cluster_id, operation_id=operation.uuid
    )
    for rule in rules:
        # Of the project, whoever asked for it: a colleague may stop what another one began.
        dependencies.authorizer.require(rule, caller.identity, operation)
    return operation
