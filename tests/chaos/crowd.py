"""Many clusters at once, each with somebody who decides what happens to it."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.chaos.chooser import Chooser, RandomChooser
from tests.chaos.environment import Environment
from tests.chaos.life import Life
from tests.chaos.report import Report
from tests.chaos.rules import Act
from tests.chaos.sweep import Extent, Sweep
from tests.chaos.tenant import Tenant


@dataclass
class Crowd:
    """The clusters of a run.

    Args:
        templates: uuids in the order of their versions.
        seed: Decides, with a cluster's number, all that is drawn for it.
        lanes: How many live at the same time.
        next: Number of the next one.
        seconds: When to begin none any more.
    """

    environment: Environment
    tenant: Tenant
    report: Report
    templates: Sequence[str]
    seed: str
    lanes: int
    next: int
    seconds: float

    async def draw(self, rounds: int, operations: int, crashes: Sequence[Act]) -> None:
        """Live at random until there were enough rounds."""
        world = self.environment.world

        def choose(number: int) -> Chooser | None:
            if len(self.report.rounds) >= rounds:
                return None
            return RandomChooser(world, self._chance(number), operations, self.templates, crashes)

        await self._live(choose)

    async def sweep(self, extent: Extent) -> None:
        """Live through all that a sweep covers."""
        sweep = Sweep(self.templates, extent)
        rehearsals = sweep.rehearsals()
        await asyncio.gather(
            *(self._life(-2 - number, one).live() for number, one in enumerate(rehearsals))
        )
        self.report.cases = sweep.cases(self.next)
        await self._live(sweep.chooser)
        left = sweep.cases(self.next)
        self.report.note(
            f"{left} cases are left: go on with --first {self.next}" if left else "no case is left"
        )

    async def _live(self, choose: Callable[[int], Chooser | None]) -> None:
        deadline = time.monotonic() + self.seconds

        async def lane() -> None:
            while time.monotonic() < deadline:
                chooser = choose(self.next)
                if chooser is None:
                    return
                life = self._life(self.next, chooser)
                self.next += 1
                await life.live()

        async with asyncio.TaskGroup() as group:
            for _ in range(self.lanes):
                group.create_task(lane())

    def _life(self, number: int, chooser: Chooser) -> Life:
        return Life(
            environment=self.environment,
            tenant=self.tenant,
            report=self.report,
            number=number,
            template=self.templates[0],
            chooser=chooser,
            chance=self._chance(number),
        )

    def _chance(self, number: int) -> random.Random:
        return random.Random(f"{self.seed}/{number}")
