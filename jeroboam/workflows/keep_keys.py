"""The keys of an imported cluster reach the store of secrets."""

from temporalio import workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy, WorkflowIDConflictPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.keys import KeyActivities
    from jeroboam.models.key_wire import KEEP_KEYS_WORKFLOW, SealedKeys

from jeroboam import temporal
from jeroboam.models import new_uuid
from jeroboam.workflows import limits
from jeroboam.workflows.answering import answering


@workflow.defn(name=KEEP_KEYS_WORKFLOW)
class KeepKeysWorkflow:
    """Store the keys, however long that takes; a cluster that is gone meanwhile needs none."""

    @workflow.run
    async def run(self, keys: SealedKeys) -> None:
        """Have an activity open and store them."""
        await workflow.execute_activity_method(
            KeyActivities.keep_keys,
            keys,
            start_to_close_timeout=limits.RECORD_ATTEMPT,
            retry_policy=RetryPolicy(maximum_interval=limits.RETRY.maximum_interval),
            summary="keep keys",
        )


class KeyClient:
    """Starts the workflow.

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
                id_conflict_policy=WorkflowIDConflictPolicy.FAIL,
                rpc_timeout=temporal.RPC_TIMEOUT,
            )
