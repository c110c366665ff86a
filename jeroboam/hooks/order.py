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


def check(hooks: Dependencies) -> None:
    """Refuse dependencies that cannot be kept.

    Raises:
        InvalidRequestError: A hook runs after one that does not exist, or in a circle.
    """
    for name in sorted(hooks):
        missing = sorted(set(hooks[name]) - hooks.keys())
        if missing:
            raise InvalidRequestError(
                f"Hook '{name}' runs after {', '.join(missing)}, which does not exist."
            )
    circle = _circle(hooks)
    if circle:
        raise InvalidRequestError(
            f"Hooks run after one another in a circle: {' -> '.join(circle)}."
        )


def _circle(hooks: Dependencies) -> tuple[str, ...]:
    """Return the names of a circle, the first one again at its end; empty if there is none."""
    left = {name: set(after) for name, after in hooks.items()}
    while free := [name for name, after in left.items() if not after & left.keys()]:
        for name in free:
            del left[name]
    if not left:
        return ()
    walk = [min(left)]
    while walk[-1] not in walk[:-1]:
        walk.append(min(left[walk[-1]] & left.keys()))
    return tuple(reversed(walk[walk.index(walk[-1]) :]))
