"""Mounts what drivers add to the API, below ``/v1/clusters/{cluster}/<coe>/``.

Nothing here knows an engine. The request is checked against the driver's declaration, then a
worker calls the driver's handler; the answer goes to the caller as it came.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from oslo_policy.policy import DocumentedRuleDefault

from jeroboam.api.http import policies
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, Dependencies, Injected
from jeroboam.api.http.paging import no_arguments
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.coe_api import Access, CoeApi, Route, SupportsCoeApi, route_of
from jeroboam.drivers.described_models import schema_of
from jeroboam.errors import ConflictError, JeroboamError
from jeroboam.models import ClusterSpec, Model, Status
from jeroboam.models.coe_wire import CoeRequest

PREFIX = "/v1/clusters/{cluster}"

_LONGEST_NAME = 253
_CHECKS = {
    Access.READER: policies.READER,
    Access.MEMBER: policies.MEMBER,
    Access.OWNER: policies.MEMBER_USER,
}

log = structlog.get_logger(__name__)


def collect(drivers: Iterable[ClusterDriver], taken: Sequence[str]) -> Sequence[CoeApi]:
    """Return what can be mounted of what drivers add; drivers of one engine share its routes.

    A driver whose routes cannot be mounted is left out with one line in the log; others go on.

    Args:
        taken: Paths of the core, none of which a driver may hide.
    """
    reserved = {
        path.removeprefix(f"{PREFIX}/").split("/")[0]
        for path in taken
        if path.startswith(f"{PREFIX}/")
    }
    found: dict[str, dict[tuple[str, str], Route[Any]]] = {}
    for driver in drivers:
        if not isinstance(driver, SupportsCoeApi):
            continue
        try:
            api = driver.coe_api
            api.check()
            mounted = found.get(api.coe, {})
            _check_place(api, reserved, mounted)
            router(api)  # So that what cannot be mounted is noticed here, and harms no other.
        except Exception as error:  # noqa: BLE001 - whatever a plug-in does, others go on
            reason = error.message if isinstance(error, JeroboamError) else repr(error)
            log.warning("coe_api_left_out", driver=driver.name, reason=reason)
            continue
        found[api.coe] = mounted | {(one.verb, one.path): one for one in api.routes}
    return [CoeApi(coe, tuple(routes.values())) for coe, routes in found.items()]


def rules(apis: Iterable[CoeApi]) -> Sequence[DocumentedRuleDefault]:
    """Return the policy rules of routes; one that several routes share is there once."""
    found = {
        f"{api.coe}:{route.rule}": DocumentedRuleDefault(
            f"{api.coe}:{route.rule}",
            _CHECKS[route.access],
            route.summary,
            [{"method": str(route.verb), "path": f"{PREFIX}/{api.coe}/{route.path}"}],
        )
        for api in apis
        for route in api.routes
    }
    return tuple(found.values())


def router(api: CoeApi) -> APIRouter:
    """Return the routes of one engine."""
    mounted = APIRouter(prefix=f"{PREFIX}/{api.coe}", tags=[api.coe])
    for route in api.routes:
        mounted.add_api_route(
            f"/{route.path}",
            _endpoint(api.coe, route),
            methods=[str(route.verb)],
            name=f"{api.coe} {route.rule}",
            summary=route.summary,
            response_class=Response,
            responses={200: {"model": route.answer, "description": "What the cluster says"}},
            dependencies=[no_arguments] if route.takes_body else [],
        )
    return mounted


def _check_place(
    api: CoeApi, reserved: set[str], mounted: dict[tuple[str, str], Route[Any]]
) -> None:
    core_rules = {rule.name for rule in policies.list_rules()}
    if api.coe in reserved:
        raise ConflictError(f"The path {PREFIX}/{api.coe} belongs to the core.")
    access = {one.rule: one.access for one in mounted.values()}
    for route in api.routes:
        if f"{api.coe}:{route.rule}" in core_rules:
            raise ConflictError(f"The policy rule {api.coe}:{route.rule} belongs to the core.")
        if access.setdefault(route.rule, route.access) is not route.access:
            raise ConflictError(
                f"The policy rule {api.coe}:{route.rule} is declared for {access[route.rule]} and "
                f"for {route.access}."
            )
        other = mounted.get((route.verb, route.path))
        if other and _face(other) != _face(route):
            raise ConflictError(
                f"Another driver declares {route.verb} {api.coe}/{route.path} in another way."
            )


def _face(route: Route[Any]) -> object:
    """Return what callers see of a route, by which two declarations are compared."""
    return (
        route.rule,
        route.access,
        schema_of(route.request),
        schema_of(route.answer),
    )


def _endpoint(coe: str, route: Route[Any]) -> Callable[..., Awaitable[Response]]:
    """Return the function of a route, with a signature from which FastAPI reads the input."""

    async def endpoint(
        cluster: str,
        dependencies: Dependencies,
        caller: Caller,
        wish: Model | None,
        **arguments: str,
    ) -> Response:
        owner = await permitted_cluster(dependencies, caller, cluster, f"{coe}:{route.rule}")
        spec = await dependencies.store.clusters.spec(owner.uuid)
        entry = dependencies.drivers.entry(spec.cluster.driver)
        route_of(entry.driver, coe, route.verb, route.path)
        _require_api(spec)
        asked = CoeRequest(
            request_id=caller.request_id,
            cluster_id=owner.uuid,
            caller=caller.identity,
            coe=coe,
            verb=route.verb,
            path=route.path,
            arguments=arguments,
            # Only what the caller said: the driver itself knows what to take for the rest.
            body=wish.model_dump(mode="json", by_alias=True, exclude_unset=True) if wish else {},
        )
        answer = await dependencies.coe.call(asked, entry.queue)
        return Response(answer, media_type="application/json")

    endpoint.__signature__ = _signature(route)  # type: ignore[attr-defined]
    return endpoint


def _signature(route: Route[Any]) -> inspect.Signature:
    fields = route.request.model_fields.values()
    optional = route.takes_body and not any(field.is_required() for field in fields)
    body = route.request | None if optional else route.request
    typed: dict[str, Any] = {
        "cluster": str,
        "dependencies": Injected,
        "caller": CurrentCaller,
        "wish": body if route.takes_body else Annotated[route.request, Query()],
        **dict.fromkeys(route.parameters, Annotated[str, Path(max_length=_LONGEST_NAME)]),
    }
    return inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=annotation,
                default=None if optional and name == "wish" else inspect.Parameter.empty,
            )
            for name, annotation in typed.items()
        ],
        return_annotation=Response,
    )


def _require_api(spec: ClusterSpec) -> None:
    """Refuse what cannot be asked of a cluster that has no API, or not for long.

    Raises:
        ConflictError: With the status.
    """
    cluster = spec.cluster
    if cluster.api_address and cluster.status is not Status.DELETE_IN_PROGRESS:
        return
    raise ConflictError(
        f"Cluster {cluster.name} is {cluster.status} and its API has no address"
        + (" any more." if cluster.api_address else " yet. Wait until it has been built.")
    )
