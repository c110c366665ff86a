"""Makes from the facts that are compared the tables of ``magnum-compatibility.md``."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tests.integration.api.conformance.fact import Fact
from tests.integration.api.conformance.facts import FACTS
from tests.integration.api.conformance.routes import MAGNUM_ROUTES


def by_route() -> Mapping[str, Sequence[Fact]]:
    """Return the facts of each of Magnum's routes."""
    facts: dict[str, list[Fact]] = {route: [] for route in MAGNUM_ROUTES}
    known = {_shape(route): route for route in MAGNUM_ROUTES}
    for fact in FACTS:
        if _shape(fact.route) in known:
            facts[known[_shape(fact.route)]].append(fact)
    return facts


def compared_routes() -> Iterator[tuple[str, ...]]:
    """Yield for each route how many facts are compared, and which clients drive it."""
    for route, facts in by_route().items():
        clients = ", ".join(MAGNUM_ROUTES[route]) or "none uses it"
        differences = sum(bool(fact.magnum) for fact in facts)
        yield (f"`{route}`", str(len(facts)), str(differences) if differences else "", clients)


def compared_facts() -> str:
    """Return what is compared, route by route."""
    parts = []
    for route, facts in by_route().items():
        lines = "\n".join(dict.fromkeys(f"* {fact.says} ({fact.status})" for fact in facts))
        parts.append(f"### {route}\n\n{lines}")
    return "\n\n".join(parts)


def differences() -> Iterator[tuple[str, ...]]:
    """Yield where Jeroboam differs on purpose."""
    for fact in FACTS:
        if fact.magnum:
            yield (f"`{fact.route}`", f"{fact.says} ({fact.status})", fact.magnum)


def _shape(route: str) -> str:
    return re.sub("{[^}]+}", "{}", route)
