"""``/v1/clusters/{cluster}/maintenance_window``: when scheduled operations may start."""

from fastapi import APIRouter

from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.paging import no_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.maintenance_window import WindowBody, WindowRequest
from jeroboam.errors import NotFoundError
from jeroboam.models import utc_now
from jeroboam.models.maintenance import check_window

router = APIRouter(prefix="/v1/clusters/{cluster}/maintenance_window", tags=["maintenance"])


@router.get("", dependencies=[no_arguments])
async def show_window(cluster: str, dependencies: Injected, caller: CurrentCaller) -> WindowBody:
    """Show a cluster's maintenance window."""
    owner = await permitted_cluster(dependencies, caller, cluster, "maintenance_window:get")
    window = await dependencies.store.maintenance.get(owner.uuid)
    if window is None:
        raise NotFoundError(
            f"Cluster {cluster} has no maintenance window: what is scheduled starts at any time."
        )
    return WindowBody.of(window)


@router.put("", dependencies=[no_arguments])
async def put_window(
    cluster: str, body: WindowRequest, dependencies: Injected, caller: CurrentCaller
) -> WindowBody:
    """Give a cluster a maintenance window; nothing scheduled starts outside it from now on."""
    owner = await permitted_cluster(dependencies, caller, cluster, "maintenance_window:set")
    window = body.window()
    check_window(window, utc_now())
    await dependencies.store.maintenance.put(owner.uuid, window)
    stored = await dependencies.store.maintenance.get(owner.uuid)
    return WindowBody.of(stored or window)


@router.delete("", status_code=204, dependencies=[no_arguments])
async def delete_window(cluster: str, dependencies: Injected, caller: CurrentCaller) -> None:
    """Take a cluster's maintenance window away; none is success."""
    owner = await permitted_cluster(dependencies, caller, cluster, "maintenance_window:delete")
    await dependencies.store.maintenance.delete(owner.uuid)
