"""What a hook's answer does to the operation: real Temporal, database, HTTP; fake backend."""

from http.server import BaseHTTPRequestHandler

import pytest

from jeroboam.models import (
    FailurePolicy,
    HookPhase,
    OperationKind,
    OperationState,
    Status,
    StepState,
)
from tests.integration.hook_steps.stage import Stage, hook_steps


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
