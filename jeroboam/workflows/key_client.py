"""Hands the keys of imported clusters to the workers."""

from temporalio.client import Client

from jeroboam import temporal
from jeroboam.models import new_uuid
from jeroboam.models.key_wire import KEEP_KEYS_WORKFLOW, SealedKeys
from jeroboam.workflows.answering import answering


class KeyClient:
    """Starts the workflow that keeps keys.

    Args:
        client: A client of the product's namespace.
        task_queue: Where the workers take their work from.
    """

    def __init__(self, client: Client, task_queue: str) -> None:
        self._client = client
        self._task_queue = task_queue

    async def keep(self, cluster_id: str, sealed: str) -> None:
        """Hand sealed keys over; from then on they are kept also when this process dies.

        Raises:
            CloudUnavailableError: Temporal does not answer.
        """
        async with answering():
            await self._client.start_workflow(
                KEEP_KEYS_WORKFLOW,
                SealedKeys(cluster_id=cluster_id, sealed=sealed),
                id=f"keys/{cluster_id}/{new_uuid()}",
                task_queue=self._task_queue,
                rpc_timeout=temporal.RPC_TIMEOUT,
            )
