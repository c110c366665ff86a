"""Asks the engines that run in clusters, by way of a worker."""

from temporalio.client import Client

from jeroboam.models.coe_wire import CALL_COE_WORKFLOW, CoeAnswer, CoeRequest
from jeroboam.sealing import Envelope
from jeroboam.workflows.asking import Question, ask


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
        question = Question(
            workflow=CALL_COE_WORKFLOW,
            request=request.model_copy(update={"reply_to": envelope.address}),
            about=f"coe/{request.cluster_id}",
            queue=queue or self._task_queue,
            of_whom="this cluster's driver" if queue else "Jeroboam",
        )
        answer = await ask(self._client, question, CoeAnswer)
        return envelope.open(answer.sealed)
