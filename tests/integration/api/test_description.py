"""The description of the API (OpenAPI) says what the service does, and no input makes it fail."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core import NotSet
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jeroboam.models import OperationState, Status
from jeroboam.models.quota import QuotaResource
from tests.integration.api.conftest import Service

CHECKS: list[Any] = [
    not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]
NEW_ROUTES = (
    ("PATCH", "/v1/clusters/{ident}"),
    ("DELETE", "/v1/clusters/{ident}"),
    ("POST", "/v1/clusters"),
    ("POST", "/v1/clusters/{cluster}/actions/resize"),
    ("POST", "/v1/clusters/{cluster}/actions/upgrade"),
    ("POST", "/v1/clusters/{cluster}/actions/rebuild"),
    ("POST", "/v1/clusters/{cluster}/actions/reboot"),
    ("POST", "/v1/clusters/{cluster}/actions/check_health"),
    ("POST", "/v1/clusters/{cluster}/nodegroups"),
    ("PATCH", "/v1/clusters/{cluster}/nodegroups/{ident}"),
    ("DELETE", "/v1/clusters/{cluster}/nodegroups/{ident}"),
    ("GET", "/v1/drivers"),
    ("GET", "/v1/drivers/{name}"),
    ("GET", "/v1/clusters/{cluster}/driver"),
    ("GET", "/v1/operations"),
    ("GET", "/v1/clusters/{cluster}/operations"),
    ("GET", "/v1/operations/{ident}"),
    ("POST", "/v1/operations/{ident}/cancel"),
    ("POST", "/v1/operations/{ident}/retry"),
    ("POST", "/v1/operations/{ident}/resume"),
)
bounded = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@bounded
@pytest.mark.parametrize(("method", "path"), NEW_ROUTES)
@given(data=st.data())
async def test_each_route_does_as_it_is_described(
    service: Service, method: str, path: str, data: st.DataObject
) -> None:
    """Whatever a client sends, the answer is one of those in the description."""
    uuid = await some_cluster(service)
    case = data.draw(strategy(service.app, method, path))
    known = {"cluster": uuid, "ident": "default-worker" if "nodegroups" in path else uuid}
    if path.startswith("/v1/operations"):
        known["ident"] = service.operations.started[-1].uuid
    if data.draw(st.integers(0, 4)):
        case.path_parameters.update(known)
    values = {name: quote(str(one), safe="") for name, one in case.path_parameters.items()}
    content = None if isinstance(case.body, NotSet) else encoded(case.body)
    response = await service.call(
        method,
        path.format(**values),
        token="admin-token",
        params=list(arguments(case.query)),
        headers={"Content-Type": "application/json"},
        content=content,
    )
    case.validate_response(response, checks=CHECKS)


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


@pytest.mark.parametrize(("method", "path"), NEW_ROUTES)
async def test_each_route_is_described_in_full(service: Service, method: str, path: str) -> None:
    """Summary, token, errors and, where the cluster changes, dry run and header are described."""
    route = description(service.app)["paths"][path][method.lower()]
    assert route["description"]
    assert route["security"]
    assert {"4XX", "5XX"} <= route["responses"].keys()
    assert "422" not in route["responses"]
    changes = method != "GET" and not path.startswith("/v1/operations")
    arguments = {parameter["name"] for parameter in route.get("parameters", [])}
    assert ("dry_run" in arguments) is changes
    accepted = route["responses"]["204" if method == "DELETE" else "202"] if changes else {}
    assert not changes or "Jeroboam-Operation" in accepted["headers"]


async def test_every_route_that_changes_a_cluster_has_a_dry_run(service: Service) -> None:
    """No route below a cluster writes without a dry run, today's and tomorrow's."""
    for path, methods in description(service.app)["paths"].items():
        for method, route in methods.items():
            if method == "get" or not path.startswith("/v1/clusters"):
                continue
            if path.endswith("/maintenance_window"):
                continue
            arguments = {parameter["name"] for parameter in route.get("parameters", [])}
            assert "dry_run" in arguments, (method, path)
