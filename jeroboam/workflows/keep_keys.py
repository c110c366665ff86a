"""The keys of an imported cluster reach the store of secrets."""

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from jeroboam.activities.keys import KeyActivities
    from jeroboam.models.key_wire import KEEP_KEYS_WORKFLOW, SealedKeys

from jeroboam.workflows import limits


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
