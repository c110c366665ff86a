"""Hooks from end to end: real Temporal, real database, real HTTP, fake backend."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog
from temporalio.client import Client

from jeroboam.activities.planning import Planner
from jeroboam.api.http.app import create_app
from jeroboam.api.http.authorization import Authorizer
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.drivers.base import DriverContext, SupportsHooks
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.hooks.base import Hook, HookEvent, HookResult
from jeroboam.hooks.callbacks import Callbacks
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.hooks.kit import HookKit
from jeroboam.hooks.outbound import GuardedOutbound
from jeroboam.hooks.registry import HookRegistry
from jeroboam.hooks.targets import Targets
from jeroboam.models import (
    ClusterSpec,
    FailurePolicy,
    HookPhase,
    HookSource,
    Operation,
    OperationKind,
    OperationState,
    Status,
    StepState,
)
from jeroboam.models.hook import HookDeclaration, HookScope
from jeroboam.workflows.schedule_client import ScheduleClient
from tests.integration.api import cloud as people
from tests.integration.engine import Engine, running_engine
from tests.integration.hooks.receiver import Receiver, receiving
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


@pytest.fixture(scope="module")
def journal() -> Journal:
    return Journal()


@pytest.fixture(scope="module")
def server() -> Iterator[Receiver]:
    with receiving() as one:
        yield one


@pytest.fixture(scope="module")
async def everything(
    temporal_client: Client,
    tmp_path_factory: pytest.TempPathFactory,
    server: Receiver,
    journal: Journal,
) -> AsyncIterator[Stage]:
    HookedDriver.journal = journal
    kit = HookKit(
        registry=HookRegistry([Brittle(journal)], DeclaredHooks()),
        outbound=GuardedOutbound(Targets([server.url.removesuffix("/hook")])),
        callbacks=Callbacks(bytes(32), BASE),
    )
    directory = tmp_path_factory.mktemp("hooks")
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(
            running_engine(temporal_client, directory, kit=kit, driver=HookedDriver)
        )
        transport = httpx.ASGITransport(app=application(engine, kit))
        api = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url=BASE))
        yield Stage(engine, server, journal, api)


def application(engine: Engine, kit: HookKit) -> Any:
    drivers = DriverRegistry([DriverEntry(HookedDriver(engine.fakes))])
    return create_app(
        Dependencies(
            settings=engine.settings,
            store=engine.store,
            drivers=drivers,
            operations=engine.operations,
            schedules=ScheduleClient(engine.client, engine.store, engine.settings),
            planner=Planner(engine.store, drivers, kit.registry),
            authenticate=people.authenticate,
            authorizer=Authorizer(),
            directory=people.FakeCloud().directory,
            trusts=people.FakeTrusts(),
            probes={},
            hooks=kit,
        )
    )


@pytest.fixture
async def stage(everything: Stage) -> AsyncIterator[Stage]:
    """The stage with no declarations, a quiet receiver and an empty journal."""
    fresh, journal = Receiver(), everything.journal
    kept = everything.receiver.url
    vars(everything.receiver).update(vars(fresh) | {"url": kept})
    journal.lines.clear()
    journal.keys.clear()
    journal.crashes = 0
    yield everything
    for one in await everything.engine.store.hooks.list():
        await everything.engine.store.hooks.delete(one.uuid)


async def test_veto_reaches_the_user(stage: Stage) -> None:
    """A webhook that refuses a create fails it before the backend is touched, with its reason."""
    await stage.declare()
    stage.receiver.answer = {"allow": False, "reason": "No budget left in May."}
    spec, operation = await stage.create()
    assert operation.state is OperationState.FAILED
    cluster = await stage.engine.cluster(spec)
    assert cluster.status is Status.CREATE_FAILED
    assert "Hook 'approve' refuses: No budget left in May." in (cluster.status_reason or "")
    assert not stage.built(spec)
    assert len(stage.receiver.received) == 1


async def test_webhook_is_tried_again(stage: Stage) -> None:
    """A webhook that fails at first is asked again, with the same id, until it answers."""
    await stage.declare()
    statuses = [500, 503]

    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(statuses.pop(0) if statuses else 200)
        handler.send_header("Retry-After", "1")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    stage.receiver.act = act
    _, operation = await stage.create()
    assert operation.state is OperationState.SUCCEEDED
    ids = [one.headers["webhook-id"] for one in stage.receiver.received]
    assert len(ids) == 3
    assert len(set(ids)) == 1


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(FailurePolicy.WARN, StepState.WARNED), (FailurePolicy.IGNORE, StepState.SUCCEEDED)],
)
async def test_failure_that_is_not_fatal(
    stage: Stage, policy: FailurePolicy, expected: StepState
) -> None:
    """A hook that only warns, or is ignored, leaves the operation alone."""
    await stage.declare(on_failure=policy)
    stage.receiver.status = 404
    spec, operation = await stage.create()
    assert operation.state is OperationState.SUCCEEDED
    assert hook_steps(operation)["Before create: hook approve"] is expected
    assert (await stage.engine.cluster(spec)).status is Status.CREATE_COMPLETE


async def test_labels_before_a_create(stage: Stage) -> None:
    """Labels that a hook adds are there when the driver builds; the user's own stay."""
    await stage.declare()
    labels = {"fake_version": "v1.30.0", "team": "blue"}
    stage.receiver.answer = {"labels": labels}
    spec, operation = await stage.create(labels={"team": "red"})
    assert operation.state is OperationState.SUCCEEDED
    cluster = await stage.engine.cluster(spec)
    assert cluster.labels["fake_version"] == "v1.30.0"
    assert cluster.labels["team"] == "red"
    assert cluster.coe_version == "v1.30.0"
    (step,) = [step for step in operation.steps if "approve" in step.name]
    assert "Labels added: fake_version." in (step.result or "")
    assert "Labels not added: team." in (step.result or "")


async def test_labels_that_the_driver_refuses(stage: Stage) -> None:
    """Labels that the driver refuses fail the create before anything is built."""
    await stage.declare()
    stage.receiver.answer = {"labels": {"fake_create_seconds": "soon", "fake_colour": "red"}}
    spec, operation = await stage.create()
    assert operation.state is OperationState.FAILED
    assert "driver refuses" in (operation.reason or "")
    assert not stage.built(spec)


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


async def test_later_and_yes(stage: Stage) -> None:
    """An operation waits for a late answer, and goes on with it, once."""
    await stage.declare()
    operation, url = await later(stage)
    answer = {"allow": True, "reason": "Signed by Eve.", "labels": {"cost_center": "7"}}
    # At once: it may well overtake the hook's own answer on its way to the run.
    assert (await stage.api.post(url, json=answer)).status_code == 204
    ended = await stage.engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED
    (step,) = [step for step in ended.steps if "approve" in step.name]
    assert "Signed by Eve." in (step.result or "")
    cluster = (await stage.engine.store.clusters.spec(operation.cluster_id)).cluster
    assert cluster.labels["cost_center"] == "7"
    assert (await stage.api.post(url, json=answer)).status_code == 404


async def test_later_and_no(stage: Stage) -> None:
    """A late refusal fails the operation with its reason."""
    await stage.declare()
    operation, url = await later(stage)
    answer = await stage.api.post(url, json={"allow": False, "reason": "Not this week."})
    assert answer.status_code == 204
    ended = await stage.engine.ended(operation)
    assert ended.state is OperationState.FAILED
    assert "Hook 'approve' refuses: Not this week." in (ended.reason or "")


async def test_approval_may_take_longer_than_the_work(stage: Stage) -> None:
    """The wait for a late answer has the hook's time, whatever the operation has for its work."""
    await stage.declare(timeout_seconds=7200)
    operation, url = await later(stage, create_timeout=1)
    spec = await stage.engine.store.clusters.spec(operation.cluster_id)

    async def timers() -> list[int]:
        events = (await stage.engine.run(spec).fetch_history()).events
        started = [one.timer_started_event_attributes for one in events]
        return [one.start_to_fire_timeout.seconds for one in started if one.timer_id]

    for _ in range(100):
        if 7200 in await timers():
            break
        await asyncio.sleep(0.1)
    assert 7200 in await timers()
    assert (await stage.api.post(url, json={"allow": True})).status_code == 204
    assert (await stage.engine.ended(operation)).state is OperationState.SUCCEEDED


async def test_later_and_never(stage: Stage) -> None:
    """A late answer that does not come in time fails the step."""
    await stage.declare(timeout_seconds=2)
    operation, url = await later(stage)
    ended = await stage.engine.ended(operation)
    assert ended.state is OperationState.FAILED
    assert "did not answer in time" in (ended.reason or "")
    assert (await stage.api.post(url, json={"allow": True})).status_code == 404


async def test_hooks_on_failure(stage: Stage) -> None:
    """When an operation has failed, its hooks are told why, and cannot make it worse."""
    await stage.declare("alarm", phases=(HookPhase.FAILURE,))
    stage.receiver.status = 404
    labels = {"fake_fail": "create", "fake_fail_reason": "No valid host."}
    spec, operation = await stage.create(labels=labels)
    assert operation.state is OperationState.FAILED
    assert "No valid host." in (operation.reason or "")
    (got,) = stage.receiver.received
    assert got.json["type"] == "cluster.create.failure"
    assert "No valid host." in got.json["operation"]["failure"]
    assert (await stage.engine.cluster(spec)).status is Status.CREATE_FAILED
    assert stage.journal.lines[0] == "driver before create"
    assert stage.journal.lines[-1].startswith("driver failed create: ")
    assert "No valid host." in stage.journal.lines[-1]


@pytest.fixture
def plain_logs() -> Iterator[None]:
    """Log as the worker does: tracebacks without the values of variables."""
    before = structlog.get_config()
    structlog.configure(
        processors=[structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    yield
    structlog.configure(**before)


@pytest.mark.usefixtures("plain_logs")
async def test_hook_that_crashes_twice(
    stage: Stage, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A hook that crashes is run again with the same key; no secret gets out on any way."""
    await stage.declare("fragile", source=HookSource.PYTHON, hook="brittle")
    stage.journal.crashes = 2
    spec, operation = await stage.create()
    assert operation.state is OperationState.SUCCEEDED
    assert len(stage.journal.keys) == 3
    assert len(set(stage.journal.keys)) == 1
    (step,) = [step for step in operation.steps if "fragile" in step.name]
    assert step.result == "done with ***"
    history = await stage.engine.run(spec).fetch_history()
    notes = await stage.engine.store.operations.notes(operation.uuid)
    printed = capsys.readouterr().out
    assert "activity_defect" in printed
    for place in (str(history.events), str(operation), str(notes), printed, caplog.text):
        assert SECRET not in place


async def test_no_secret_in_the_history(stage: Stage) -> None:
    """Neither a signing secret nor the URL of a callback gets into Temporal's history."""
    await stage.declare()
    operation, url = await later(stage)
    await stage.api.post(url, json={"allow": True, "reason": f"as asked at {url}"})
    await stage.engine.ended(operation)
    spec = await stage.engine.store.clusters.spec(operation.cluster_id)
    history = str((await stage.engine.run(spec).fetch_history()).events)
    assert "approve" in history
    assert SECRET not in history
    assert url.rpartition("/")[2] not in history


async def test_order_over_all_sources(stage: Stage) -> None:
    """The driver's own hooks go first, the others in the order that they declare."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        stage.journal.lines.append("webhook")
        handler.send_response(204)
        handler.end_headers()

    stage.receiver.act = act
    await stage.declare("a-last", runs_after=("m-middle",))
    await stage.declare(
        "m-middle", source=HookSource.PYTHON, hook="brittle", runs_after=("z-first",), phases=None
    )
    await stage.declare("z-first")
    await stage.create()
    assert stage.journal.lines == [
        "driver before create",
        "webhook",
        "python before create",
        "webhook",
        "driver after create",
        "python after create",
    ]


async def test_scope_of_a_project(stage: Stage) -> None:
    """A hook of one project does not run for others."""
    await stage.declare(scope=HookScope.PROJECT, scope_id="theirs")
    await stage.create(project_id="mine")
    assert stage.receiver.received == []
    await stage.create(project_id="theirs")
    assert len(stage.receiver.received) == 1


async def test_hook_that_is_taken_away(stage: Stage) -> None:
    """An administrator can take away a hook under an operation that is at work."""
    hook = await stage.declare(phases=(HookPhase.AFTER,))
    spec, operation = stage.engine.new(labels={"fake_create_seconds": "2"})
    await stage.engine.accept(spec, operation)
    await stage.engine.operations.start(operation)
    await stage.engine.until(spec, lambda cluster: cluster.stack_id is not None)
    await stage.engine.store.hooks.delete(hook.uuid)
    ended = await stage.engine.ended(operation)
    assert ended.state is OperationState.SUCCEEDED
    (step,) = [step for step in ended.steps if "approve" in step.name]
    assert "removed or switched off" in (step.result or "")
    assert stage.receiver.received == []


async def test_veto_of_a_delete(stage: Stage) -> None:
    """A hook may keep a cluster from being deleted, but not from being deleted by force."""
    spec, _ = await stage.create()
    both = (OperationKind.DELETE, OperationKind.FORCE_DELETE)
    await stage.declare("freeze", operations=both)
    stage.receiver.answer = {"allow": False, "reason": "Frozen."}
    operation = await stage.engine.delete(spec.cluster)
    ended = await stage.engine.ended(operation)
    assert ended.state is OperationState.FAILED
    cluster = await stage.engine.cluster(spec)
    assert cluster.status is Status.CREATE_COMPLETE, "nothing was touched"
    assert "Frozen." in (cluster.status_reason or "")
    forced = stage.engine.operation(spec.cluster, OperationKind.FORCE_DELETE)
    await stage.engine.operations.delete(spec.cluster, forced)
    await stage.engine.gone(spec)


async def test_veto_of_a_retry(stage: Stage) -> None:
    """A retry that is refused leaves a cluster that is half changed as what it is."""
    faults = {"fake_fail": "update", "fake_fail_times": "2", "fake_fail_share": "0.5"}
    spec, _ = await stage.create(labels=faults)
    await stage.declare("freeze", operations=(OperationKind.RESIZE,))
    stage.receiver.answer = {"allow": True}
    worker = spec.group("default-worker")
    operation = await stage.engine.ask(
        spec, OperationKind.RESIZE, node_group=worker.uuid, node_count=5
    )
    operation = await stage.engine.ended(operation)
    assert (await stage.engine.cluster(spec)).status is Status.ROLLBACK_FAILED
    stage.receiver.answer = {"allow": False, "reason": "Frozen."}
    await stage.engine.operations.retry(operation)
    assert "Frozen." in ((await stage.engine.ended(operation)).reason or "")
    assert (await stage.engine.cluster(spec)).status is Status.ROLLBACK_FAILED


async def test_command_of_the_file(temporal_client: Client, tmp_path: Path) -> None:
    """A command that the file declares runs as a step; one that the worker lacks fails it."""
    kept = tmp_path / "event"
    command = HookDeclaration(
        name="note",
        source=HookSource.COMMAND,
        argv=("/bin/sh", "-c", f"cat > {kept}"),
        phases=(HookPhase.BEFORE,),
        operations=(OperationKind.CREATE,),
    )
    registry = HookRegistry((), DeclaredHooks({"note": command}))
    async with running_engine(temporal_client, tmp_path, kit=HookKit(registry)) as engine:
        spec, operation = engine.new()
        await engine.accept(spec, operation)
        await engine.operations.start(operation)
        assert (await engine.ended(operation)).state is OperationState.SUCCEEDED
        assert "cluster.create.before" in kept.read_text()
        spec, operation = engine.new(name="other", labels={"fake_create_seconds": "2"})
        await engine.accept(spec, operation)
        plan = await Planner(
            engine.store, DriverRegistry([DriverEntry(FakeDriver(engine.fakes))]), registry
        ).plan(operation)
        await engine.store.operations.keep_plan(operation.uuid, plan)
        registry.declared = {}
        await engine.operations.start(operation)
        ended = await engine.ended(operation)
        assert ended.state is OperationState.FAILED
        assert "not in the hooks file of this worker" in (ended.reason or "")
