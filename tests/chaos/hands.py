"""What an operator does to a run in the Temporal UI."""

import asyncio
import random
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from jeroboam.models import Cluster, Operation, new_uuid
from jeroboam.models.start import run_start
from jeroboam.models.wire import workflow_id
from tests.chaos.environment import Environment
from tests.chaos.faults import Hand

RPC_SECONDS = 60.0


@dataclass
class Operator:
    """Somebody with Temporal's UI and no caution."""

    environment: Environment
    chance: random.Random

    async def lay_hand(self, hand: Hand, operation: Operation, cluster: Cluster | None) -> bool:
        """Act on the run of an operation as soon as Temporal answers; return whether there was one.

        Args:
            cluster: ``None`` if it is gone; then no run of it is started again.
        """
        deadline = time.monotonic() + RPC_SECONDS
        while True:
            try:
                return await self._act(await self.environment.client(), hand, operation, cluster)
            except WorkflowAlreadyStartedError:
                return False
            except (RPCError, RuntimeError) as error:
                if isinstance(error, RPCError) and error.status is RPCStatusCode.NOT_FOUND:
                    return False
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.3)

    async def _act(
        self, client: Client, hand: Hand, operation: Operation, cluster: Cluster | None
    ) -> bool:
        handle = client.get_workflow_handle(workflow_id(operation.cluster_id))
        match hand:
            case Hand.TERMINATE:
                await handle.terminate()
            case Hand.CANCEL_RUN:
                await handle.cancel()
            case Hand.RESET:
                return await self._reset(client, handle)
            case Hand.RERUN if cluster:
                await self._rerun(client, operation, cluster)
        return True

    async def _reset(self, client: Client, handle: Any) -> bool:
        """Let a run begin anew at one of the points that it has passed."""
        description = await handle.describe()
        points = [
            event.event_id
            async for event in handle.fetch_history_events()
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
        ]
        if not points:
            return False
        await client.workflow_service.reset_workflow_execution(
            ResetWorkflowExecutionRequest(
                namespace=client.namespace,
                workflow_execution=WorkflowExecution(
                    workflow_id=handle.id, run_id=description.run_id
                ),
                reason="the fault harness",
                workflow_task_finish_event_id=self.chance.choice(points),
                request_id=new_uuid(),
            )
        )
        return True

    async def _rerun(self, client: Client, operation: Operation, cluster: Cluster) -> None:
        """Start the run of an operation that has ended once more, and wait for its end."""
        start = run_start(cluster, operation)
        queue = self.environment.settings.task_queue
        handle = await client.start_workflow(
            start.workflow, start.request, id=start.id, task_queue=queue, memo=start.memo
        )
        with suppress(WorkflowFailureError):
            await handle.result()
