"""The reconciler's second look: what happened since it read its list."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from temporalio.testing import ActivityEnvironment

from jeroboam.activities import reconcile
from jeroboam.activities.reconcile import ReconcileActivities, Runs
from jeroboam.models import Operation, OperationState, Status
from jeroboam.store import Store
from tests.integration.store.builders import a_transition, stored


class ClosedRuns(Runs):
    """A Temporal in which every run is closed; something happens before it says so."""

    def __init__(self, meanwhile: Callable[[Operation], Awaitable[object]]) -> None:
        self._meanwhile = meanwhile

    async def start(self, operation: Operation) -> None:
        raise AssertionError("nothing is pending")

    async def is_running(self, operation: Operation) -> bool:
        await self._meanwhile(operation)
        return False


@pytest.fixture
async def running(store: Store, monkeypatch: pytest.MonkeyPatch) -> Operation:
    """An operation at work, which the reconciler is not too polite to look at."""
    monkeypatch.setattr(reconcile, "GRACE", timedelta(0))
    _, operation = await stored(store)
    transition = a_transition(operation, 1, cluster_status=Status.CREATE_IN_PROGRESS)
    await store.operations.apply(transition.model_copy(update={"run_id": "first"}))
    return operation


async def look(store: Store, meanwhile: Callable[[Operation], Awaitable[object]]) -> int:
    activities = ReconcileActivities(store, ClosedRuns(meanwhile))
    found: int = await ActivityEnvironment().run(activities.reconcile)
    return found


async def test_what_nobody_works_on_is_given_up(store: Store, running: Operation) -> None:
    """An operation whose run is closed, and which nothing else has ended, has failed."""

    async def nothing(_: Operation) -> None:
        return

    assert await look(store, nothing) == 1
    assert (await store.operations.get(running.uuid)).state is OperationState.FAILED


async def test_what_was_taken_up_again_is_left_alone(store: Store, running: Operation) -> None:
    """An operation that failed and was retried since the list was read is not given up."""

    async def fail_and_retry(operation: Operation) -> None:
        failed = {"state": OperationState.FAILED, "cluster_status": Status.CREATE_FAILED}
        await store.operations.apply(a_transition(operation, 2, **failed, run_id="first"))
        await store.operations.reopen(operation.uuid)

    assert await look(store, fail_and_retry) == 0
    assert (await store.operations.get(running.uuid)).state is OperationState.PENDING
