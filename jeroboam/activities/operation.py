"""The short steps of operations: each loads the cluster and calls one thing."""

from dataclasses import replace

from temporalio import activity

from jeroboam import certificates
from jeroboam.activities import threads
from jeroboam.activities.admission import Admission
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.planning import Planner
from jeroboam.activities.submission import submit
from jeroboam.drivers.base import SupportsHealth
from jeroboam.drivers.removal import remove_leftovers
from jeroboam.errors import BackendFailedError, DriverContractError
from jeroboam.models import Method, OperationKind, Recorded, Transition
from jeroboam.models.wire import LoadedPlan, OperationRequest, StepInput, StepResult

_ADVICE = {
    OperationKind.DELETE: " Remove them, or repeat the delete.",
    OperationKind.FORCE_DELETE: " Remove them; the cluster's record is gone.",
}
"""What to do about what is left; after a roll-back the cluster can still be deleted."""


class OperationActivities:
    """Activities on the general task queue.

    Args:
        dependencies: What activities are made of.
        admission: Decides which runs may work.
    """

    def __init__(self, dependencies: Dependencies, admission: Admission) -> None:
        self._store = dependencies.store
        self._dependencies = dependencies
        self._admission = admission
        self._planner = Planner(dependencies.store, dependencies.drivers, dependencies.hooks)

    @activity.defn
    async def load_plan(self, request: OperationRequest) -> LoadedPlan:
        """Resolve driver and hooks into the plan that the record and the run keep.

        An operation that is taken up again keeps the plan that it had: same inputs, same steps.
        """
        operation = await self._admission.operation_of_run(request)
        if operation.plan is None:
            plan = await self._planner.plan(operation)
            operation = await self._store.operations.keep_plan(operation.uuid, plan)
        if operation.plan is None:
            raise DriverContractError("The plan could not be stored.")
        return LoadedPlan(plan=operation.plan, steps=operation.steps)

    @activity.defn
    async def record(self, transition: Transition) -> Recorded:
        """Write the operation's state: the one place from which it is written.

        A reset gives the operation another run. Temporal knows which one is at work.
        """
        run_id = activity.info().workflow_run_id
        mine = transition.model_copy(update={"run_id": run_id})
        outcome = await self._store.operations.apply(mine)
        if outcome is not Recorded.OTHER_RUN:
            return outcome
        operation = await self._store.operations.get(transition.operation_id)
        if not await self._admission.is_current(operation):
            return outcome
        return await self._store.operations.apply(mine, takes_over=True)

    @activity.defn
    async def issue_certificates(self, step: StepInput) -> StepResult:
        """Make the cluster's CAs, unless it has them."""
        await self._admission.operation(step.operation_id)
        secrets = certificates.issue_cluster_secrets(step.cluster_name)
        await self._store.secrets.put_if_absent(step.cluster_id, certificates.to_mapping(secrets))
        return StepResult()

    @activity.defn
    async def submit(self, step: StepInput) -> StepResult:
        """Have the driver submit a change of the backend."""
        admitted, call = await self._admission.admit(step), step.required_call
        if call.method is Method.ROTATE_CREDENTIAL:
            trusts = await self._store.operations.trusts(admitted.spec.cluster)
            admitted = replace(admitted, trusts=trusts)
        return StepResult(backend_id=await submit(admitted, call))

    @activity.defn
    async def collect_outputs(self, step: StepInput) -> StepResult:
        """Have the driver read addresses, versions and nodes."""
        admitted = await self._admission.admit(step)
        spec = admitted.spec_of(step.call)
        outputs = await threads.call(admitted.driver.read_outputs, admitted.context, spec)
        return StepResult(outputs=outputs)

    @activity.defn
    async def check_health(self, step: StepInput) -> StepResult:
        """Have the driver look how the cluster is."""
        admitted = await self._admission.admit(step)
        if not isinstance(admitted.driver, SupportsHealth):
            raise DriverContractError(f"Driver '{admitted.driver.name}' tells no health.")
        check = admitted.driver.check_health
        health = await threads.call(check, admitted.context, admitted.spec)
        return StepResult(health=health, message=str(health.status))

    @activity.defn
    async def find_leftovers(self, step: StepInput) -> StepResult:
        """Verify that nothing of a removed cluster is left, and remove what is.

        Raises:
            BackendFailedError: Something stays; the message names it.
        """
        admitted = await self._admission.admit(step)
        left = await threads.call(
            remove_leftovers, admitted.driver, admitted.context, admitted.spec
        )
        if not left:
            return StepResult(message="Nothing is left.")
        advice = _ADVICE.get(step.kind, " Delete the cluster.")
        raise BackendFailedError(f"Left in the cloud: {', '.join(left)}.{advice}")
