"""Asks a worker for a signature of a cluster's authority."""

from temporalio.client import Client

from jeroboam.models.signing_wire import SIGN_CERTIFICATE_WORKFLOW, SigningAnswer, SigningRequest
from jeroboam.workflows.asking import Question, ask


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
        question = Question(
            workflow=SIGN_CERTIFICATE_WORKFLOW,
            request=request,
            about=f"certificate/{request.cluster_id}",
            queue=self._task_queue,
        )
        answer = await ask(self._client, question, SigningAnswer)
        return answer.pem
