"""Every fact that is known of Magnum's API is compared with what the service does.

The facts are those of Magnum 23 and of its clients. ``docs/reference/magnum-compatibility.md``
lists them by route, made from the same data.
"""

import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from jeroboam.api.http.app import ROUTERS
from tests.integration.api.conformance.conftest import Stage
from tests.integration.api.conformance.fact import Fact
from tests.integration.api.conformance.facts import FACTS
from tests.integration.api.conformance.routes import MAGNUM_ROUTES

REFUSED = 400
ANYTHING = "<any>"


def name_of(fact: Fact) -> str:
    return re.sub(r"[^\w /.-]", "", f"{fact.route} - {fact.says}")


@pytest.mark.parametrize("fact", FACTS, ids=name_of)
async def test_fact(stage: Stage, fact: Fact) -> None:
    """The service does what the fact says."""
    response = await asked(stage, fact)
    assert response.status_code == fact.status, response.text
    for name, value in fact.headers.items():
        found = response.headers.get(name)
        assert (found is not None) if value == ANYTHING else found == value, (name, found)
    answer = looked_at(fact, response)
    if fact.has:
        told = answer["detail"] if fact.status >= REFUSED else response.text
        assert fact.has in told, told
    if fact.code is not None:
        assert answer["code"] == fact.code
    if fact.keys is not None:
        assert answer.keys() == fact.keys, answer.keys() ^ fact.keys
    assert answer.items() >= dict(fact.shows).items(), answer


async def asked(stage: Stage, fact: Fact) -> httpx.Response:
    """Send the request of a fact, to a service in which nothing has happened yet."""
    if fact.method != "GET":
        stage.world.restore()
    body = {} if fact.body is None else {"json": filled(stage.things, fact.body)}
    try:
        return await stage.world.service.call(
            fact.method,
            filled(stage.things, fact.path),
            token=fact.token,
            version=fact.version,
            headers=dict(fact.sends),
            **body,
        )
    finally:
        if fact.method != "GET":
            stage.world.restore()


def looked_at(fact: Fact, response: httpx.Response) -> dict[str, Any]:
    """Return the object of an answer that the fact is about; nothing if there is no body."""
    if not response.content or "json" not in response.headers["content-type"]:
        return {}
    answer: dict[str, Any] = response.json()
    if fact.status >= REFUSED:
        (answer,) = answer["errors"]
    if fact.of:
        answer = answer[fact.of][0]
    return answer


def filled(things: Mapping[str, str], body: Any) -> Any:
    """Return a body, or a path, with what its names in brackets stand for."""
    if isinstance(body, Mapping):
        return {key: filled(things, value) for key, value in body.items()}
    if isinstance(body, list):
        return [filled(things, value) for value in body]
    if isinstance(body, str):
        return re.sub("<([^<>]+)>", lambda found: things[found[1]], body)
    return body


def test_every_route_of_magnum_is_compared() -> None:
    """Each route that Magnum has is served under its path, and facts are known of it."""
    served = {
        f"{method} {re.sub('{[^}]+}', '{}', route.path)}"
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    compared = {re.sub("{[^}]+}", "{}", fact.route) for fact in FACTS}
    wanted = {re.sub("{[^}]+}", "{}", route) for route in MAGNUM_ROUTES}
    assert wanted <= served, wanted - served
    assert wanted <= compared, wanted - compared
