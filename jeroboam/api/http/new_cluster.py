"""Accepts new clusters: all checks, then the trust, the row and the start."""

import structlog

from jeroboam.api.http import versions
from jeroboam.api.http.accepting import Outcome, Wish, operation_of
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.cluster_specification import specify
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.request_keys import RequestKey
from jeroboam.api.http.schemas.cluster import ClusterCreate
from jeroboam.api.http.sizes import check_zero
from jeroboam.api.http.withdrawing import withdraw_trust
from jeroboam.drivers.base import ClusterDriver
from jeroboam.errors import (
    ConflictError,
    InvalidRequestError,
    NotAuthorizedError,
    NotFoundError,
    QuotaExceededError,
)
from jeroboam.models import ClusterSpec, ClusterTemplate, Operation, OperationKind

log = structlog.get_logger(__name__)


async def create_cluster(
    dependencies: Dependencies,
    caller: Caller,
    request: ClusterCreate,
    version: versions.Microversion,
    *,
    rollback: bool,
    dry_run: bool,
    key: str | None = None,
) -> Outcome:
    """Check everything that can be checked, store the cluster and start its creation.

    Args:
        rollback: Whether a create that fails removes what it has built.
        dry_run: Whether to stop before anything is written.
        key: The caller's name for this request; one that was made before is the outcome.
    """
    check_zero(request.node_count, version)
    template = await _template(dependencies, caller, request.cluster_template_id, version)
    dependencies.authorizer.require("cluster:create", caller.identity)
    request_key = (
        RequestKey.of(caller, key, request, rollback=rollback) if key and not dry_run else None
    )
    made = await request_key.made(dependencies.store) if request_key else None
    if made:
        return Outcome(made)
    await dependencies.store.quotas.check_clusters(caller.identity.project_id)
    if template.hidden and not caller.identity.is_admin:
        raise NotAuthorizedError("Not authorized. The cluster template is hidden.")
    spec, driver = await specify(dependencies, caller, request, template)
    if request_key:
        spec = request_key.named(spec)
    wish = Wish(spec.cluster, OperationKind.CREATE, rollback=rollback)
    operation = operation_of(wish, caller)
    if request_key:
        operation = operation.model_copy(update={"uuid": request_key.operation_id})
    plan = await dependencies.planner.plan(operation, spec)
    # The store asks again when it accepts; this spares Keystone a trust, and a dry run tells.
    await dependencies.store.quotas.check(operation, spec)
    if dry_run:
        return Outcome(operation, plan)
    try:
        await _accept(dependencies, caller, spec, driver, operation)
    except (ConflictError, QuotaExceededError):
        # The same request, sent twice at once: the other one was quicker.
        made = await request_key.made(dependencies.store) if request_key else None
        if made is None:
            raise
        return Outcome(made)
    return Outcome(operation)


async def _template(
    dependencies: Dependencies, caller: Caller, ident: str, version: versions.Microversion
) -> ClusterTemplate:
    try:
        return await dependencies.store.templates.get(ident, caller.own_project)
    except NotFoundError as error:
        if version < versions.ZERO_NODES:
            raise InvalidRequestError(error.message) from error
        raise


async def _accept(
    dependencies: Dependencies,
    caller: Caller,
    spec: ClusterSpec,
    driver: ClusterDriver,
    operation: Operation,
) -> None:
    trust_id = await dependencies.trusts.create(caller) if driver.uses_cloud else None
    cluster = spec.cluster.model_copy(update={"trust_id": trust_id, "operation_id": operation.uuid})
    structlog.contextvars.bind_contextvars(cluster_id=cluster.uuid, operation_id=operation.uuid)
    try:
        await dependencies.trusts.prepare_owner(caller, driver)
        await dependencies.store.clusters.create(
            spec.model_copy(update={"cluster": cluster}),
            operation,
            files=dependencies.drivers.files(driver.name),
        )
    except BaseException:
        await withdraw_trust(dependencies, cluster)
        raise
    await dependencies.operations.start(operation)
