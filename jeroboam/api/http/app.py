"""The application: Magnum's API v1."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, Security
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader

from jeroboam.api.http import coe, errors
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.middleware.authentication import AuthenticationMiddleware
from jeroboam.api.http.middleware.body import BodyMiddleware
from jeroboam.api.http.middleware.head import HeadMiddleware
from jeroboam.api.http.middleware.json_body import JsonBodyMiddleware
from jeroboam.api.http.middleware.microversion import MicroversionMiddleware
from jeroboam.api.http.middleware.request_context import RequestContextMiddleware
from jeroboam.api.http.routes import (
    actions,
    certificates,
    cluster_templates,
    clusters,
    drivers,
    federations,
    health,
    hooks,
    imports,
    maintenance,
    nodegroups,
    nodes,
    operations,
    quotas,
    rotations,
    schedules,
    services,
    stats,
    usage,
    versions,
)
from jeroboam.api.http.schemas.error import ErrorList
from jeroboam.drivers.coe_api import CoeApi

ROUTERS = (
    versions.router,
    health.router,
    cluster_templates.router,
    clusters.router,
    imports.router,
    actions.router,
    nodegroups.router,
    nodes.router,
    operations.router,
    schedules.router,
    maintenance.router,
    hooks.router,
    drivers.router,
    quotas.router,
    stats.router,
    federations.router,
    services.router,
    usage.router,
    certificates.router,
    rotations.router,
)

PUBLIC = (versions.router, health.router)

# For the description of the API; the middleware is what looks at the token.
_TOKEN = APIKeyHeader(name="X-Auth-Token", auto_error=False, description="A Keystone token")
_ERRORS: dict[int | str, Any] = {
    "4XX": {"model": ErrorList, "description": "The request is wrong, or cannot be now"},
    "5XX": {"model": ErrorList, "description": "The service, or the cloud, does not work"},
}


def create_app(dependencies: Dependencies) -> FastAPI:
    """Return the ASGI application."""
    app = FastAPI(
        title="Jeroboam",
        summary="Clusters as a service for OpenStack, compatible with Magnum's API v1.",
        version="1.14",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
    )
    app.state.dependencies = dependencies
    app.state.health = health.HealthChecks(dependencies.probes)
    errors.install(app)
    for router in ROUTERS:
        if router in PUBLIC:
            app.include_router(router)
        else:
            app.include_router(router, dependencies=[Security(_TOKEN)], responses=_ERRORS)
    mount_engines(app, dependencies)
    # The one that is added last is the outermost.
    app.add_middleware(JsonBodyMiddleware)
    app.add_middleware(MicroversionMiddleware)
    app.add_middleware(
        AuthenticationMiddleware,
        authenticate=dependencies.authenticate,
        authorizer=dependencies.authorizer,
    )
    app.add_middleware(BodyMiddleware, limit=dependencies.settings.max_body_bytes)
    app.add_middleware(HeadMiddleware)
    app.add_middleware(RequestContextMiddleware)
    return app


def mount_engines(app: FastAPI, dependencies: Dependencies) -> None:
    """Add what drivers tell of the engines in their clusters, now and whenever that changes.

    A driver in a worker of its own tells of its routes when that worker starts, be it after the
    API; a newer version of it may have others.
    """
    core = [*app.router.routes]
    taken = [one.path for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]

    def mount() -> None:
        drivers = [entry.driver for entry in dependencies.drivers.entries()]
        apis = coe.collect(drivers, taken)
        dependencies.authorizer.put_drivers_rules(coe.rules(apis))
        app.router.routes[:] = core
        app.include_router(_engines(apis), dependencies=[Security(_TOKEN)], responses=_ERRORS)
        app.openapi_schema = None

    mount()
    dependencies.drivers.follow(mount)


def _engines(apis: Sequence[CoeApi]) -> APIRouter:
    together = APIRouter()
    for api in apis:
        together.include_router(coe.router(api))
    return together
