"""``/v1/drivers``: what is installed; and by which driver a cluster was built."""

from collections.abc import Iterator

from fastapi import APIRouter

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.links import Links
from jeroboam.api.http.paging import no_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.driver import ClusterDriverBody, DriverBody, DriverList
from jeroboam.errors import DriverNotFoundError, NotFoundError
from jeroboam.models import Cluster, DriverFiles

router = APIRouter(prefix="/v1", tags=["drivers"])


@router.get("/drivers", dependencies=[no_arguments])
async def list_drivers(
    dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> DriverList:
    """List the drivers with what they build; for administrators also those that are broken."""
    dependencies.authorizer.require("driver:get_all", caller.identity)
    return DriverList(drivers=list(_all(dependencies, caller, links)))


@router.get("/drivers/{name}", dependencies=[no_arguments])
async def show_driver(
    name: str, dependencies: Injected, caller: CurrentCaller, links: CurrentLinks
) -> DriverBody:
    """Show one driver: its version and source, what it builds, and whether it may be used."""
    dependencies.authorizer.require("driver:get", caller.identity)
    found = [one for one in _all(dependencies, caller, links) if one.name == name]
    if not found:
        raise NotFoundError(f"Driver {name} could not be found.")
    # A folder may have the name of a package's driver, which is the one that works.
    return min(found, key=lambda one: one.version is None)


@router.get("/clusters/{cluster}/driver", dependencies=[no_arguments])
async def show_driver_of_cluster(
    cluster: str, dependencies: Injected, caller: CurrentCaller
) -> ClusterDriverBody:
    """Show the driver that built a cluster, with its version and the files that are kept."""
    owned = await permitted_cluster(dependencies, caller, cluster, "cluster:get_driver")
    try:
        installed = dependencies.drivers.entry(owned.driver)
    except DriverNotFoundError:
        installed = None
    return ClusterDriverBody.of(owned, await _kept(dependencies, owned), installed)


async def _kept(dependencies: Dependencies, cluster: Cluster) -> DriverFiles | None:
    if cluster.driver_files is None:
        return None
    try:
        return await dependencies.store.driver_files.get(cluster.driver_files)
    except NotFoundError:
        return None


def _all(dependencies: Dependencies, caller: Caller, links: Links) -> Iterator[DriverBody]:
    sees_all = dependencies.authorizer.permits("driver:get_source", caller.identity)
    drivers = dependencies.drivers
    bodies = [DriverBody.of(one, links, with_source=sees_all) for one in drivers.entries()]
    if sees_all:
        bodies += [DriverBody.of_broken(one, links) for one in drivers.broken()]
    yield from sorted(bodies, key=lambda one: (one.name, one.version is None))
