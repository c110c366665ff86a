"""Operations from end to end on a real Temporal server, with the fake driver."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import pytest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError

from jeroboam.activities import reconcile
from jeroboam.errors import InvalidRequestError, NotFoundError, OperationInProgressError
from jeroboam.hooks.base import Hook, HookEvent
from jeroboam.models import (
    FailurePolicy,
    HookPhase,
    OperationKind,
    OperationState,
    Status,
    StepState,
)
from jeroboam.models.wire import RECONCILE_WORKFLOW
from tests.integration.engine import Engine, running_engine


class Journal(Hook):
    """Writes down when it ran; fails when it is told to."""

    name = "journal"
    phases = (HookPhase.BEFORE, HookPhase.AFTER)
    operations = tuple(OperationKind)
    entries: ClassVar[list[tuple[str, str, str]]] = []
    veto: ClassVar[str | None] = None

    def run(self, event: HookEvent) -> None:
        self.entries.append((event.spec.cluster.uuid, event.operation, event.phase))
        if self.veto:
            raise InvalidRequestError(self.veto)


@pytest.fixture(scope="module")
async def engine(
    temporal_client: Client, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Engine]:
    directory = tmp_path_factory.mktemp("engine")
    async with running_engine(temporal_client, directory, hooks=(Journal(),)) as engine:
        yield engine


async def test_create(engine: Engine) -> None:
    """A create ends COMPLETE with addresses, a full record, and one backend object."""
    spec = await engine.create(masters=3, workers=2)
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_COMPLETE
    assert cluster.api_address == "https://192.0.2.1:6443"
    assert cluster.stack_id == f"fake-{cluster.uuid}"
    groups = (await engine.store.clusters.spec(cluster.uuid)).node_groups
    assert {group.role: len(group.node_addresses) for group in groups} == {"master": 3, "worker": 2}
    assert {group.status for group in groups} == {Status.CREATE_COMPLETE}
    operation = await engine.store.operations.get(str(cluster.operation_id))
    assert operation.state is OperationState.SUCCEEDED
    assert {step.state for step in operation.steps} == {StepState.SUCCEEDED}
    assert all(step.started_at and step.ended_at for step in operation.steps)


async def test_history_holds_no_secret(engine: Engine) -> None:
    """Keys are made and stored, and no payload of the run's history has them."""
    spec = await engine.create()
    await engine.settled(spec)
    stored = await engine.store.secrets.get(spec.cluster.uuid)
    history = (await engine.run(spec).fetch_history()).to_json()
    assert stored
    assert "PRIVATE KEY" not in history
    assert not any(secret[:40] in history for secret in stored.values())


async def test_operators_find_the_run(engine: Engine) -> None:
    """The run has search attributes, a summary and a step list for the Temporal UI."""
    spec = await engine.create()
    await engine.settled(spec)
    description = await engine.run(spec).describe()
    found = {pair.key.name: pair.value for pair in description.typed_search_attributes}
    assert found["ClusterId"] == spec.cluster.uuid
    assert found["ProjectId"] == spec.cluster.project_id
    assert found["Operation"] == "create"
    assert await description.static_summary() == "create demo (fake)"
    details = await engine.run(spec).query("__temporal_workflow_metadata")
    assert "Wait for the backend" in str(details)


async def test_delete(engine: Engine) -> None:
    """A delete removes the backend object, the row, the secrets and the trust; the record stays."""
    spec = await engine.create(trust_id="trust-1")
    cluster = await engine.settled(spec)
    operation = await engine.delete(cluster)
    await engine.gone(spec)
    assert not list(engine.fakes.glob(f"{cluster.uuid}*"))
    with pytest.raises(NotFoundError):
        await engine.store.secrets.get(cluster.uuid)
    assert "trust-1" in engine.revoked
    assert (await engine.store.operations.get(operation.uuid)).state is OperationState.SUCCEEDED


async def test_delete_supersedes_a_running_create(engine: Engine) -> None:
    """A delete takes a running create over within its run and leaves nothing behind."""
    spec = await engine.create(labels={"fake_create_seconds": "60"})
    await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    before = await engine.run(spec).describe()
    create_id = (await engine.cluster(spec)).operation_id
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    assert (await engine.run(spec).describe()).run_id == before.run_id
    assert not list(engine.fakes.glob(f"{spec.cluster.uuid}*"))
    create = await engine.store.operations.get(str(create_id))
    assert create.state is OperationState.CANCELLED
    assert "Superseded by delete" in str(create.reason)


async def test_delete_at_once_after_create(engine: Engine) -> None:
    """A delete in the very first moment of a create leaves nothing behind either."""
    specs = [await engine.create(labels={"fake_create_seconds": "60"}) for _ in range(5)]
    await asyncio.gather(*(engine.delete(spec.cluster) for spec in specs))
    for spec in specs:
        await engine.gone(spec)
        assert not list(engine.fakes.glob(f"{spec.cluster.uuid}*"))


async def test_second_delete_is_idempotent(engine: Engine) -> None:
    """A delete of a cluster that is being deleted is accepted and does nothing more."""
    spec = await engine.create(labels={"fake_delete_seconds": "2"})
    cluster = await engine.settled(spec)
    first, second = await engine.delete(cluster), await engine.delete(cluster)
    await engine.gone(spec)
    assert (await engine.store.operations.get(first.uuid)).state is OperationState.SUCCEEDED
    assert (await engine.store.operations.get(second.uuid)).state is OperationState.REJECTED


async def test_second_operation_is_refused(engine: Engine) -> None:
    """While an operation runs another is refused with its id, kind and step."""
    spec = await engine.create(labels={"fake_create_seconds": "60"})
    running = await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    again = engine.operation(spec.cluster, OperationKind.CREATE)
    await engine.store.operations.add(again)
    with pytest.raises(OperationInProgressError, match="Wait for the backend") as caught:
        await engine.operations.start(again)
    assert caught.value.operation_id == running.operation_id
    assert (await engine.store.operations.get(again.uuid)).state is OperationState.REJECTED
    await engine.delete(spec.cluster)
    await engine.gone(spec)


async def test_starting_twice_is_once(engine: Engine) -> None:
    """The same operation started again, as after a lost answer, is success."""
    spec, operation = engine.new()
    await engine.accept(spec, operation)
    await engine.operations.start(operation)
    await engine.operations.start(operation)
    assert (await engine.settled(spec)).status is Status.CREATE_COMPLETE


async def test_failure_is_kept_for_inspection(engine: Engine) -> None:
    """A failed create shows the backend's own reason and keeps what was built."""
    spec = await engine.create(
        labels={"fake_fail": "create", "fake_fail_reason": "Quota exceeded for instances"}
    )
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_FAILED
    assert cluster.status_reason == "Quota exceeded for instances"
    assert "Quota exceeded for instances" in cluster.faults.values()
    assert list(engine.fakes.glob(f"{cluster.uuid}.json"))
    with pytest.raises(WorkflowFailureError):
        await engine.run(spec).result()
    await engine.delete(cluster)
    await engine.gone(spec)


async def test_failure_is_rolled_back_when_asked(engine: Engine) -> None:
    """With rollback a failed create removes what it built, and says so."""
    spec = await engine.create(rollback=True, labels={"fake_fail": "create"})
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_FAILED
    assert "rolled back" in str(cluster.status_reason)
    assert not list(engine.fakes.glob(f"{cluster.uuid}*"))


async def test_backend_that_does_not_answer(engine: Engine) -> None:
    """A create outwaits a backend that does not answer, and says meanwhile what it waits for."""
    spec = await engine.create(labels={"fake_unavailable_calls": "2"})
    assert (await engine.settled(spec)).status is Status.CREATE_COMPLETE
    operation_id = (await engine.cluster(spec)).operation_id
    notes = await engine.store.operations.notes(str(operation_id))
    assert any("does not answer" in note.message and note.attempt == 2 for note in notes)


async def test_backend_that_breaks_off(engine: Engine) -> None:
    """A backend that was restarted is asked again, and the create ends well with one object."""
    spec = await engine.create(labels={"fake_interruptions": "2"})
    assert (await engine.settled(spec)).status is Status.CREATE_COMPLETE
    assert len(list(engine.fakes.glob(f"{spec.cluster.uuid}.json"))) == 1


async def test_hooks_run_before_and_after(engine: Engine) -> None:
    """Installed hooks run as steps of their own, before and after."""
    spec = await engine.create()
    await engine.settled(spec)
    mine = [entry[1:] for entry in Journal.entries if entry[0] == spec.cluster.uuid]
    assert mine == [("create", "before"), ("create", "after")]


async def test_hook_vetoes(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that refuses fails the operation before the backend is touched."""
    monkeypatch.setattr(Journal, "veto", "Change freeze until Monday.")
    spec = await engine.create()
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_FAILED
    assert cluster.status_reason == "Change freeze until Monday."
    assert not list(engine.fakes.glob(f"{cluster.uuid}*"))


async def test_hook_that_only_warns(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook whose failures only warn leaves the operation alone, and the record shows it."""
    monkeypatch.setattr(Journal, "veto", "The chat is down.")
    monkeypatch.setattr(Journal, "on_failure", FailurePolicy.WARN)
    spec = await engine.create()
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_COMPLETE
    operation = await engine.store.operations.get(str(cluster.operation_id))
    warned = [step for step in operation.steps if step.state is StepState.WARNED]
    assert [step.error for step in warned] == ["The chat is down."] * 2


async def test_cancelled_from_the_temporal_ui(engine: Engine) -> None:
    """A cancelled run ends with a record, and the cluster can be deleted."""
    spec = await engine.create(labels={"fake_create_seconds": "60"})
    await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    await engine.run(spec).cancel()
    cluster = await engine.settled(spec)
    assert (cluster.status, cluster.status_reason) == (
        Status.CREATE_FAILED,
        "Cancelled in Temporal by an operator. It was rolled back: what had been built is removed.",
    )
    await engine.delete(cluster)
    await engine.gone(spec)


async def test_terminated_run_is_repaired(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reconciler gives up the row of a run that was terminated from outside."""
    monkeypatch.setattr(reconcile, "GRACE", timedelta(0))
    spec = await engine.create(labels={"fake_create_seconds": "60"})
    await engine.until(spec, lambda cluster: cluster.stack_id is not None)
    await engine.run(spec).terminate("a test")
    await reconcile_now(engine)
    cluster = await engine.settled(spec)
    assert cluster.status is Status.CREATE_FAILED
    assert "terminated" in str(cluster.status_reason)
    await engine.delete(cluster)
    await engine.gone(spec)


async def test_pending_row_is_started(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """An API that died between the row and the start loses nothing: the reconciler starts it."""
    monkeypatch.setattr(reconcile, "GRACE", timedelta(0))
    spec, operation = engine.new()
    await engine.accept(spec, operation)
    await reconcile_now(engine)
    assert (await engine.settled(spec)).status is Status.CREATE_COMPLETE


async def test_pending_row_outlives_its_cluster(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was never started when its cluster was deleted is ended by the reconciler."""
    monkeypatch.setattr(reconcile, "GRACE", timedelta(0))
    spec, operation = engine.new()
    await engine.accept(spec, operation)
    await engine.delete(spec.cluster)
    await engine.gone(spec)
    await reconcile_now(engine)
    ended = await engine.store.operations.get(operation.uuid)
    assert ended.state is OperationState.REJECTED
    assert ended.reason == "The cluster was deleted before the operation began."


async def reconcile_now(engine: Engine) -> None:
    handle = await engine.client.start_workflow(
        RECONCILE_WORKFLOW,
        id=f"reconcile-{engine.settings.task_queue}",
        task_queue=engine.settings.task_queue,
    )
    await handle.result()
    assert (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED


async def test_deadline(temporal_client: Client, tmp_path: Path) -> None:
    """A create that outlasts ``create_timeout`` fails with the time it had."""
    async with running_engine(temporal_client, tmp_path) as engine:
        spec = await engine.create(create_timeout=1, labels={"fake_create_seconds": "600"})
        cluster = await engine.settled(spec, seconds=90)
        assert cluster.status is Status.CREATE_FAILED
        assert "had 1 minutes in all" in str(cluster.status_reason)
        await engine.delete(cluster)
        await engine.gone(spec)
