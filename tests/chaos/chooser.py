"""What is asked of a cluster next, and what goes wrong meanwhile."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jeroboam.models import ClusterSpec, OperationKind, Parameters, Plan
from tests.chaos.faults import Fault
from tests.chaos.rules import Act
from tests.chaos.world import World

Wish = tuple[OperationKind, Parameters]

API_CRASHES = 0.05
FORCED = 0.2
INSISTENCE = 0.4


@dataclass(frozen=True)
class Shape:
    """How a cluster begins.

    Args:
        fields: Of the request, beside name and template.
        rollback: Whether it is removed when its creation fails.
    """

    fields: Mapping[str, Any]
    rollback: bool


class Chooser(Protocol):
    """Decides for one cluster; asked in the order of the methods, anew for each operation."""

    def shape(self) -> Shape:
        """Return how the cluster shall begin."""

    def wish(self, spec: ClusterSpec) -> Wish:
        """Return what to ask next; a delete in the end."""

    def kills_api(self) -> bool:
        """Return whether the API dies when it has accepted the next operation."""

    def fault(self, plan: Plan) -> Fault:
        """Return what goes wrong in an operation that was just accepted."""

    def insists(self) -> bool:
        """Return whether to retry what ended badly and left nothing half done."""


@dataclass
class RandomChooser:
    """Draws all of it.

    Args:
        world: Knows what may be asked for and what can go wrong.
        left: How many operations are still to come before the delete.
        templates: uuids in the order of their versions.
        crashes: Components that may be killed.
    """

    world: World
    chance: random.Random
    left: int
    templates: Sequence[str]
    crashes: Sequence[Act]

    def shape(self) -> Shape:
        """Draw a size."""
        return Shape(self.world.cluster(self.chance), rollback=self.chance.random() < 0.5)

    def wish(self, spec: ClusterSpec) -> Wish:
        """Draw what the cluster can take."""
        if self.left:
            self.left -= 1
            return self.world.wish(self.chance, spec, self.templates)
        forced = self.chance.random() < FORCED
        return (OperationKind.FORCE_DELETE if forced else OperationKind.DELETE), Parameters()

    def kills_api(self) -> bool:
        """Draw it, where the API may be killed at all."""
        return Act.API in self.crashes and self.chance.random() < API_CRASHES

    def fault(self, plan: Plan) -> Fault:
        """Draw one that fits."""
        return self.world.draw(self.chance, plan, self.crashes)

    def insists(self) -> bool:
        """Draw it."""
        return self.chance.random() < INSISTENCE
