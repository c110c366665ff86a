"""``/v1/operations``: what was asked of clusters, how it went, and how to step in."""

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from jeroboam.api.http import operation_control
from jeroboam.api.http.answers import ACCEPTED, answered, told
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.links import Links
from jeroboam.api.http.operation_filters import FILTERS, CurrentFilters, cluster_of
from jeroboam.api.http.paging import (
    LIST_ARGUMENTS,
    NewestFirst,
    no_arguments,
    only_arguments,
)
from jeroboam.api.http.permitted import permitted_operation
from jeroboam.api.http.schemas import operation as schema
from jeroboam.api.http.schemas.action import Cancel, OperationAnswer, Resume
from jeroboam.models import Operation
from jeroboam.store import OperationFilter, Page

router = APIRouter(prefix="/v1", tags=["operations"])

_ANSWER = answered(ACCEPTED, OperationAnswer, dry_run=False)


@router.get(
    "/operations",
    dependencies=[Depends(only_arguments(*LIST_ARGUMENTS, *FILTERS, "cluster"))],
    response_model_exclude_unset=True,
)
async def list_operations(
    dependencies: Injected,
    caller: CurrentCaller,
    paging: NewestFirst,
    links: CurrentLinks,
    filters: CurrentFilters,
    cluster: str | None = None,
) -> schema.OperationList:
    """List the caller's operations, newest first, those of deleted clusters too."""
    _require_list(dependencies, caller)
    cluster_id = await cluster_of(dependencies, caller, cluster) if cluster else None
    found = await dependencies.store.operations.list(
        caller.scope, paging.page, filters.wanted(cluster_id)
    )
    next_link = paging.next_link(found, "operations", **filters.arguments, cluster=cluster_id)
    return _page(found, links, next_link)


@router.get(
    "/clusters/{cluster}/operations",
    dependencies=[Depends(only_arguments(*LIST_ARGUMENTS, *FILTERS))],
    response_model_exclude_unset=True,
)
async def list_operations_of_cluster(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    paging: NewestFirst,
    links: CurrentLinks,
    filters: CurrentFilters,
) -> schema.OperationList:
    """List one cluster's operations, newest first; of a deleted cluster by its uuid."""
    _require_list(dependencies, caller)
    cluster_id = await cluster_of(dependencies, caller, cluster)
    found = await dependencies.store.operations.list(
        caller.scope, paging.page, filters.wanted(cluster_id)
    )
    if not found:
        await _require_known(dependencies, caller, cluster_id)
    path = ("clusters", cluster_id, "operations")
    return _page(found, links, paging.next_link(found, *path, **filters.arguments))


@router.get("/operations/{ident}", dependencies=[no_arguments], response_model_exclude_unset=True)
async def show_operation(
    ident: str, dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> schema.OperationDetail:
    """Show one operation: its input, its plan, each step, and what a cancellation would do."""
    dependencies.authorizer.require_for_all_projects(
        "operation:get_one_all_projects", caller.identity
    )
    operation = await permitted_operation(dependencies, caller, ident, "operation:get")
    notes = await dependencies.store.operations.notes(operation.uuid)
    sees_run = dependencies.authorizer.permits("operation:get_run", caller.identity)
    url = operation_control.temporal_url(dependencies.settings, operation) if sees_run else None
    return schema.detail(operation, notes, links, temporal_url=url)


@router.post(
    "/operations/{ident}/cancel",
    dependencies=[no_arguments],
    **_ANSWER,
)
async def cancel_operation(
    ident: str, dependencies: Injected, caller: CurrentCaller, body: Cancel | None = None
) -> Response:
    """Cancel an operation at work: it is rolled back or stops at a safe point, by its kind."""
    operation = await permitted_operation(dependencies, caller, ident, "operation:cancel")
    wanted = body or Cancel()
    at_once = " at once" if wanted.now else ""
    reason = f"Cancelled{at_once} by user {caller.identity.user_id}"
    if wanted.reason:
        reason = f"{reason}: {wanted.reason.rstrip('.')}"
    done = await dependencies.operations.cancel(operation, f"{reason}.", now=wanted.now)
    return told(operation, done)


@router.post(
    "/operations/{ident}/retry",
    dependencies=[no_arguments],
    **_ANSWER,
)
async def retry_operation(ident: str, dependencies: Injected, caller: CurrentCaller) -> Response:
    """Take up an operation that failed or was cancelled from the step where it stopped."""
    operation = await permitted_operation(dependencies, caller, ident, "operation:retry")
    return told(operation, await operation_control.retry(dependencies, caller, operation))


@router.post(
    "/operations/{ident}/resume",
    dependencies=[no_arguments],
    **_ANSWER,
)
async def resume_operation(
    ident: str, dependencies: Injected, caller: CurrentCaller, body: Resume | None = None
) -> Response:
    """Go on with an operation that was cancelled, or answer for the hook that it waits for."""
    operation = await permitted_operation(dependencies, caller, ident, "operation:resume")
    return told(
        operation,
        await operation_control.resume(dependencies, caller, operation, body or Resume()),
    )


def _require_list(dependencies: Dependencies, caller: Caller) -> None:
    dependencies.authorizer.require("operation:get_all", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "operation:get_all_all_projects", caller.identity
    )


async def _require_known(dependencies: Dependencies, caller: Caller, cluster_id: str) -> None:
    """Refuse a cluster that never was, or is another project's.

    Raises:
        NotFoundError: It is neither there nor in any record that the caller may see.
    """
    wanted = OperationFilter(cluster_id=cluster_id)
    if await dependencies.store.operations.list(caller.scope, Page(limit=1), wanted):
        return
    await dependencies.store.clusters.get(cluster_id, caller.scope)


def _page(found: list[Operation], links: Links, next_link: dict[str, str]) -> schema.OperationList:
    return schema.OperationList(
        operations=[schema.summary(operation, links) for operation in found], **next_link
    )
