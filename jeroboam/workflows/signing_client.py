"""Asks a worker for a signature of a cluster's authority."""

import asyncio

import structlog
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from jeroboam import errors, temporal
from jeroboam.models import new_uuid
from jeroboam.models.signing_wire import SIGN_CERTIFICATE_WORKFLOW, SigningAnswer, SigningRequest
from jeroboam.workflows import limits
from jeroboam.workflows.raised import raised_by

_NO_WORKER = "No worker of Jeroboam answers. Try again; if it stays so, tell your operator."

log = structlog.get_logger(__name__)


class SigningClient:
    """Has certificates signed.

    Args:
        client: A client of the product's namespace.
        task_queue: Where the workers take their work from.
    """

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def sign(self, request: SigningRequest) -> str:
        """Return the certificate, PEM-encoded.

        Raises:
            InvalidRequestError: The request may not be signed.
            CloudUnavailableError: Temporal, or the worker, does not answer.
        """
        try:
            async with asyncio.timeout(limits.COE_PATIENCE.total_seconds()):
                handle = await self._client.start_workflow(
                    SIGN_CERTIFICATE_WORKFLOW,
                    request,
                    id=f"certificate/{request.cluster_id}/{new_uuid()}",
                    task_queue=self._task_queue,
                    execution_timeout=limits.COE_TOTAL,
                    result_type=SigningAnswer,
                    rpc_timeout=temporal.RPC_TIMEOUT,
                )
                answer: SigningAnswer = await handle.result()
        except WorkflowFailureError as error:
            raise raised_by(error) or errors.CloudUnavailableError(_NO_WORKER) from None
        except (RPCError, TimeoutError, RuntimeError) as error:
            # A client that has never been connected raises a RuntimeError.
            log.warning("signing_failed", reason=str(error) or type(error).__name__)
            raise errors.CloudUnavailableError(_NO_WORKER) from error
        return answer.pem
