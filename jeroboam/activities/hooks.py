"""The step that runs a hook."""

from temporalio import activity

from jeroboam.activities import threads
from jeroboam.activities.admission import Admission, Admitted
from jeroboam.activities.dependencies import Dependencies
from jeroboam.drivers.base import SupportsHooks
from jeroboam.errors import DriverContractError
from jeroboam.hooks.base import HookEvent
from jeroboam.models import HookCall, HookPhase, HookSource
from jeroboam.models.wire import StepInput, StepResult


class HookActivities:
    """Runs hooks, each as an activity of its own."""

    def __init__(self, dependencies: Dependencies, admission: Admission) -> None:
        self._dependencies = dependencies
        self._admission = admission

    @activity.defn
    async def run_hook(self, step: StepInput) -> StepResult:
        """Run a hook of the driver or an installed one."""
        admitted, call = await self._admission.admit(step), step.required_hook
        if call.source is HookSource.DRIVER:
            await self._run_driver_hook(admitted, call)
            return StepResult()
        hook = self._dependencies.hooks.get(call.name or "")
        result = await threads.call(hook.run, self._event(admitted, call))
        if result is None:
            return StepResult()
        return StepResult(message=result.message or None, labels=result.labels, later=result.later)

    @staticmethod
    async def _run_driver_hook(admitted: Admitted, call: HookCall) -> None:
        driver, kind = admitted.driver, admitted.step.kind
        if not isinstance(driver, SupportsHooks):
            raise DriverContractError(f"Driver '{driver.name}' offers no hooks on this worker.")
        arguments = (kind, admitted.context, admitted.target)
        if call.phase is HookPhase.FAILURE:
            await threads.call(driver.failed, *arguments, admitted.step.failure or "")
        else:
            hook = driver.before if call.phase is HookPhase.BEFORE else driver.after
            await threads.call(hook, *arguments)

    def _event(self, admitted: Admitted, call: HookCall) -> HookEvent:
        return HookEvent(
            operation=admitted.step.kind,
            phase=call.phase,
            spec=admitted.target,
            cloud=self._dependencies.cloud(admitted.spec.cluster.cloud),
            idempotency_key=admitted.step.idempotency_key,
            operation_id=admitted.step.operation_id,
            failure=admitted.step.failure,
        )
