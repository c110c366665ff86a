"""The short steps of operations: each loads the cluster and calls one thing."""

from collections.abc import Callable
from typing import TypeVar

from temporalio import activity

from jeroboam import certificates
from jeroboam.activities import threads
from jeroboam.activities.dependencies import Dependencies, driver_context
from jeroboam.drivers.base import ClusterDriver, DriverContext, SupportsHooks
from jeroboam.errors import DriverContractError
from jeroboam.hooks.base import HookEvent
from jeroboam.models import ClusterSpec, HookCall, HookPhase, OperationKind, Plan, Transition
from jeroboam.models.plans import HookReference, build_plan
from jeroboam.models.wire import OperationRequest, StepInput, StepResult

T = TypeVar("T")


class OperationActivities:
    """Activities on the general task queue."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._store = dependencies.store
        self._drivers = dependencies.drivers
        self._hooks = dependencies.hooks
        self._dependencies = dependencies

    @activity.defn
    async def load_plan(self, request: OperationRequest) -> Plan:
        """Resolve driver and hooks into the plan that the run keeps in its history."""
        spec = await self._store.clusters.spec(request.cluster_id)
        driver = self._drivers.installed(spec.cluster.driver)
        return build_plan(
            request.kind,
            spec,
            before=self._hook_references(driver, request.kind, HookPhase.BEFORE),
            after=self._hook_references(driver, request.kind, HookPhase.AFTER),
            rollback=request.rollback,
        )

    @activity.defn
    async def record(self, transition: Transition) -> bool:
        """Write the operation's state: the one place from which it is written."""
        return await self._store.operations.apply(transition)

    @activity.defn
    async def run_hook(self, step: StepInput) -> StepResult:
        """Run a hook of the driver or an installed one."""
        call = step.required_hook
        spec = await self._store.clusters.spec(step.cluster_id)
        if call.name:
            await self._run_installed_hook(step, spec, call.phase, call.name)
        else:
            await self._run_driver_hook(step, spec, call.phase)
        return StepResult()

    @activity.defn
    async def issue_certificates(self, step: StepInput) -> StepResult:
        """Make the cluster's CAs, unless it has them."""
        secrets = certificates.issue_cluster_secrets(step.cluster_name)
        await self._store.secrets.put_if_absent(step.cluster_id, certificates.to_mapping(secrets))
        return StepResult()

    @activity.defn
    async def submit_create(self, step: StepInput) -> StepResult:
        """Have the driver submit the creation."""
        stack_id = await self._call_driver(
            step,
            lambda driver, context, spec: driver.create_cluster(context, spec, step.minutes_left),
        )
        return StepResult(stack_id=stack_id)

    @activity.defn
    async def submit_delete(self, step: StepInput) -> StepResult:
        """Have the driver submit the removal."""
        await self._call_driver(
            step, lambda driver, context, spec: driver.delete_cluster(context, spec)
        )
        return StepResult()

    @activity.defn
    async def collect_outputs(self, step: StepInput) -> StepResult:
        """Have the driver read addresses and versions."""
        outputs = await self._call_driver(
            step, lambda driver, context, spec: driver.read_outputs(context, spec)
        )
        return StepResult(outputs=outputs)

    @activity.defn
    async def revoke_credentials(self, step: StepInput) -> StepResult:
        """Remove the trust with which Jeroboam acted for the owner."""
        cluster = (await self._store.clusters.spec(step.cluster_id)).cluster
        if cluster.trust_id:
            await threads.call(self._dependencies.revoke_trust, cluster.cloud, cluster.trust_id)
        return StepResult()

    async def _call_driver(
        self, step: StepInput, call: Callable[[ClusterDriver, DriverContext, ClusterSpec], T]
    ) -> T:
        spec = await self._store.clusters.spec(step.cluster_id)
        driver = self._drivers.installed(spec.cluster.driver)
        context = driver_context(self._dependencies, step, spec)
        return await threads.call(call, driver, context, spec)

    async def _run_driver_hook(self, step: StepInput, spec: ClusterSpec, phase: HookPhase) -> None:
        driver = self._drivers.installed(spec.cluster.driver)
        if not isinstance(driver, SupportsHooks):
            raise DriverContractError(f"Driver '{driver.name}' offers no hooks on this worker.")
        hook = driver.before if phase is HookPhase.BEFORE else driver.after
        context = driver_context(self._dependencies, step, spec)
        await threads.call(hook, step.intent, context, spec)

    async def _run_installed_hook(
        self, step: StepInput, spec: ClusterSpec, phase: HookPhase, name: str
    ) -> None:
        event = HookEvent(
            operation=step.intent,
            phase=phase,
            spec=spec,
            cloud=self._dependencies.cloud(spec.cluster.cloud),
            idempotency_key=step.idempotency_key,
        )
        await threads.call(self._hooks.get(name).run, event)

    def _hook_references(
        self, driver: ClusterDriver, kind: OperationKind, phase: HookPhase
    ) -> tuple[HookReference, ...]:
        own = HookReference(call=HookCall(phase=phase))
        installed = (
            HookReference(
                call=HookCall(phase=phase, name=hook.name),
                timeout_seconds=hook.timeout_seconds,
                on_failure=hook.on_failure,
            )
            for hook in self._hooks.for_operation(kind, phase)
        )
        return (*((own,) if isinstance(driver, SupportsHooks) else ()), *installed)
