"""The runs of clusters in Temporal: one at a time for each cluster, under the cluster's own id."""

from dataclasses import dataclass
from datetime import timedelta

from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
    WorkflowUpdateStage,
)
from temporalio.common import WorkflowIDConflictPolicy
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from jeroboam import temporal
from jeroboam.errors import CloudUnavailableError, ConflictError
from jeroboam.models import Cluster, Model, Operation
from jeroboam.models.start import OPERATION_ID_MEMO, run_start
from jeroboam.models.wire import ALREADY_DELETING, SUPERSEDE_UPDATE, workflow_id
from jeroboam.workflows.attributes import typed

SUPERSEDE_TIMEOUT = timedelta(seconds=5)
"""How long a request waits for a running operation to give way. Past it the row waits."""


@dataclass(frozen=True)
class Run:
    """The latest run of a cluster.

    Args:
        operation_id: The operation with which it was started.
    """

    run_id: str
    is_open: bool
    operation_id: str | None

    def serves(self, operation: Operation) -> bool:
        """Return whether it was started for an operation as it is now.

        The run of an operation that was taken up again since then does not.
        """
        return self.operation_id == operation.uuid and self.run_id != operation.run_id


class Runs:
    """Starts, finds and tells the runs of clusters.

    Args:
        client: A client of the product's namespace.
        task_queue: Where the workers take their work from.
    """

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def start(self, cluster: Cluster, operation: Operation, *, replace: bool = False) -> bool:
        """Start a run; return whether that was possible, for another one may be open.

        Args:
            replace: Whether to terminate the other one.
        """
        policy, start = WorkflowIDConflictPolicy, run_start(cluster, operation)
        try:
            await self._client.start_workflow(
                start.workflow,
                start.request,
                id=start.id,
                id_conflict_policy=policy.TERMINATE_EXISTING if replace else policy.FAIL,
                task_queue=self._task_queue,
                memo=start.memo,
                search_attributes=typed(start.attributes),
                static_summary=start.summary,
                rpc_timeout=temporal.RPC_TIMEOUT,
            )
        except WorkflowAlreadyStartedError:
            return False
        return True

    async def latest(self, cluster_id: str) -> Run | None:
        """Return the latest run of a cluster, open or closed.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        handle = self._client.get_workflow_handle(workflow_id(cluster_id))
        try:
            found = await handle.describe(rpc_timeout=temporal.RPC_TIMEOUT)
        except RPCError as error:
            if error.status is RPCStatusCode.NOT_FOUND:
                return None
            raise CloudUnavailableError(f"Temporal does not answer: {error.message}") from error
        return Run(
            run_id=str(found.run_id),
            is_open=found.status is WorkflowExecutionStatus.RUNNING,
            operation_id=str(await found.memo_value(OPERATION_ID_MEMO, default="")) or None,
        )

    async def open(self, cluster_id: str) -> Run | None:
        """Return the run of a cluster that is open.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        run = await self.latest(cluster_id)
        return run if run and run.is_open else None

    async def supersede(self, cluster: Cluster, operation: Operation) -> bool:
        """Let the open run go on with a delete; return whether it will.

        It will not if it serves a delete already.

        Raises:
            RPCError: There is no open run, or Temporal does not answer.
            WorkflowUpdateRPCTimeoutOrCancelledError: The run does not answer.
        """
        handle = self._client.get_workflow_handle(workflow_id(cluster.uuid))
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
            return False
        return True

    async def tell(self, cluster_id: str, update: str, argument: Model) -> object:
        """Send an update to the open run; return its answer.

        Raises:
            ConflictError: There is no open run, or it refuses; the message says why.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        if await self.open(cluster_id) is None:
            raise ConflictError("The operation has no run at the moment. Try again in a minute.")
        handle = self._client.get_workflow_handle(workflow_id(cluster_id))
        try:
            return await handle.execute_update(update, argument, rpc_timeout=temporal.RPC_TIMEOUT)
        except WorkflowUpdateFailedError as error:
            cause = error.cause
            if isinstance(cause, ApplicationError):
                raise ConflictError(cause.message) from error
            raise
        except (WorkflowUpdateRPCTimeoutOrCancelledError, RPCError) as error:
            raise CloudUnavailableError(
                "The operation's run does not answer. Is a worker running? Try again."
            ) from error
