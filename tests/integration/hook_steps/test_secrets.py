"""No secret of a hook gets into a record, a log or Temporal's history."""

from collections.abc import Iterator

import pytest
import structlog

from jeroboam.models import HookSource, OperationState
from tests.integration.hook_steps.stage import Stage, later
from tests.unit.hooks.hooks import SECRET


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
