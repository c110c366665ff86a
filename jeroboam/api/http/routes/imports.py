"""``/v1/clusters/import``: clusters that Magnum has built."""

from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from jeroboam.api.http import import_cluster, imported_keys
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Injected
from jeroboam.api.http.paging import DryRunArgument, dry_run_arguments, no_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.cluster import ClusterReference
from jeroboam.api.http.schemas.imports import ClusterImport, ImportReport, KeysBody

ACCEPTED = 202
CREATED = 201
OK = 200

router = APIRouter(prefix="/v1/clusters", tags=["clusters"])

_ANSWERS: dict[int | str, dict[str, Any]] = {
    OK: {"model": ImportReport, "description": "What was recognised"}
}


@router.post(
    "/import",
    dependencies=[dry_run_arguments],
    status_code=CREATED,
    response_model=ImportReport,
    responses=_ANSWERS,
)
async def take_over_cluster(
    body: ClusterImport,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    *,
    dry_run: DryRunArgument = False,
) -> JSONResponse:
    """Take over a cluster that one of Magnum's Heat drivers has built.

    The cloud is looked at with the caller's token, and nothing in it changes, but that a trust is
    made by which the service acts for the caller later. A dry run tells what was recognised, and
    what can be done with the cluster afterwards.
    """
    dependencies.authorizer.require("cluster:import", caller.identity)
    survey = await import_cluster.import_cluster(dependencies, caller, body, dry_run=dry_run)
    report = ImportReport.of(survey, links, imported=not dry_run)
    headers = {} if dry_run else {"Location": links.url("clusters", report.uuid)}
    return JSONResponse(report.model_dump(mode="json"), OK if dry_run else CREATED, headers=headers)


@router.put("/{cluster}/keys", dependencies=[no_arguments], status_code=ACCEPTED)
async def import_keys(
    cluster: str, body: KeysBody, dependencies: Injected, caller: CurrentCaller
) -> ClusterReference:
    """Give a cluster that was imported without them the keys of its authorities.

    They are checked at once, and with a worker a moment later.
    """
    owned = await permitted_cluster(dependencies, caller, cluster, "cluster:import_keys")
    await imported_keys.add(dependencies, owned, body)
    return ClusterReference(uuid=owned.uuid)
