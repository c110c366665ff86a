"""Starts operations: the one way from a request to a run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from temporalio.client import Client, WorkflowUpdateRPCTimeoutOrCancelledError
from temporalio.service import RPCError, RPCStatusCode

from jeroboam.errors import (
    ConflictError,
    JeroboamError,
    NotFoundError,
    OperationInProgressError,
)
from jeroboam.models import Cluster, Operation, OperationKind
from jeroboam.models.wire import (
    ANSWER_HOOK_UPDATE,
    CANCEL_UPDATE,
    CancelRequest,
    HookAnswer,
)
from jeroboam.settings import Settings
from jeroboam.store import Store
from jeroboam.workflows.runs import Run, Runs

START_SECONDS = 15.0
"""The longest that a request waits for Temporal to take an operation over."""

_CLOSING_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds to wait for a run that has written its end and has not closed yet."""

_OVERTAKEN = "The cluster was deleted before the operation began."

log = structlog.get_logger(__name__)


class OperationClient:
    """Starts the runs of accepted operations.

    An operation's row is written first and is the promise: whatever goes wrong after that, a
    Temporal that does not answer or the death of this process, the reconciler starts the run
    later. So once the row is stored a start fails with a conflict only, which rejects the row.
    """

    def __init__(self, temporal_client: Client, store: Store, settings: Settings) -> None:
        self._store = store
        self._runs = Runs(temporal_client, settings.task_queue)

    async def start(self, operation: Operation) -> None:
        """Start the run of an operation that was accepted, or leave that to the reconciler.

        Starting the same operation twice is success. One whose cluster is gone is rejected: a
        delete has overtaken it.

        Raises:
            OperationInProgressError: Another operation holds the cluster; the row is rejected.
        """
        async with _promised(operation):
            try:
                cluster = (await self._store.clusters.spec(operation.cluster_id)).cluster
            except NotFoundError:
                await self._store.operations.reject(operation.uuid, _OVERTAKEN)
                return
            if operation.kind.deletes:
                await self._supersede_or_start(cluster, operation)
            else:
                await self._start_only(cluster, operation)

    async def delete(self, cluster: Cluster, operation: Operation) -> None:
        """Add the row of a delete and start it, over whatever runs on the cluster.

        A cluster that is being deleted already stays so, and the new row is rejected; unless the
        new one is a delete by force, which ends the other one.
        """
        await self._store.operations.add(operation)
        async with _promised(operation):
            await self._supersede_or_start(cluster, operation)

    async def cancel(self, operation: Operation, reason: str, *, now: bool = False) -> str:
        """Cancel a running operation in the way of its kind; return what happens now, in words.

        Args:
            reason: For the record: who asked, and why.
            now: Whether it does not wait for the nodes at work, also after one that does.

        Raises:
            ConflictError: It has ended, is ending, or cannot be cancelled.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        if not operation.state.active:
            raise ConflictError(f"The operation has ended already ({operation.state}).")
        request = CancelRequest(operation_id=operation.uuid, reason=reason, now=now)
        return str(await self._runs.tell(operation.cluster_id, CANCEL_UPDATE, request))

    async def answer_hook(self, operation: Operation, answer: HookAnswer) -> None:
        """Hand a late answer of a hook to the operation that waits for it.

        Raises:
            ConflictError: Nobody waits for it.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        meant = answer.model_copy(update={"operation_id": operation.uuid})
        await self._runs.tell(operation.cluster_id, ANSWER_HOOK_UPDATE, meant)

    async def retry(self, operation: Operation) -> None:
        """Take up an operation again that failed or was cancelled; what is done stays done.

        Raises:
            ConflictError: It cannot be taken up again; the message says why.
            OperationInProgressError: Another operation holds the cluster.
        """
        reopened = await self._store.operations.reopen(operation.uuid)
        await self.start(reopened)

    async def is_running(self, operation: Operation) -> bool:
        """Return whether a run is open that works on an operation; after a reset it is another."""
        run = await self._runs.open(operation.cluster_id)
        return run is not None and (
            run.run_id == operation.run_id or run.operation_id == operation.uuid
        )

    async def is_current(self, cluster_id: str, run_id: str) -> bool:
        """Return whether a run is the one that is open for its cluster."""
        run = await self._runs.open(cluster_id)
        return run is not None and run.run_id == run_id

    async def _start_only(self, cluster: Cluster, operation: Operation) -> None:
        """Start the run; one that is closing at this moment is waited for.

        Raises:
            OperationInProgressError: Another operation's run is at work.
        """
        for pause in _CLOSING_PAUSES:
            if await self._runs.start(cluster, operation):
                return
            run = await self._runs.latest(cluster.uuid)
            if run and run.serves(operation):
                return
            if run and run.operation_id != operation.uuid:
                await self._require_closing(run, operation)
            await asyncio.sleep(pause)
        log.warning("run_still_closing", operation_id=operation.uuid)

    async def _require_closing(self, run: Run, operation: Operation) -> None:
        """Reject an operation, unless the run in its way has written its end already.

        Raises:
            OperationInProgressError: The run is at work.
        """
        others = await self._others(operation)
        if not others and run.operation_id:
            return
        holders = [one for one in others if one.uuid == run.operation_id] or others
        error = (
            OperationInProgressError(holders[0].uuid, holders[0].kind, holders[0].current_step)
            if holders
            else OperationInProgressError(run.run_id, "unknown", None)
        )
        await self._store.operations.reject(operation.uuid, error.message)
        raise error

    async def _supersede_or_start(self, cluster: Cluster, operation: Operation) -> None:
        """Start a delete, or let the run that is open go on with it."""
        if await self._runs.start(cluster, operation):
            return
        run = await self._runs.latest(cluster.uuid)
        if not (run and run.serves(operation)):
            await self._supersede(cluster, operation)

    async def _supersede(self, cluster: Cluster, operation: Operation) -> None:
        forced = operation.kind is OperationKind.FORCE_DELETE
        try:
            taken_over = await self._runs.supersede(cluster, operation)
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            if not forced:
                raise
            taken_over = False
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            # The run ended between our two calls, so the id is free.
            await self._runs.start(cluster, operation)
            return
        if taken_over:
            return
        if forced:
            await self._replace(cluster, operation)
        else:
            await self._store.operations.reject(operation.uuid, "The cluster is being deleted.")

    async def _replace(self, cluster: Cluster, operation: Operation) -> None:
        """End whatever runs and start a delete by force in its place."""
        await self._runs.start(cluster, operation, replace=True)
        for other in await self._others(operation):
            reason = f"Ended by the forced delete {operation.uuid}."
            await self._store.operations.abandon(other.uuid, reason)

    async def _others(self, operation: Operation) -> list[Operation]:
        """Return the cluster's other operations that have not ended."""
        active = await self._store.operations.active(operation.cluster_id)
        return [one for one in active if one.uuid != operation.uuid]


_SILENCE = (
    RPCError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
    TimeoutError,
    JeroboamError,
    RuntimeError,  # of a client that has never been connected yet
)


@asynccontextmanager
async def _promised(operation: Operation) -> AsyncIterator[None]:
    """Leave what cannot be started now to the reconciler; only a conflict is for the caller."""
    try:
        async with asyncio.timeout(START_SECONDS):
            yield
    except ConflictError:
        raise
    except Exception as error:
        log.warning(
            "operation_not_started",
            operation_id=operation.uuid,
            reason=str(error) or type(error).__name__,
            exc_info=not isinstance(error, _SILENCE),
        )
