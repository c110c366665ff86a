"""The order of hooks, computed from what each runs after. Pure."""

import heapq
from collections.abc import Iterable, Mapping

from jeroboam.errors import InvalidRequestError

Dependencies = Mapping[str, Iterable[str]]
"""By name, the names that run earlier."""


def ordered(hooks: Dependencies) -> tuple[str, ...]:
    """Return the names in an order that keeps to the dependencies, otherwise by name.

    What is missing is passed over, and a circle is opened at its first name: the operations of
    tenants must go on when two administrators declare a contradiction at the same moment.
    """
    waits = {name: set(after) & hooks.keys() - {name} for name, after in hooks.items()}
    ready = [name for name, after in waits.items() if not after]
    heapq.heapify(ready)
    order: list[str] = []
    while waits:
        name = heapq.heappop(ready) if ready else min(waits)
        order.append(name)
        del waits[name]
        for other, after in waits.items():
            if name in after:
                after.discard(name)
                if not after:
                    heapq.heappush(ready, other)
    return tuple(order)


def check(hooks: Dependencies, names: Iterable[str] | None = None) -> None:
    """Refuse dependencies that cannot be kept.

    Args:
        names: The hooks whose dependencies are looked at; all by default.

    Raises:
        InvalidRequestError: A hook runs after one that does not exist, or in a circle.
    """
    for name in sorted(hooks if names is None else names):
        missing = sorted(set(hooks[name]) - hooks.keys())
        if missing:
            raise InvalidRequestError(
                f"Hook '{name}' runs after {', '.join(missing)}, which does not exist."
            )
        circle = _circle(hooks, name)
        if circle:
            raise InvalidRequestError(
                f"Hooks run after one another in a circle: {' -> '.join(circle)}."
            )


def _circle(hooks: Dependencies, start: str) -> tuple[str, ...]:
    """Return the names of a shortest circle through ``start``, which is at both its ends."""
    paths: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    for path in paths:
        for earlier in sorted(hooks.get(path[-1], ())):
            if earlier == start:
                return (start, *reversed(path))
            if earlier not in seen:
                seen.add(earlier)
                paths.append((*path, earlier))
    return ()
