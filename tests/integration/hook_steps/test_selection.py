"""Which hooks run, from which source, and in which order."""

from http.server import BaseHTTPRequestHandler
from pathlib import Path

from temporalio.client import Client

from jeroboam.activities.planning import Planner
from jeroboam.drivers.fake.driver import FakeDriver
from jeroboam.drivers.registry import DriverEntry, DriverRegistry
from jeroboam.hooks.file import DeclaredHooks
from jeroboam.hooks.kit import HookKit
from jeroboam.hooks.registry import HookRegistry
from jeroboam.models import HookPhase, HookSource, OperationKind, OperationState
from jeroboam.models.hook import HookDeclaration, HookScope
from tests.integration.engine import running_engine
from tests.integration.hook_steps.stage import Stage


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
