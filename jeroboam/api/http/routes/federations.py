"""``/v1/federations``: Magnum's routes for what Magnum never did.

It accepts a request and loses it: the conductor answers "not yet implemented" to nobody. Here the
shape is checked and the request refused, so lists are empty and nothing is found.
"""

from collections.abc import Sequence
from typing import NoReturn

from fastapi import APIRouter, Depends

from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.paging import CurrentPaging, list_arguments, no_arguments, only_arguments
from jeroboam.api.http.patches import PatchOperation
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.federation import (
    FederationBody,
    FederationCreate,
    FederationList,
    FederationReference,
)
from jeroboam.errors import InvalidRequestError, NotFoundError

router = APIRouter(prefix="/v1/federations", tags=["federations"])

SORT_KEYS = frozenset(
    {"id", "uuid", "name", "project_id", "hostcluster_id", "status", "created_at", "updated_at"}
)
DNS_ZONE = "dns-zone"


@router.get("", dependencies=[list_arguments])
async def list_federations(
    dependencies: Injected, caller: CurrentCaller, paging: CurrentPaging
) -> FederationList:
    """List federations: none, as long as there is no driver that makes any."""
    dependencies.authorizer.require("federation:get_all", caller.identity)
    return _nothing(paging)


@router.get("/detail", dependencies=[list_arguments])
async def list_federations_in_detail(
    dependencies: Injected, caller: CurrentCaller, paging: CurrentPaging
) -> FederationList:
    """List federations with all their fields: none."""
    dependencies.authorizer.require("federation:detail", caller.identity)
    return _nothing(paging)


@router.get("/{ident}", dependencies=[no_arguments], response_model=FederationBody)
async def show_federation(ident: str, dependencies: Injected, caller: CurrentCaller) -> NoReturn:
    """Show a federation: 404."""
    dependencies.authorizer.require("federation:get", caller.identity)
    raise _absent(ident)


@router.post("", status_code=202, dependencies=[no_arguments], response_model=FederationReference)
async def create_federation(
    body: FederationCreate, dependencies: Injected, caller: CurrentCaller
) -> NoReturn:
    """Refuse a federation, after Magnum's own checks of it."""
    dependencies.authorizer.require("federation:create", caller.identity)
    await permitted_cluster(dependencies, caller, body.hostcluster_id)
    if DNS_ZONE not in body.properties:
        raise InvalidRequestError(f"Federation properties must have a value for {DNS_ZONE}.")
    raise InvalidRequestError(
        "Federations are not implemented. Magnum accepts this request and does nothing with it. "
        "Create clusters, and join them with the tools of their container engine."
    )


@router.patch(
    "/{ident}",
    status_code=202,
    dependencies=[Depends(only_arguments("rollback"))],
    response_model=FederationReference,
)
async def change_federation(
    ident: str, patch: Sequence[PatchOperation], dependencies: Injected, caller: CurrentCaller
) -> NoReturn:
    """Change a federation: 404."""
    del patch
    dependencies.authorizer.require("federation:update", caller.identity)
    raise _absent(ident)


@router.delete("/{ident}", status_code=204, dependencies=[no_arguments], response_model=None)
async def delete_federation(ident: str, dependencies: Injected, caller: CurrentCaller) -> NoReturn:
    """Delete a federation: 404."""
    dependencies.authorizer.require("federation:delete", caller.identity)
    raise _absent(ident)


def _nothing(paging: CurrentPaging) -> FederationList:
    key, marker = paging.page.sort_key, paging.page.marker
    if key not in SORT_KEYS:
        raise InvalidRequestError(f"The sort key value '{key}' is invalid for sorting.")
    if marker is not None:
        raise NotFoundError(f"Marker {marker}: no such federation.")
    return FederationList(federations=[])


def _absent(ident: str) -> NotFoundError:
    return NotFoundError(f"Federation {ident} could not be found.")
