"""``/v1/quotas``: what projects may have. Magnum's routes; it limits clusters alone."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response

from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.paging import LIST_ARGUMENTS, NumberedPaging, no_arguments, only_arguments
from jeroboam.api.http.schemas.quota import QuotaBody, QuotaChange, QuotaCreate, QuotaList
from jeroboam.errors import NotAuthorizedError, NotFoundError
from jeroboam.models.quota import Quota, QuotaResource

router = APIRouter(prefix="/v1/quotas", tags=["quotas"])

AllTenants = Annotated[bool, Query(description="Those of all projects, for administrators.")]


@router.get(
    "",
    dependencies=[Depends(only_arguments(*LIST_ARGUMENTS, "all_tenants"))],
    response_model_exclude_unset=True,
)
async def list_quotas(
    dependencies: Injected,
    caller: CurrentCaller,
    paging: NumberedPaging,
    *,
    all_tenants: AllTenants = False,
) -> QuotaList:
    """List the quotas that were set for the caller's project, or for all."""
    dependencies.authorizer.require("quota:get_all", caller.identity)
    everyone = all_tenants and caller.identity.is_admin
    project = None if everyone else caller.identity.project_id
    quotas = await dependencies.store.quotas.list(project, paging.page)
    next_link = paging.next_link(quotas, "quotas", all_tenants="True" if everyone else None)
    return QuotaList(quotas=[QuotaBody.of(quota) for quota in quotas], **next_link)


@router.get(
    "/{project_id}/{resource}", dependencies=[no_arguments], response_model_exclude_unset=True
)
async def show_quota(
    project_id: str, resource: str, dependencies: Injected, caller: CurrentCaller
) -> QuotaBody:
    """Show the limit of a project: what was set, or what holds for all by the settings."""
    dependencies.authorizer.require("quota:get", caller.identity)
    if not caller.identity.is_admin and project_id != caller.identity.project_id:
        raise NotAuthorizedError("Not authorized. quota:get is for the project's own quotas.")
    wanted = _resource(resource)
    quota = await dependencies.store.quotas.get(project_id, wanted)
    if quota is not None:
        return QuotaBody.of(quota)
    limit = await dependencies.store.quotas.limit(project_id, wanted)
    return QuotaBody(project_id=project_id, resource=wanted, hard_limit=limit)


@router.post("", status_code=201, dependencies=[no_arguments], response_model_exclude_unset=True)
async def create_quota(
    body: QuotaCreate, dependencies: Injected, caller: CurrentCaller
) -> QuotaBody:
    """Set a quota for a project; what it has beyond that stays."""
    dependencies.authorizer.require("quota:create", caller.identity)
    await dependencies.directory(caller).check_project(body.project_id)
    wanted = Quota(project_id=body.project_id, resource=body.resource, hard_limit=body.hard_limit)
    return QuotaBody.of(await dependencies.store.quotas.add(wanted))


@router.patch(
    "/{project_id}/{resource}",
    status_code=202,
    dependencies=[no_arguments],
    response_model_exclude_unset=True,
)
async def change_quota(
    project_id: str,
    resource: str,
    body: QuotaChange,
    dependencies: Injected,
    caller: CurrentCaller,
) -> QuotaBody:
    """Set another limit; what the project has beyond that stays. It holds at once."""
    dependencies.authorizer.require("quota:update", caller.identity)
    wanted = _resource(resource)
    changed = await dependencies.store.quotas.change(project_id, wanted, body.hard_limit)
    return QuotaBody.of(changed)


@router.delete("/{project_id}/{resource}", status_code=204, dependencies=[no_arguments])
async def delete_quota(
    project_id: str, resource: str, dependencies: Injected, caller: CurrentCaller
) -> Response:
    """Remove a quota; the limit of the settings holds again."""
    dependencies.authorizer.require("quota:delete", caller.identity)
    await dependencies.store.quotas.delete(project_id, _resource(resource))
    return Response(status_code=204)


def _resource(text: str) -> QuotaResource:
    try:
        return QuotaResource(text)
    except ValueError:
        known = ", ".join(QuotaResource)
        raise NotFoundError(
            f"Quota could not be found: there is no resource {text}. There are: {known}."
        ) from None
