"""``/v1/stats``: how many clusters and nodes there are."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query

from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.paging import only_arguments
from jeroboam.api.http.schemas.quota import StatsBody
from jeroboam.errors import InvalidRequestError, NotAuthorizedError
from jeroboam.store import Scope

router = APIRouter(prefix="/v1/stats", tags=["stats"])

TYPES = ("cluster",)


@router.get("", dependencies=[Depends(only_arguments("project_id", "type"))])
async def show_stats(
    dependencies: Injected,
    caller: CurrentCaller,
    project_id: str | None = None,
    kind: Annotated[str, Query(alias="type", description="cluster, as in Magnum")] = "cluster",
) -> StatsBody:
    """Show how many clusters and nodes a project has; for administrators also all projects."""
    dependencies.authorizer.require("stats:get_all", caller.identity)
    if kind.lower() not in TYPES:
        raise InvalidRequestError(f"Invalid stats type. Allowed values are '{','.join(TYPES)}'")
    scope = caller.scope
    if scope.project_id is None:
        scope = Scope(project_id or None)
    elif project_id and project_id != scope.project_id:
        raise NotAuthorizedError("Not authorized. stats:get_all is for the project's own numbers.")
    numbers = await dependencies.store.clusters.count(scope)
    return StatsBody(clusters=numbers.clusters, nodes=numbers.nodes)
