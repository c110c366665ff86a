"""Where operations with hooks are played: engine, webhook receiver, API and a journal."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import httpx

from jeroboam.activities.planning import Planner
from jeroboam.api.http.app import create_app
from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.drivers.base import DriverContext, SupportsHooks
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.hooks.base import Hook, HookEvent, HookResult
from jeroboam.hooks.kit import HookKit
from jeroboam.models import ClusterSpec, HookPhase, HookSource, Operation, OperationKind, StepState
from jeroboam.models.hook import HookDeclaration
from jeroboam.workflows.coe_client import CoeClient
from jeroboam.workflows.schedule_client import ScheduleClient
from jeroboam.workflows.signing_client import SigningClient
from tests.integration.api import cloud as people
from tests.integration.engine import Engine
from tests.integration.hooks.receiver import Receiver
from tests.unit.hooks.hooks import SECRET

BASE = "http://jeroboam.test"


@dataclass
class Journal:
    """What hooks of all sources wrote, in order; and how often the brittle one shall crash."""

    lines: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    crashes: int = 0


class Brittle(Hook):
    """Crashes as often as the journal says, with its secret in the words."""

    name = "brittle"
    phases = (HookPhase.BEFORE, HookPhase.AFTER)
    operations = tuple(OperationKind)
    automatic = False

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def run(self, event: HookEvent) -> HookResult:
        """Crash, or write a line."""
        self._journal.keys.append(event.idempotency_key)
        if self._journal.crashes > 0:
            self._journal.crashes -= 1
            raise ValueError(f"The secret is {event.secret}.")
        self._journal.lines.append(f"python {event.phase} {event.operation}")
        return HookResult(message=f"done with {event.secret}")


class HookedDriver(FakeDriver, SupportsHooks):
    """A fake driver with hooks of its own."""

    journal: Journal

    def before(self, operation: OperationKind, context: DriverContext, spec: ClusterSpec) -> None:
        """Write a line."""
        self.journal.lines.append(f"driver before {operation}")

    def after(self, operation: OperationKind, context: DriverContext, spec: ClusterSpec) -> None:
        """Write a line."""
        self.journal.lines.append(f"driver after {operation}")

    def failed(
        self, operation: OperationKind, context: DriverContext, spec: ClusterSpec, reason: str
    ) -> None:
        """Write a line."""
        self.journal.lines.append(f"driver failed {operation}: {reason}")


@dataclass
class Stage:
    """An engine, a receiver of webhooks and the API, with one set of hooks."""

    engine: Engine
    receiver: Receiver
    journal: Journal
    api: httpx.AsyncClient

    async def declare(self, name: str = "approve", **changes: Any) -> HookDeclaration:
        values: dict[str, Any] = {
            "name": name,
            "source": HookSource.WEBHOOK,
            "phases": (HookPhase.BEFORE,),
            "operations": (OperationKind.CREATE,),
        }
        values |= {"url": self.receiver.url} if "source" not in changes else {}
        one = HookDeclaration(**values | changes)
        await self.engine.store.hooks.add(one, SECRET)
        return one

    async def create(self, **fields: Any) -> tuple[ClusterSpec, Operation]:
        """Create a cluster and return how it went."""
        spec, operation = self.engine.new(**fields)
        await self.engine.accept(spec, operation)
        await self.engine.operations.start(operation)
        return spec, await self.engine.ended(operation)

    def built(self, spec: ClusterSpec) -> bool:
        """Whether the backend was ever asked for the cluster."""
        return bool(self.engine.backend(spec).journal)


def hook_steps(operation: Operation) -> dict[str, StepState]:
    return {step.name: step.state for step in operation.steps if "hook" in step.name}


def application(engine: Engine, kit: HookKit) -> Any:
    drivers = DriverRegistry([DriverEntry(HookedDriver(engine.fakes))])
    return create_app(
        Dependencies(
            settings=engine.settings,
            store=engine.store,
            drivers=drivers,
            operations=engine.operations,
            schedules=ScheduleClient(engine.client, engine.store, engine.settings),
            coe=CoeClient(engine.client, engine.settings.task_queue),
            signer=SigningClient(engine.client, engine.settings.task_queue),
            planner=Planner(engine.store, drivers, kit.registry),
            authenticate=people.authenticate,
            authorizer=Authorizer(),
            directory=people.FakeCloud().directory,
            trusts=people.FakeTrusts(),
            probes={},
            hooks=kit,
        )
    )


async def later(stage: Stage, **fields: Any) -> tuple[Operation, str]:
    """Start a create whose webhook answers later; return the operation and the callback."""
    stage.receiver.status = 202
    spec, operation = stage.engine.new(**fields)
    await stage.engine.accept(spec, operation)
    await stage.engine.operations.start(operation)
    for _ in range(400):
        if stage.receiver.received:
            break
        await asyncio.sleep(0.05)
    return operation, str(stage.receiver.received[0].json["callback_url"])
