"""Starts operations: the one way from a request to a run."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from temporalio.client import (
    Client,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
    WorkflowUpdateStage,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from jeroboam import temporal
from jeroboam.errors import CloudUnavailableError, ConflictError, OperationInProgressError
from jeroboam.models import Cluster, Model, Operation, OperationKind
from jeroboam.models.start import OPERATION_ID_MEMO, run_start
from jeroboam.models.wire import (
    ALREADY_DELETING,
    ANSWER_HOOK_UPDATE,
    CANCEL_UPDATE,
    SUPERSEDE_UPDATE,
    CancelRequest,
    HookAnswer,
    workflow_id,
)
from jeroboam.settings import Settings
from jeroboam.store import Store
from jeroboam.workflows.attributes import typed

SUPERSEDE_TIMEOUT = timedelta(seconds=5)
"""How long a request waits for a running operation to give way. Past it the row waits."""

_CLOSING_PAUSES = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Seconds to wait for a run that has written its end and has not closed yet."""

log = structlog.get_logger(__name__)


class OperationClient:
    """Starts the runs of accepted operations.

    An operation's row is written first and is the promise: when Temporal does not answer, or this
    process dies before it has asked, the reconciler starts the run later.
    """

    def __init__(self, temporal_client: Client, store: Store, settings: Settings) -> None:
        self._temporal = temporal_client
        self._store = store
        self._settings = settings

    async def start(self, operation: Operation) -> None:
        """Start the run of an operation that was accepted.

        Starting the same operation twice is success.

        Raises:
            OperationInProgressError: Another operation holds the cluster; the row is rejected.
        """
        cluster = (await self._store.clusters.spec(operation.cluster_id)).cluster
        with _tolerating(operation):
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
        with _tolerating(operation):
            await self._supersede_or_start(cluster, operation)

    async def cancel(self, operation: Operation, reason: str) -> str:
        """Cancel a running operation in the way of its kind; return what happens now, in words.

        Args:
            reason: For the record: who asked, and why.

        Raises:
            ConflictError: It has ended, is ending, or cannot be cancelled.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        if not operation.state.active:
            raise ConflictError(f"The operation has ended already ({operation.state}).")
        request = CancelRequest(operation_id=operation.uuid, reason=reason)
        return str(await self._update(operation, CANCEL_UPDATE, request))

    async def answer_hook(self, operation: Operation, answer: HookAnswer) -> None:
        """Hand a late answer of a hook to the operation that waits for it.

        Raises:
            ConflictError: Nobody waits for it.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        meant = answer.model_copy(update={"operation_id": operation.uuid})
        await self._update(operation, ANSWER_HOOK_UPDATE, meant)

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
        run = await self._open_run(operation.cluster_id)
        return run is not None and (
            run.run_id == operation.run_id or await _operation_of(run) == operation.uuid
        )

    async def is_current(self, cluster_id: str, run_id: str) -> bool:
        """Return whether a run is the one that is open for its cluster."""
        run = await self._open_run(cluster_id)
        return run is not None and run.run_id == run_id

    async def _update(self, operation: Operation, name: str, argument: Model) -> object:
        handle = self._temporal.get_workflow_handle(workflow_id(operation.cluster_id))
        if await self._open_run(operation.cluster_id) is None:
            raise ConflictError("The operation has no run at the moment. Try again in a minute.")
        try:
            return await handle.execute_update(name, argument, rpc_timeout=temporal.RPC_TIMEOUT)
        except WorkflowUpdateFailedError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError):
                raise ConflictError(cause.message) from error
            raise
        except (WorkflowUpdateRPCTimeoutOrCancelledError, RPCError) as error:
            raise CloudUnavailableError(
                "The operation's run does not answer. Is a worker running? Try again."
            ) from error

    async def _start_only(self, cluster: Cluster, operation: Operation) -> None:
        """Start the run; one that is closing at this moment is waited for.

        Raises:
            OperationInProgressError: Another operation's run is at work.
        """
        for pause in _CLOSING_PAUSES:
            try:
                await self._start_run(cluster, operation)
            except WorkflowAlreadyStartedError:
                description = await self._describe(cluster.uuid)
                running = await _operation_of(description) if description else None
                if running == operation.uuid and not _is_old(description, operation):
                    return
                if await self._is_at_work(running, operation):
                    raise await self._rejected(operation, running) from None
                await asyncio.sleep(pause)
            else:
                return
        log.warning("run_still_closing", operation_id=operation.uuid)

    async def _is_at_work(self, running: str | None, operation: Operation) -> bool:
        """Return whether the operation of a run still works, and the run is not merely closing."""
        if running is None or running == operation.uuid:
            return running is None
        active = await self._store.operations.active(operation.cluster_id)
        return any(other.uuid != operation.uuid for other in active)

    async def _supersede_or_start(self, cluster: Cluster, operation: Operation) -> None:
        try:
            await self._start_run(cluster, operation)
        except WorkflowAlreadyStartedError:
            description = await self._describe(cluster.uuid)
            running = await _operation_of(description) if description else None
            if running != operation.uuid or _is_old(description, operation):
                await self._supersede(cluster, operation)

    async def _supersede(self, cluster: Cluster, operation: Operation) -> None:
        handle = self._temporal.get_workflow_handle(workflow_id(cluster.uuid))
        try:
            update = await handle.start_update(
                SUPERSEDE_UPDATE,
                run_start(cluster, operation).request,
                wait_for_stage=WorkflowUpdateStage.ACCEPTED,
                id=operation.uuid,
                rpc_timeout=SUPERSEDE_TIMEOUT,
            )
            await update.result(rpc_timeout=SUPERSEDE_TIMEOUT)
        except WorkflowUpdateFailedError as error:
            cause = error.cause
            if not isinstance(cause, ApplicationError) or cause.type != ALREADY_DELETING:
                raise
            if operation.kind is OperationKind.FORCE_DELETE:
                await self._replace(cluster, operation)
            else:
                await self._store.operations.reject(operation.uuid, "The cluster is being deleted.")
        except WorkflowUpdateRPCTimeoutOrCancelledError:
            if operation.kind is not OperationKind.FORCE_DELETE:
                raise
            await self._replace(cluster, operation)
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            # The run ended between our two calls, so the id is free.
            await self._start_run(cluster, operation)

    async def _replace(self, cluster: Cluster, operation: Operation) -> None:
        """End whatever runs and start a delete by force in its place."""
        await self._start_run(cluster, operation, replace=True)
        for other in await self._store.operations.active(cluster.uuid):
            if other.uuid != operation.uuid:
                reason = f"Ended by the forced delete {operation.uuid}."
                await self._store.operations.abandon(other.uuid, reason)

    async def _start_run(
        self, cluster: Cluster, operation: Operation, *, replace: bool = False
    ) -> None:
        policy, start = WorkflowIDConflictPolicy, run_start(cluster, operation)
        await self._temporal.start_workflow(
            start.workflow,
            start.request,
            id=start.id,
            id_conflict_policy=policy.TERMINATE_EXISTING if replace else policy.FAIL,
            task_queue=self._settings.task_queue,
            memo=start.memo,
            search_attributes=typed(start.attributes),
            static_summary=start.summary,
            rpc_timeout=temporal.RPC_TIMEOUT,
        )

    async def _open_run(self, cluster_id: str) -> WorkflowExecutionDescription | None:
        description = await self._describe(cluster_id)
        if description and description.status is WorkflowExecutionStatus.RUNNING:
            return description
        return None

    async def _describe(self, cluster_id: str) -> WorkflowExecutionDescription | None:
        handle = self._temporal.get_workflow_handle(workflow_id(cluster_id))
        try:
            return await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise CloudUnavailableError(f"Temporal does not answer: {error.message}") from error

    async def _rejected(
        self, operation: Operation, running: str | None
    ) -> OperationInProgressError:
        others = [
            other
            for other in await self._store.operations.active(operation.cluster_id)
            if other.uuid != operation.uuid
        ]
        holder = next((other for other in others if other.uuid == running), None) or next(
            iter(others), None
        )
        error = OperationInProgressError(
            holder.uuid if holder else str(running),
            holder.kind if holder else "unknown",
            holder.current_step if holder else None,
        )
        await self._store.operations.reject(operation.uuid, error.message)
        return error


@contextmanager
def _tolerating(operation: Operation) -> Iterator[None]:
    """Leave the row to the reconciler when Temporal does not answer, or is not ready for it yet."""
    try:
        yield
    except WorkflowUpdateRPCTimeoutOrCancelledError:
        log.warning("supersede_not_answered", operation_id=operation.uuid)
    except RPCError as error:
        log.warning("start_not_answered", operation_id=operation.uuid, status=error.status.name)
    except RuntimeError as error:
        # What a client raises that has never been connected yet.
        log.warning("temporal_not_connected", operation_id=operation.uuid, reason=str(error))


async def _operation_of(description: WorkflowExecutionDescription) -> str | None:
    """Return the operation with which a run was started."""
    return str(await description.memo_value(OPERATION_ID_MEMO, default="")) or None


def _is_old(description: WorkflowExecutionDescription | None, operation: Operation) -> bool:
    """Return whether a run is the earlier one of an operation that was taken up again."""
    return description is not None and description.run_id == operation.run_id
