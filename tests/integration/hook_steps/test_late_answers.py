"""Webhooks that answer later, by their callback: real Temporal, database, HTTP."""

import asyncio

from jeroboam.models import OperationState
from tests.integration.hook_steps.stage import Stage, later


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
