"""The step that runs a hook, whatever its source."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from temporalio import activity

from jeroboam.activities.admission import Admission, Admitted
from jeroboam.activities.dependencies import Dependencies
from jeroboam.activities.hook_time import HookTime
from jeroboam.drivers.base import SupportsHooks
from jeroboam.drivers.patience import asked
from jeroboam.errors import ConfigurationError, DriverContractError, JeroboamError, NotFoundError
from jeroboam.hooks import labels
from jeroboam.hooks.answers import one_line, without
from jeroboam.hooks.base import Hook, HookEvent, HookResult
from jeroboam.hooks.declaring import hook_of
from jeroboam.models import HookCall, HookPhase, HookSource
from jeroboam.models.wire import StepInput, StepResult

SWITCHED_OFF = "The hook was removed or switched off after the operation had begun."


@dataclass(frozen=True)
class _Found:
    """A hook with what its declaration gives it."""

    hook: Hook
    options: Mapping[str, Any] = field(default_factory=dict)
    secret: str | None = field(default=None, repr=False)


class HookActivities:
    """Runs hooks, each as an activity of its own.

    Args:
        dependencies: What activities are made of.
        admission: Decides which runs may work.
    """

    def __init__(self, dependencies: Dependencies, admission: Admission) -> None:
        self._dependencies = dependencies
        self._admission = admission

    @activity.defn
    async def run_hook(self, step: StepInput) -> StepResult:
        """Run a hook of the driver, an installed or a declared one, within its time."""
        clock = HookTime(_shown(step.required_hook), step.hook_seconds)
        with clock.told():
            return await self._run(step, clock)

    async def _run(self, step: StepInput, clock: HookTime) -> StepResult:
        admitted, call = await self._admission.admit(step), step.required_hook
        if call.source is HookSource.DRIVER:
            await _run_driver_hook(admitted, call, clock)
            return StepResult()
        found = await self._find(call)
        if found is None:
            return StepResult(message=SWITCHED_OFF)
        event = self._event(admitted, call, found)
        result = await clock.call(_run, found.hook, event)
        return await _step_result(admitted, call, result)

    async def _find(self, call: HookCall) -> _Found | None:
        """Return the hook of a call; nothing if an administrator took it away since."""
        installed = self._dependencies.hooks
        if call.declaration is None:
            return _Found(installed.get(call.name or ""))
        declaration = installed.declared.get(call.declaration)
        secret = installed.secrets.get(call.declaration)
        if declaration is None:
            if call.declaration == call.name:
                raise ConfigurationError(
                    f"Hook '{call.name}' is not in the hooks file of this worker. Give all workers "
                    "and the API the same JEROBOAM_HOOKS_FILE."
                )
            try:
                declaration = await self._dependencies.store.hooks.get(call.declaration)
            except NotFoundError:
                return None
            secret = await self._dependencies.store.hooks.secret(declaration.uuid)
        if not declaration.enabled:
            return None
        return _Found(hook_of(declaration, installed), declaration.options, secret)

    def _event(self, admitted: Admitted, call: HookCall, found: _Found) -> HookEvent:
        step = admitted.step
        return HookEvent(
            operation=step.kind,
            phase=call.phase,
            spec=admitted.target,
            cloud=self._dependencies.cloud(admitted.spec.cluster.cloud),
            idempotency_key=step.idempotency_key,
            operation_id=step.operation_id,
            failure=step.failure,
            options=found.options,
            callback_url=self._dependencies.callbacks.url(step.operation_id, step.step),
            parameters=admitted.operation.parameters,
            secret=found.secret,
            outbound=self._dependencies.outbound,
        )


def _shown(call: HookCall) -> str:
    return f"Hook '{call.name}'" if call.name else "The driver's hook"


async def _run_driver_hook(admitted: Admitted, call: HookCall, clock: HookTime) -> None:
    driver, kind = admitted.driver, admitted.step.kind
    if not isinstance(driver, SupportsHooks):
        raise DriverContractError(f"Driver '{driver.name}' offers no hooks on this worker.")
    arguments = (kind, admitted.context, admitted.target)
    if call.phase is HookPhase.FAILURE:
        await clock.call(driver.failed, *arguments, admitted.step.failure or "")
    else:
        hook = driver.before if call.phase is HookPhase.BEFORE else driver.after
        await clock.call(hook, *arguments)


def _run(hook: Hook, event: HookEvent) -> HookResult:
    """Run a hook; what it says or raises leaves here without secrets."""
    hidden = event.hidden
    try:
        result = hook.run(event) or HookResult()
    except JeroboamError as error:
        error.message = without(error.message, hidden)
        error.faults = {key: without(text, hidden) for key, text in error.faults.items()}
        error.args = (error.message,)
        raise
    except Exception as error:
        shown = "".join(traceback.format_exception(error))
        if without(shown, hidden) == shown:
            raise
        raise RuntimeError(
            f"Hook '{hook.name}' raised {type(error).__name__}; its text holds a secret."
        ) from None
    if not isinstance(result, HookResult):
        raise DriverContractError(f"Hook '{hook.name}' returns no HookResult.")
    return result.model_copy(update={"message": one_line(result.message, hidden)})


async def _step_result(admitted: Admitted, call: HookCall, result: HookResult) -> StepResult:
    driver = admitted.driver
    arguments = (driver, admitted.target, admitted.step.kind, call.phase, result.labels)
    taken = await asked(driver.name, labels.added, *arguments)
    parts = (result.message, labels.remark(result.labels, taken))
    return StepResult(
        message=" ".join(part for part in parts if part) or None, labels=taken, later=result.later
    )
