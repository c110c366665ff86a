"""The long step of operations: wait until the backend has finished."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.admission import Admission, Admitted
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.poll_hub import Answer, PollHub
from jeroboam.drivers.base import Phase, Progress, Watch
from jeroboam.errors import (
    BackendFailedError,
    JeroboamError,
    WorkerStoppingError,
)
from jeroboam.models import BackendCall, OperationKind, StepNote, utc_now
from jeroboam.models.wire import StepInput, StepResult

FORCED_SILENCE = timedelta(minutes=1)
"""How long a removal by force waits for a backend that does not answer."""


@dataclass
class _Wait:
    """One wait: what for, and what was last said about it."""

    step: StepInput
    call: BackendCall
    admitted: Admitted
    watch: Watch
    unanswered_since: datetime | None = None
    note: str = ""
    beaten_at: float = field(default_factory=time.monotonic)

    def beat(self) -> None:
        """Say that the wait is alive, when that was not said lately."""
        if time.monotonic() - self.beaten_at >= threads.HEARTBEAT_SECONDS:
            self.beaten_at = time.monotonic()
            activity.heartbeat()


class WaitActivities:
    """The activity on the poll queue; it holds a slot for as long as the backend works."""

    def __init__(self, dependencies: Dependencies, admission: Admission, hub: PollHub) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._admission = admission
        self._hub = hub

    @activity.defn
    async def wait_for_backend(self, step: StepInput) -> StepResult:
        """Wait until the backend has done what was submitted, or has broken it off.

        It never submits anything itself: a wait that was cancelled learns of it only at its next
        heartbeat, and must not ask for what is no longer wanted until then.

        Raises:
            BackendFailedError: The backend gave up; the message is its root cause.
            WorkerStoppingError: This worker shuts down; another one goes on.
        """
        admitted, call = await self._admission.admit(step), step.required_call
        wait = _Wait(step, call, admitted, watch_of(admitted, call))
        cloud = self._dependencies.cloud(admitted.spec.cluster.cloud)
        async with self._hub.watching(cloud, admitted.driver.poller(), wait.watch) as answers:
            while True:
                result = await self._result(wait, await self._next(wait, answers))
                if result:
                    return result

    async def _next(self, wait: _Wait, answers: "asyncio.Queue[Answer]") -> Answer:
        while True:
            if activity.is_worker_shutdown():
                raise WorkerStoppingError("This worker is stopping; another one goes on.")
            wait.beat()
            try:
                return await asyncio.wait_for(answers.get(), threads.HEARTBEAT_SECONDS)
            except TimeoutError:
                continue

    async def _result(self, wait: _Wait, answer: Answer) -> StepResult | None:
        """Return how the wait ends; nothing while it goes on."""
        if isinstance(answer, JeroboamError):
            await self._note_silence(wait, answer)
            return None
        wait.unanswered_since = None
        if answer.phase is Phase.RUNNING:
            await self._note(wait, answer.message)
            return None
        return await self._verdict(wait, answer)

    async def _verdict(self, wait: _Wait, progress: Progress) -> StepResult:
        removing = wait.call.method.removes
        if progress.phase is Phase.GONE and not removing:
            raise BackendFailedError(f"What was being worked on has vanished: {progress.message}")
        again = progress.phase is Phase.INTERRUPTED or (removing and progress.phase is Phase.FAILED)
        if again and wait.step.resubmissions:
            await self._note(wait, f"{progress.message} Asking for it again.")
            return StepResult(again=True)
        if progress.phase in {Phase.FAILED, Phase.INTERRUPTED}:
            raise await self._failure(wait, progress)
        return StepResult()

    async def _failure(self, wait: _Wait, progress: Progress) -> BackendFailedError:
        admitted = wait.admitted
        try:
            explained = await threads.call(
                admitted.driver.explain_failure,
                admitted.context,
                admitted.spec_of(wait.call),
                wait.watch,
                progress,
            )
        except JeroboamError as error:
            # The verdict stands, whether or not its details can be read.
            return BackendFailedError(f"{progress.message} (No details: {error.message})")
        return BackendFailedError(explained.message, faults=explained.faults)

    async def _note_silence(self, wait: _Wait, error: JeroboamError) -> None:
        """Tell of it; a removal by force does not outwait it.

        Raises:
            BackendFailedError: The backend is silent for too long.
        """
        if wait.unanswered_since is None:
            wait.unanswered_since = utc_now()
        since = f"{wait.unanswered_since:%H:%M:%S} UTC"
        forced = wait.step.kind is OperationKind.FORCE_DELETE
        if forced and utc_now() - wait.unanswered_since >= FORCED_SILENCE:
            raise BackendFailedError(f"No answer since {since}: {error.message}")
        await self._note(wait, f"Waiting since {since} for an answer: {error.message}")

    async def _note(self, wait: _Wait, message: str) -> None:
        if message == wait.note:
            return
        wait.note = message
        await self._store.operations.note(
            StepNote(
                operation_id=wait.step.operation_id,
                step=wait.step.step,
                attempt=activity.info().attempt,
                message=message,
            )
        )


def watch_of(admitted: Admitted, call: BackendCall) -> Watch:
    """Return what is to be watched for a call."""
    cluster = admitted.spec.cluster
    backend_id = cluster.stack_id
    if call.node_group:
        backend_id = admitted.spec_of(call).group(call.node_group).stack_id
    return Watch(
        cluster_id=cluster.uuid,
        project_id=cluster.project_id,
        # Of a rotation that is the new one: the recorded one may be of no use any more.
        trust_id=admitted.spec_of(call).cluster.trust_id,
        backend_id=backend_id,
        method=call.method,
        key=admitted.context.idempotency_key,
        node_group=call.node_group,
        nodes=admitted.spec.nodes(call.nodes),
    )
