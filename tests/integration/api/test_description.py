"""The description of the API (OpenAPI) says what the service does, and no input makes it fail."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core import NotSet
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jeroboam.api.http.app import PUBLIC, ROUTERS
from jeroboam.models import OperationState, Status
from jeroboam.models.quota import QuotaResource
from tests.integration.api.cloud import PROJECT
from tests.integration.api.conftest import Service
from tests.integration.isolation.world import QuietCalls, QuietSchedules, QuietSigner

CHECKS: list[Any] = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
ROUTES = [
    (method, route.path)
    for router in ROUTERS
    if router not in PUBLIC
    for route in router.routes
    if isinstance(route, APIRoute) and route.include_in_schema
    for method in sorted(route.methods or ())
]
bounded = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def quiet(service: Service) -> Service:
    """The service without a Temporal to wait for; what it would be told is not looked at."""
    dependencies = service.app.state.dependencies
    service.app.state.dependencies = replace(
        dependencies, schedules=QuietSchedules(), coe=QuietCalls(), signer=QuietSigner()
    )
    return service


@bounded
@pytest.mark.parametrize(("method", "path"), ROUTES)
@given(data=st.data())
async def test_each_route_does_as_it_is_described(
    quiet: Service, method: str, path: str, data: st.DataObject
) -> None:
    """Whatever a client sends, the answer is one of those in the description."""
    uuid = await some_cluster(quiet)
    case = data.draw(strategy(quiet.app, method, path))
    if data.draw(st.integers(0, 4)):
        known = known_things(path, uuid, quiet.operations.started[-1].uuid)
        case.path_parameters |= {name: known.get(name, "absent") for name in case.path_parameters}
    values = {name: quote(str(one), safe="") for name, one in case.path_parameters.items()}
    content = None if isinstance(case.body, NotSet) else encoded(case.body)
    response = await quiet.call(
        method,
        path.format(**values),
        token="admin-token",
        params=list(arguments(case.query)),
        headers={"Content-Type": "application/json"},
        content=content,
    )
    case.validate_response(response, checks=CHECKS)


def known_things(path: str, cluster: str, operation: str) -> dict[str, str]:
    """Return what the parameters of a path may be called, of things that are there."""
    idents = {
        "clusters": cluster,
        "certificates": cluster,
        "nodegroups": "default-worker",
        "operations": operation,
        "clustertemplates": "small",
    }
    owners = [part for part in path.split("/") if part in idents]
    return {
        "cluster": cluster,
        "ident": idents[owners[-1]] if owners else "absent",
        "operation": operation,
        "token": "absent",
        "name": "fake",
        "project_id": PROJECT,
        "resource": "Cluster",
    }


async def some_cluster(service: Service) -> str:
    """Return the one cluster of the test, at rest."""
    service.limits[QuotaResource.CLUSTER] = 10_000
    if not service.operations.started:
        return await service.built()
    uuid = service.operations.started[0].cluster_id
    for operation in await service.store.operations.active(uuid):
        await service.apply(
            operation,
            state=OperationState.SUCCEEDED,
            cluster_status=Status.UPDATE_COMPLETE,
            node_group_status=Status.UPDATE_COMPLETE,
        )
    return uuid


def strategy(app: Any, method: str, path: str) -> Any:
    """Return what makes requests of a route, good ones and bad ones."""
    operation = described(app)[path][method]
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    return st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))


def encoded(body: Any) -> bytes:
    return json.dumps(body, default=str).encode()


def arguments(query: Any) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a query as a client writes them."""
    for name, value in (query or {}).items():
        for one in value if isinstance(value, list) else [value]:
            yield name, str(one)


_KEPT: dict[str, Any] = {}


def description(app: Any) -> dict[str, Any]:
    """Return the description; it is the same for each app, and takes a while to make."""
    if "description" not in _KEPT:
        _KEPT["description"] = app.openapi()
    found: dict[str, Any] = _KEPT["description"]
    return found


def described(app: Any) -> Any:
    if "schema" not in _KEPT:
        _KEPT["schema"] = schemathesis.openapi.from_dict(description(app))
    return _KEPT["schema"]


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_each_route_is_described_in_full(service: Service, method: str, path: str) -> None:
    """Summary, token, errors and, where the cluster changes, dry run and header are described."""
    route = description(service.app)["paths"][path][method.lower()]
    assert route["description"]
    assert route["security"]
    assert {"4XX", "5XX"} <= route["responses"].keys()
    assert "422" not in route["responses"]
    successes = {code for code in route["responses"] if code.startswith(("1", "2", "3"))}
    assert successes, "it does not say how it answers when all is well"
    for code in successes - {"204"}:
        schema = route["responses"][code]["content"]["application/json"]["schema"]
        assert schema, f"the body of {code} is not described"


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_changes_of_clusters_name_their_operation(
    service: Service, method: str, path: str
) -> None:
    """Where an operation begins, its header is described, and so is the dry run."""
    route = description(service.app)["paths"][path][method.lower()]
    arguments = {parameter["name"] for parameter in route.get("parameters", [])}
    if "dry_run" not in arguments or path.endswith("/import"):
        return
    accepted = route["responses"]["204" if method == "DELETE" else "202"]
    assert "Jeroboam-Operation" in accepted["headers"]


async def test_every_route_that_changes_a_cluster_has_a_dry_run(service: Service) -> None:
    """No route below a cluster begins an operation without a dry run, today's and tomorrow's."""
    for path, methods in description(service.app)["paths"].items():
        for method, route in methods.items():
            if method == "get" or not path.startswith("/v1/clusters"):
                continue
            if path.endswith(("/maintenance_window", "/keys")):
                continue
            arguments = {parameter["name"] for parameter in route.get("parameters", [])}
            assert "dry_run" in arguments, (method, path)
