"""``/v1/clusters/{cluster}/usage``: what the nodes of a cluster use."""

from fastapi import APIRouter

from jeroboam.api.http.dependencies import CurrentCaller, Injected
from jeroboam.api.http.paging import no_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.usage import UsageBody

router = APIRouter(prefix="/v1/clusters/{cluster}/usage", tags=["usage"])


@router.get("", dependencies=[no_arguments])
async def show_usage(cluster: str, dependencies: Injected, caller: CurrentCaller) -> UsageBody:
    """Show what a cluster uses: CPU and memory, of each node and of all."""
    owner = await permitted_cluster(dependencies, caller, cluster, "cluster:usage")
    found = await dependencies.store.monitoring.get(owner.uuid)
    return UsageBody.of(owner.uuid, found)
