"""The steps about the user as whom programs in a cluster log in to the cloud."""

from functools import partial

from temporalio import activity

from jeroboam import accounts, stored_accounts
from jeroboam.activities import threads
from jeroboam.activities.admission import Admission
from jeroboam.activities.dependencies import Dependencies
from jeroboam.drivers.base import SupportsCloudAccount
from jeroboam.errors import CredentialRejectedError, DriverContractError
from jeroboam.models.wire import StepInput, StepResult


class AccountActivities:
    """Activities on the general task queue; what is secret stays in the store.

    Args:
        dependencies: What activities are made of.
        admission: Decides which runs may work.
    """

    def __init__(self, dependencies: Dependencies, admission: Admission) -> None:
        self._store = dependencies.store
        self._accounts = dependencies.accounts
        self._admission = admission

    @activity.defn
    async def make_account(self, step: StepInput) -> StepResult:
        """Make the operation's user, and delegate to it what programs may do.

        Raises:
            ConfigurationError: There is no domain for such users.
            CredentialRejectedError: The trust is of no use.
        """
        await self._admission.operation(step.operation_id)
        cluster = (await self._store.clusters.spec(step.cluster_id)).cluster
        trust = step.trusts[0] if step.trusts else cluster.trust_id
        if trust is None:
            raise CredentialRejectedError(f"Cluster {cluster.name} has no credential.")
        name = accounts.user_name(step.cluster_id, step.operation_id)
        stage = partial(stored_accounts.staged, name=name, password=accounts.new_password())
        stored = await self._store.secrets.change(step.cluster_id, stage)
        password = stored_accounts.password_of(stored)
        make = self._accounts(cluster.cloud).make
        account = await threads.call(make, name, password, trust)
        complete = partial(stored_accounts.completed, account=account)
        await self._store.secrets.change(step.cluster_id, complete)
        return StepResult()

    @activity.defn
    async def hand_account(self, step: StepInput) -> StepResult:
        """Have the driver give programs in the cluster the user that is stored."""
        admitted = await self._admission.admit(step)
        driver = admitted.driver
        if not isinstance(driver, SupportsCloudAccount):
            raise DriverContractError(f"Driver '{driver.name}' gives programs no user.")
        await threads.call(driver.hand_over_account, admitted.context, admitted.spec)
        return StepResult()

    @activity.defn
    async def restore_account(self, step: StepInput) -> StepResult:
        """Store the former user as the current one again."""
        await self._admission.operation(step.operation_id)
        name = accounts.user_name(step.cluster_id, step.operation_id)
        restore = partial(stored_accounts.reinstated, name=name)
        await self._store.secrets.change(step.cluster_id, restore)
        return StepResult()

    @activity.defn
    async def remove_accounts(self, step: StepInput) -> StepResult:
        """Remove all users of the cluster but the current one."""
        await self._admission.operation(step.operation_id)
        cluster = (await self._store.clusters.spec(step.cluster_id)).cluster
        keep = stored_accounts.current_name(await self._store.secrets.get(step.cluster_id))
        remove = partial(self._accounts(cluster.cloud).remove, step.cluster_id, keep=keep)
        await threads.call(remove)
        await self._store.secrets.change(step.cluster_id, stored_accounts.settled)
        return StepResult()
