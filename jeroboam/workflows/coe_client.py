"""Asks the engines that run in clusters, by way of a worker."""

import asyncio

import structlog
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from jeroboam import errors, temporal
from jeroboam.models import new_uuid
from jeroboam.models.coe_wire import CALL_COE_WORKFLOW, CoeAnswer, CoeRequest
from jeroboam.sealing import Envelope
from jeroboam.workflows import limits
from jeroboam.workflows.raised import raised_by

_NO_WORKER = "No worker of {} answers. Try again; if it stays so, tell your operator."

log = structlog.get_logger(__name__)


class CoeClient:
    """Sends requests to drivers' routes.

    Args:
        client: A client of the product's namespace.
        task_queue: Where the workers take their work from.
    """

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def call(self, request: CoeRequest, queue: str | None = None) -> bytes:
        """Return the answer of a cluster's driver, as JSON.

        Args:
            queue: Of the driver's own workers, if it has any.

        Raises:
            JeroboamError: What the driver raised, of the same class.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        envelope = Envelope()
        silent = _NO_WORKER.format("this cluster's driver" if queue else "Jeroboam")
        try:
            async with asyncio.timeout(limits.COE_PATIENCE.total_seconds()):
                handle = await self._client.start_workflow(
                    CALL_COE_WORKFLOW,
                    request.model_copy(update={"reply_to": envelope.address}),
                    id=f"coe/{request.cluster_id}/{new_uuid()}",
                    task_queue=queue or self._task_queue,
                    execution_timeout=limits.COE_TOTAL,
                    result_type=CoeAnswer,
                    rpc_timeout=temporal.RPC_TIMEOUT,
                )
                answer: CoeAnswer = await handle.result()
        except WorkflowFailureError as error:
            raise raised_by(error) or errors.CloudUnavailableError(silent) from None
        except (RPCError, TimeoutError, RuntimeError) as error:
            # A client that has never been connected raises a RuntimeError.
            log.warning("coe_call_failed", reason=str(error) or type(error).__name__)
            raise errors.CloudUnavailableError(silent) from error
        return envelope.open(answer.sealed)
