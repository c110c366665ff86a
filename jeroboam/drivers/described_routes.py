"""Routes of a driver as a description that crosses to other processes, and back again."""

from typing import Any

from jeroboam.drivers.coe_api import Access, CoeApi, CoeCall, Route, Verb
from jeroboam.drivers.described_models import model_of, schema_of
from jeroboam.errors import DriverContractError
from jeroboam.models import Model
from jeroboam.models.driver_wire import CoeApiDescription, RouteDescription


def describe(api: CoeApi) -> CoeApiDescription:
    """Return all that callers can see of routes.

    Raises:
        DriverContractError: They are not as they must be.
    """
    api.check()
    return CoeApiDescription(coe=api.coe, routes=tuple(_told(route) for route in api.routes))


def restored(described: CoeApiDescription, driver: str) -> CoeApi:
    """Return routes that can be mounted, and whose handlers refuse to be called here.

    Args:
        driver: The driver's name.

    Raises:
        DriverContractError: What was told is no description of routes.
    """
    try:
        routes = tuple(_route(one, driver) for one in described.routes)
    except Exception as error:
        raise DriverContractError(
            f"What the worker of '{driver}' tells of its routes cannot be used: {error}"
        ) from error
    return CoeApi(described.coe, routes)


def _told(route: Route[Any]) -> RouteDescription:
    return RouteDescription(
        verb=route.verb,
        path=route.path,
        rule=route.rule,
        access=route.access,
        summary=route.summary,
        request=schema_of(route.request),
        answer=schema_of(route.answer),
    )


def _route(one: RouteDescription, driver: str) -> Route[Model]:
    def elsewhere(_: CoeCall, __: Model) -> Model:
        raise DriverContractError(
            f"Driver '{driver}' runs in a worker of its own, and {one.verb} {one.path} was called "
            "here."
        )

    return Route(
        Verb(one.verb),
        one.path,
        one.rule,
        Access(one.access),
        one.summary,
        model_of(one.answer, f"{driver}.api"),
        elsewhere,
        model_of(one.request, f"{driver}.api"),
    )
