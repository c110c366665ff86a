"""Starts operations: the one way from a request to a run."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
    WorkflowUpdateStage,
)
from temporalio.common import SearchAttributePair, TypedSearchAttributes
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from jeroboam import temporal
from jeroboam.errors import CloudUnavailableError, OperationInProgressError
from jeroboam.models import Cluster, Operation, OperationKind
from jeroboam.models.wire import (
    ALREADY_DELETING,
    SUPERSEDE_UPDATE,
    WORKFLOW_OF_KIND,
    OperationRequest,
    workflow_id,
)
from jeroboam.settings import Settings
from jeroboam.store import Store

SUPERSEDE_TIMEOUT = timedelta(seconds=5)
"""How long a request waits for a running operation to give way. Past it the row waits."""

OPERATION_ID_MEMO = "operation_id"

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
        """Start the run of an operation whose row exists.

        Starting the same operation twice is success.

        Raises:
            OperationInProgressError: Another operation holds the cluster; the row is rejected.
        """
        cluster = (await self._store.clusters.spec(operation.cluster_id)).cluster
        with _tolerating(operation):
            await self._start_only(cluster, operation)

    async def delete(self, cluster: Cluster, operation: Operation) -> None:
        """Add the row of a delete and start it, over whatever runs on the cluster.

        A cluster that is being deleted already stays so; the new row is rejected.
        """
        await self._store.operations.add(operation)
        with _tolerating(operation):
            await self._supersede_or_start(cluster, operation)

    async def begin(self, operation: Operation) -> None:
        """Start a pending operation, as the reconciler does.

        Raises:
            OperationInProgressError: See ``start``.
        """
        cluster = (await self._store.clusters.spec(operation.cluster_id)).cluster
        with _tolerating(operation):
            if operation.kind is OperationKind.DELETE:
                await self._supersede_or_start(cluster, operation)
            else:
                await self._start_only(cluster, operation)

    async def is_running(self, operation: Operation) -> bool:
        """Return whether the run that works on an operation is still open."""
        handle = self._temporal.get_workflow_handle(
            workflow_id(operation.cluster_id), run_id=operation.run_id
        )
        try:
            description = await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return False
            raise CloudUnavailableError(f"Temporal does not answer: {error.message}") from error
        return description.status is WorkflowExecutionStatus.RUNNING

    async def _start_only(self, cluster: Cluster, operation: Operation) -> None:
        try:
            await self._start_run(cluster, operation)
        except WorkflowAlreadyStartedError:
            running = await self._running(cluster.uuid)
            if running != operation.uuid:
                raise await self._rejected(operation, running) from None

    async def _supersede_or_start(self, cluster: Cluster, operation: Operation) -> None:
        try:
            await self._start_run(cluster, operation)
        except WorkflowAlreadyStartedError:
            if await self._running(cluster.uuid) == operation.uuid:
                return
            await self._supersede(cluster, operation)

    async def _supersede(self, cluster: Cluster, operation: Operation) -> None:
        handle = self._temporal.get_workflow_handle(workflow_id(cluster.uuid))
        try:
            update = await handle.start_update(
                SUPERSEDE_UPDATE,
                _request(operation),
                wait_for_stage=WorkflowUpdateStage.ACCEPTED,
                id=operation.uuid,
                rpc_timeout=SUPERSEDE_TIMEOUT,
            )
            await update.result(rpc_timeout=SUPERSEDE_TIMEOUT)
        except WorkflowUpdateFailedError as error:
            cause = error.cause
            if not isinstance(cause, ApplicationError) or cause.type != ALREADY_DELETING:
                raise
            await self._store.operations.reject(operation.uuid, "The cluster is being deleted.")
        except RPCError as error:
            if error.status is not RPCStatusCode.NOT_FOUND:
                raise
            # The run ended between our two calls, so the id is free.
            await self._start_run(cluster, operation)

    async def _start_run(self, cluster: Cluster, operation: Operation) -> None:
        await self._temporal.start_workflow(
            WORKFLOW_OF_KIND[operation.kind],
            _request(operation),
            id=workflow_id(cluster.uuid),
            task_queue=self._settings.task_queue,
            memo={OPERATION_ID_MEMO: operation.uuid},
            search_attributes=_search_attributes(cluster, operation),
            static_summary=f"{operation.kind} {cluster.name} ({cluster.driver})",
            rpc_timeout=temporal.RPC_TIMEOUT,
        )

    async def _running(self, cluster_id: str) -> str | None:
        """Return the operation with which the run at work was started."""
        handle = self._temporal.get_workflow_handle(workflow_id(cluster_id))
        description = await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)
        return str(await description.memo_value(OPERATION_ID_MEMO, default="")) or None

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


def _request(operation: Operation) -> OperationRequest:
    return OperationRequest(
        operation_id=operation.uuid,
        cluster_id=operation.cluster_id,
        kind=operation.kind,
        request_id=operation.request_id,
        rollback=operation.rollback,
    )


def _search_attributes(cluster: Cluster, operation: Operation) -> TypedSearchAttributes:
    return TypedSearchAttributes(
        [
            SearchAttributePair(temporal.CLUSTER_ID, cluster.uuid),
            SearchAttributePair(temporal.CLUSTER_NAME, cluster.name),
            SearchAttributePair(temporal.PROJECT_ID, cluster.project_id),
            SearchAttributePair(temporal.OPERATION, operation.kind),
            SearchAttributePair(temporal.DRIVER, cluster.driver),
            SearchAttributePair(temporal.CLOUD, cluster.cloud),
        ]
    )
