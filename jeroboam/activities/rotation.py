"""The steps about a cluster's credential and its certificate authorities; no driver is called."""

from contextlib import AsyncExitStack

from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.admission import Admission
from jeroboam.activities.dependencies import Dependencies
from jeroboam.certificate_turns import turned
from jeroboam.models import Cluster
from jeroboam.models.wire import StepInput, StepResult

_KEPT = (
    "A former credential is kept until it is not needed any more: what the cloud has delegated "
    "from it is still in use."
)


class RotationActivities:
    """Activities on the general task queue.

    Args:
        dependencies: What activities are made of.
        admission: Decides which runs may work.
    """

    def __init__(self, dependencies: Dependencies, admission: Admission) -> None:
        self._store = dependencies.store
        self._dependencies = dependencies
        self._admission = admission

    @activity.defn
    async def try_credentials(self, step: StepInput) -> StepResult:
        """Log in with the trusts that a step names.

        Raises:
            CredentialRejectedError: One of them is of no use.
        """
        await self._admission.operation(step.operation_id)
        cluster = (await self._store.clusters.spec(step.cluster_id)).cluster
        cloud = self._dependencies.cloud(cluster.cloud)
        for trust in step.trusts or (cluster.trust_id,):
            await threads.call(cloud.tenant_session, trust)
        return StepResult()

    @activity.defn
    async def revoke_credentials(self, step: StepInput) -> StepResult:
        """Remove all trusts with which Jeroboam acts for the cluster's owner no more.

        They are what rotations have replaced, kept or left behind. A cluster that goes takes all
        along, and the secrets, wherever they are stored.
        """
        await self._admission.operation(step.operation_id)
        cluster = (await self._store.clusters.spec(step.cluster_id)).cluster
        kept = False
        if step.kind.deletes:
            await self._revoke_all(cluster)
            return StepResult()
        for trust in await self._store.operations.trusts(cluster) - {cluster.trust_id}:
            gone = await threads.call(self._dependencies.retire_trust, cluster.cloud, trust)
            kept = kept or not gone
        return StepResult(message=_KEPT if kept else None)

    @activity.defn
    async def turn_certificates(self, step: StepInput) -> StepResult:
        """Take the cluster's stored authorities one stage further, or back."""
        await self._admission.operation(step.operation_id)
        if step.turn is None:
            raise ValueError(f"Step '{step.step}' does not say which way.")
        # An operation that is taken up again after it was undone begins another rotation.
        rotation = f"{step.operation_id}/{activity.info().workflow_run_id}"
        change = turned(step.turn, rotation, step.cluster_name)
        await self._store.secrets.change(step.cluster_id, change)
        return StepResult()

    async def _revoke_all(self, cluster: Cluster) -> None:
        """Remove all that the cluster had; each is tried, whatever becomes of the others."""
        async with AsyncExitStack() as stack:
            # A secret store that is not the database knows nothing of rows that go.
            stack.push_async_callback(self._store.secrets.delete, cluster.uuid)
            stack.push_async_callback(self._revoke_trusts, cluster)
            if cluster.trust_id:
                remove = self._dependencies.accounts(cluster.cloud).remove
                await threads.call(remove, cluster.uuid)

    async def _revoke_trusts(self, cluster: Cluster) -> None:
        for trust in await self._store.operations.trusts(cluster):
            await threads.call(self._dependencies.revoke_trust, cluster.cloud, trust)
