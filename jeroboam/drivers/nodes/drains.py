"""Drains that a cluster's own API does: what drivers of all engines have in common."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol

from jeroboam.drivers.base import DriverContext, SupportsDrain
from jeroboam.drivers.nodes.choice import Order, choose
from jeroboam.models import ClusterSpec, Node, NodeGroup


class Scale(Protocol):
    """An engine's module ``scale``."""

    def orders(self, api: Any, candidates: Sequence[Node], /) -> Mapping[str, Order]:
        """Return how much each node of a group would be missed, by its name."""

    def empty(self, api: Any, nodes: Sequence[Node], /) -> Mapping[str, str]:
        """Close nodes, ask what is there to leave, and return what still is."""

    def reopen(self, api: Any, nodes: Sequence[Node], /) -> None:
        """Open nodes again that Jeroboam has closed."""


def chosen(
    scale: Scale, api: Any, candidates: Sequence[Node], count: int, named: Sequence[Node]
) -> Sequence[Node]:
    """Return the nodes that go: those that were named, then those that are missed least.

    Where enough are named, nobody is asked.

    Args:
        candidates: The nodes of the group.
        count: How many go in all.
    """
    if count <= len(named):
        return tuple(named)
    return choose(candidates, count, named, scale.orders(api, candidates))


class DrainsByApi(SupportsDrain):
    """A driver that asks its cluster's API.

    Args:
        scale: What to ask.
    """

    scale: ClassVar[Scale]

    @abstractmethod
    def api_of(self, context: DriverContext, spec: ClusterSpec) -> AbstractContextManager[Any]:
        """Return the API.

        Raises:
            ClusterUnreachableError: It does not answer.
        """

    def choose_removals(
        self,
        context: DriverContext,
        spec: ClusterSpec,
        group: NodeGroup,
        count: int,
        named: Sequence[Node],
    ) -> Sequence[Node]:
        """Take broken and empty nodes first, then the least loaded."""
        with self.api_of(context, spec) as api:
            return chosen(self.scale, api, group.nodes, count, named)

    def drain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> Mapping[str, str]:
        """Close the nodes, and have what runs there move elsewhere."""
        with self.api_of(context, spec) as api:
            return self.scale.empty(api, nodes)

    def undrain_nodes(
        self, context: DriverContext, spec: ClusterSpec, nodes: Sequence[Node]
    ) -> None:
        """Open the nodes again that Jeroboam has closed."""
        with self.api_of(context, spec) as api:
            self.scale.reopen(api, nodes)
