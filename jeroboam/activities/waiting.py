"""The long step of operations: wait until the backend has finished."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.dependencies import Dependencies, driver_context
from jeroboam.activities.poll_hub import Answer, PollHub
from jeroboam.drivers.base import ClusterDriver, Phase, Progress, Watch
from jeroboam.errors import BackendFailedError, ConflictError, JeroboamError, WorkerStoppingError
from jeroboam.models import ClusterSpec, OperationKind, StepNote, utc_now
from jeroboam.models.wire import StepInput, StepResult


@dataclass
class _Wait:
    """One wait: what for, and what was last said about it."""

    step: StepInput
    spec: ClusterSpec
    driver: ClusterDriver
    resubmissions: int = 0
    unanswered_since: str | None = None
    note: str = ""
    beaten_at: float = field(default_factory=time.monotonic)

    def beat(self) -> None:
        """Say that the wait is alive, when that was not said lately."""
        if time.monotonic() - self.beaten_at >= threads.HEARTBEAT_SECONDS:
            self.beaten_at = time.monotonic()
            activity.heartbeat(self.resubmissions)


class WaitActivities:
    """The activity on the poll queue; it holds a slot for as long as the backend works."""

    def __init__(self, dependencies: Dependencies, hub: PollHub) -> None:
        self._dependencies = dependencies
        self._store = dependencies.store
        self._hub = hub

    @activity.defn
    async def wait_for_backend(self, step: StepInput) -> StepResult:
        """Wait until the backend has done what was submitted.

        Raises:
            BackendFailedError: The backend gave up; the message is its root cause.
            WorkerStoppingError: This worker shuts down; another one goes on.
        """
        spec = await self._store.clusters.spec(step.cluster_id)
        driver = self._dependencies.drivers.installed(spec.cluster.driver)
        earlier = activity.info().heartbeat_details
        wait = _Wait(step, spec, driver, resubmissions=int(earlier[0]) if earlier else 0)
        watch = Watch(
            cluster_id=step.cluster_id,
            project_id=spec.cluster.project_id,
            trust_id=spec.cluster.trust_id,
            backend_id=spec.cluster.stack_id,
            operation=step.intent,
        )
        cloud = self._dependencies.cloud(spec.cluster.cloud)
        async with self._hub.watching(cloud, driver.poller(), watch) as answers:
            while not await self._settled(wait, await self._next(wait, answers)):
                pass
        return StepResult()

    async def _next(self, wait: _Wait, answers: "asyncio.Queue[Answer]") -> Answer:
        while True:
            if activity.is_worker_shutdown():
                raise WorkerStoppingError("This worker is stopping; another one goes on.")
            wait.beat()
            try:
                return await asyncio.wait_for(answers.get(), threads.HEARTBEAT_SECONDS)
            except TimeoutError:
                continue

    async def _settled(self, wait: _Wait, answer: Answer) -> bool:
        if isinstance(answer, JeroboamError):
            await self._note_silence(wait, answer)
            return False
        wait.unanswered_since = None
        if answer.phase is Phase.RUNNING:
            await self._note(wait, answer.message)
            return False
        return await self._conclude(wait, answer)

    async def _conclude(self, wait: _Wait, progress: Progress) -> bool:
        deleting = wait.step.intent is OperationKind.DELETE
        if progress.phase is Phase.GONE and not deleting:
            raise BackendFailedError(f"What was being built has vanished: {progress.message}")
        again = progress.phase is Phase.INTERRUPTED or (deleting and progress.phase is Phase.FAILED)
        if again and wait.resubmissions < wait.step.resubmissions:
            await self._resubmit(wait, progress)
            return False
        if progress.phase in {Phase.FAILED, Phase.INTERRUPTED}:
            raise await self._failure(wait, progress)
        return True

    async def _resubmit(self, wait: _Wait, progress: Progress) -> None:
        operation = await self._store.operations.get(wait.step.operation_id)
        if not operation.state.active:
            # A delete took over, and this wait has not heard of it yet.
            raise ConflictError("The operation has ended; nothing is submitted for it any more.")
        wait.resubmissions += 1
        activity.heartbeat(wait.resubmissions)
        await self._note(wait, f"{progress.message} Asking for it again.")
        context = driver_context(self._dependencies, wait.step, wait.spec)
        minutes = wait.step.minutes_left
        call: Callable[[], object] = (
            (lambda: wait.driver.delete_cluster(context, wait.spec))
            if wait.step.intent is OperationKind.DELETE
            else (lambda: wait.driver.create_cluster(context, wait.spec, minutes))
        )
        await threads.call(call, details=wait.resubmissions)

    async def _failure(self, wait: _Wait, progress: Progress) -> BackendFailedError:
        context = driver_context(self._dependencies, wait.step, wait.spec)
        explain = wait.driver.explain_failure
        try:
            explained = await threads.call(
                explain, context, wait.spec, progress, details=wait.resubmissions
            )
        except JeroboamError as error:
            # The verdict stands, whether or not its details can be read.
            return BackendFailedError(f"{progress.message} (No details: {error.message})")
        return BackendFailedError(explained.message, faults=explained.faults)

    async def _note_silence(self, wait: _Wait, error: JeroboamError) -> None:
        if wait.unanswered_since is None:
            wait.unanswered_since = f"{utc_now():%H:%M:%S} UTC"
        await self._note(
            wait, f"Waiting since {wait.unanswered_since} for an answer: {error.message}"
        )

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
