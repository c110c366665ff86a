"""The isolation matrix: every route, tried by everybody.

A new route needs a row: in the module of ``rows/`` for its part of the API, one line with the six
codes that its policy means. ``row.py`` says what a row can hold, ``world.py`` what is there.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from tests.integration.api.conftest import error_of
from tests.integration.isolation.row import PEOPLE, Row
from tests.integration.isolation.rows import ROWS
from tests.integration.isolation.world import MARKS, World

REFUSED = 400
RULE = re.compile(r"\b[a-z_-]+:[a-z_]+\b")


def routes_of(routes: Iterable[Any]) -> Iterator[str]:
    """Return what a router serves, as ``METHOD /path``, with all routers that it includes."""
    for route in routes:
        included = getattr(route, "original_router", None)
        if included is not None:
            yield from routes_of(included.routes)
            continue
        yield from (f"{method} {route.path}" for method in route.methods - {"HEAD"})


async def test_every_route_has_a_row(world: World) -> None:
    """A route that nobody has thought about in terms of who may use it is not let in."""
    served, described = set(routes_of(world.service.app.routes)), {row.route for row in ROWS}
    missing = "\n".join(sorted(served - described))
    assert not missing, (
        "These routes have no row in the isolation matrix. Add Row(route, codes, body) for each "
        "to a module of tests/integration/isolation/rows, with the codes for "
        f"{', '.join(PEOPLE)}:\n{missing}"
    )
    gone = "\n".join(sorted(described - served))
    assert not gone, f"These rows are for routes that are not there any more:\n{gone}"


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_who_gets_what(world: World, row: Row) -> None:
    """Each person gets the code of the table, and what is refused changes and tells nothing."""
    world.restore()
    before = await world.service.everything()
    for person, code in row.expected.items():
        if code >= REFUSED:
            await refused(world, row, person, code)
    if row.anonymous >= REFUSED:
        assert (await world.ask(row, None)).status_code == row.anonymous
        assert (await world.ask(row, "made-up-token")).status_code == row.anonymous
    assert await world.service.everything() == before
    for person, code in row.expected.items():
        if code < REFUSED:
            await granted(world, row, person, code)
    if row.anonymous < REFUSED:
        world.restore()
        assert (await world.ask(row, None)).status_code == row.anonymous


async def refused(world: World, row: Row, person: str, code: int) -> None:
    answer = await world.ask(row, PEOPLE[person])
    assert answer.status_code == code, f"{person}: {answer.text}"
    detail = error_of(answer)["detail"]
    if code == 403:
        assert RULE.search(detail), f"it does not name the rule: {detail}"
    if person == "stranger":
        assert not any(mark in detail for mark in MARKS), "it tells of another project's things"
        named = await world.ask(row, PEOPLE[person], by_name=True)
        assert named.status_code == code, f"by name: {named.text}"


async def granted(world: World, row: Row, person: str, code: int) -> None:
    world.restore()
    answer = await world.ask(row, PEOPLE[person])
    assert answer.status_code == code, f"{person}: {answer.text}"
    if row.shared or row.method != "GET":
        return
    seen = any(mark in answer.text for mark in MARKS)
    if person == "stranger":
        assert not seen, f"a stranger sees another project's things: {answer.text}"
    else:
        assert seen, f"{person} sees nothing of what is there: {answer.text}"
