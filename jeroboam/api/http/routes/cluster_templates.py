"""``/v1/clustertemplates``."""

from collections.abc import Sequence

from fastapi import APIRouter, Response

from jeroboam.api.http import edit_template, selection
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.links import Links
from jeroboam.api.http.paging import CurrentPaging, Paging, list_arguments, no_arguments
from jeroboam.api.http.patches import PatchOperation
from jeroboam.api.http.schemas.cluster_template import (
    ClusterTemplateBody,
    ClusterTemplateCreate,
    ClusterTemplateList,
)
from jeroboam.errors import NotFoundError
from jeroboam.models import ClusterTemplate

router = APIRouter(prefix="/v1/clustertemplates", tags=["cluster templates"])


@router.get("", dependencies=[list_arguments], response_model_exclude_unset=True)
async def list_templates(
    dependencies: Injected, caller: CurrentCaller, paging: CurrentPaging, links: CurrentLinks
) -> ClusterTemplateList:
    """List the caller's templates and the public ones."""
    dependencies.authorizer.require("clustertemplate:get_all", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "clustertemplate:get_all_all_projects", caller.identity
    )
    return await _page(dependencies, caller, paging, links, "clustertemplates")


@router.get("/detail", dependencies=[list_arguments], response_model_exclude_unset=True)
async def list_templates_in_detail(
    dependencies: Injected, caller: CurrentCaller, paging: CurrentPaging, links: CurrentLinks
) -> ClusterTemplateList:
    """List the caller's templates and the public ones; the same fields as the plain list."""
    dependencies.authorizer.require("clustertemplate:detail", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "clustertemplate:detail_all_projects", caller.identity
    )
    return await _page(dependencies, caller, paging, links, "clustertemplates", "detail")


@router.get("/{ident}", dependencies=[no_arguments], response_model_exclude_unset=True)
async def show_template(
    ident: str, dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> ClusterTemplateBody:
    """Show one template."""
    dependencies.authorizer.require_for_all_projects(
        "clustertemplate:get_one_all_projects", caller.identity
    )
    template = await dependencies.store.templates.get(ident, caller.scope)
    is_own = template.project_id == caller.identity.project_id
    if template.hidden and not caller.identity.is_admin and not is_own:
        raise NotFoundError(f"ClusterTemplate {ident} could not be found.")
    if not template.public:
        dependencies.authorizer.require("clustertemplate:get", caller.identity, template)
    return ClusterTemplateBody.of(template, links)


@router.post("", status_code=201, dependencies=[no_arguments], response_model_exclude_unset=True)
async def create_template(
    body: ClusterTemplateCreate,
    response: Response,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> ClusterTemplateBody:
    """Create a template."""
    dependencies.authorizer.require("clustertemplate:create", caller.identity)
    fresh, chosen = await edit_template.new_template(dependencies, caller, body)
    template = await dependencies.store.templates.add(fresh)
    selection.put_into(response, chosen)
    response.headers["Location"] = links.url("clustertemplates", template.uuid)
    return ClusterTemplateBody.of(template, links)


@router.patch("/{ident}", dependencies=[no_arguments], response_model_exclude_unset=True)
async def change_template(
    ident: str,
    patch: Sequence[PatchOperation],
    response: Response,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> ClusterTemplateBody:
    """Change a template by a JSON patch."""
    template = await _writable(dependencies, caller, ident, "update")
    changed, chosen = await edit_template.changed_template(dependencies, caller, template, patch)
    selection.put_into(response, chosen)
    if changed != template:
        changed = await dependencies.store.templates.update(changed)
    return ClusterTemplateBody.of(changed, links)


@router.delete("/{ident}", status_code=204, dependencies=[no_arguments])
async def delete_template(ident: str, dependencies: Injected, caller: CurrentCaller) -> None:
    """Delete a template that no cluster uses."""
    template = await _writable(dependencies, caller, ident, "delete")
    await dependencies.store.templates.delete(template.uuid)


async def _page(
    dependencies: Dependencies, caller: Caller, paging: Paging, links: Links, *path: str
) -> ClusterTemplateList:
    templates = await dependencies.store.templates.list(caller.scope, paging.page)
    return ClusterTemplateList(
        clustertemplates=[ClusterTemplateBody.of(template, links) for template in templates],
        **paging.next_link(templates, *path),
    )


async def _writable(
    dependencies: Dependencies, caller: Caller, ident: str, verb: str
) -> ClusterTemplate:
    """Return a template that the caller may change: a public one may be another project's."""
    dependencies.authorizer.require_for_all_projects(
        f"clustertemplate:{verb}_all_projects", caller.identity
    )
    template = await dependencies.store.templates.get(ident, caller.scope)
    dependencies.authorizer.require(f"clustertemplate:{verb}", caller.identity, template)
    return template
