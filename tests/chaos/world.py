"""What differs between the pretended backend and a real cloud: the seam of the harness."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import httpx
from pydantic import BaseModel

from jeroboam.drivers.base import ClusterDriver
from jeroboam.models import Cluster, ClusterSpec, OperationKind, Parameters, Plan
from tests.chaos.faults import Fault
from tests.chaos.oracle import Case
from tests.chaos.rules import Act
from tests.chaos.tenant import Tenant

Pause = tuple[float, float]
"""The shortest and the longest time for which something is away."""


class Component(Protocol):
    """What can be killed."""

    def start(self) -> None:
        """Start it again."""

    def kill(self) -> None:
        """Let it crash."""


class World(Protocol):
    """Where clusters live, what goes wrong there, and how it is asked what there is."""

    @property
    def driver(self) -> ClusterDriver:
        """As the processes have it, for plans."""

    @property
    def auth(self) -> httpx.Auth:
        """Of the user who asks for operations."""

    @property
    def crashes(self) -> Sequence[Act]:
        """What may be killed in it, with the product's own processes."""

    @property
    def end_seconds(self) -> float:
        """An operation whose record has not changed for so long is stuck."""

    @property
    def components(self) -> Mapping[str, Component]:
        """What can be killed, beside the product's own processes."""

    @property
    def pauses(self) -> Mapping[str, Pause]:
        """How long those are away."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Environment variables of the product's processes, beside those of every world."""

    async def templates(self, tenant: Tenant) -> list[str]:
        """Make templates; return their uuids in the order of their versions."""

    def cluster(self, chance: random.Random) -> Mapping[str, Any]:
        """Return what is asked for a new cluster, beside name and template."""

    def wish(
        self, chance: random.Random, spec: ClusterSpec, templates: Sequence[str]
    ) -> tuple[OperationKind, Parameters]:
        """Return an operation that the cluster can take."""

    def draw(self, chance: random.Random, plan: Plan, crashes: Sequence[Act]) -> Fault:
        """Return a fault that fits an operation."""

    def set_fault(self, cluster: Cluster, labels: Mapping[str, str]) -> None:
        """Let the backend do wrong what a fault's labels say, until that is cleared."""

    def clear_fault(self, cluster: Cluster) -> None:
        """Let the backend behave again towards a cluster."""

    async def known(self, cluster: Cluster) -> BaseModel:
        """Return what the backend itself knows of a cluster, for ``judge``."""

    def judge(self, case: Case[Any]) -> Iterator[str]:
        """Yield what is not as it should be at the end of an operation."""

    async def unaccounted(self, left: Sequence[Cluster]) -> list[str]:
        """Return what is there and belongs to none of the clusters that were left."""


class Opened(Protocol):
    """How a world is entered."""

    def __call__(self, directory: Path) -> AbstractContextManager[World]:
        """Return a world that keeps its files in a directory and ends with the block."""
