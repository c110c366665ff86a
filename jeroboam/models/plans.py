"""Builds the plan of each kind of operation; pure, so the same code serves a dry run."""

from collections.abc import Sequence

from jeroboam.models.base import Model
from jeroboam.models.changes import describe_changes
from jeroboam.models.cluster import ClusterSpec
from jeroboam.models.kind import OperationKind
from jeroboam.models.parameters import Parameters
from jeroboam.models.plan import (
    Action,
    FailurePolicy,
    HookCall,
    HookSource,
    Plan,
    PlanStep,
)
from jeroboam.models.rotation import ROTATIONS, final_steps
from jeroboam.models.step_names import shortened, told_apart
from jeroboam.models.work import STEPS, Ask, DriverFacts, Work, chosen_groups

LONGEST_DEADLINE_MINUTES = 24 * 60
"""The deadline where the user gave none (``create_timeout`` 0), and that of a delete."""

CALL_MINUTES = 60
"""What one call of the backend gets where the cluster has no ``create_timeout``."""

_STEPS = {**STEPS, **ROTATIONS}


class HookReference(Model):
    """A hook with what the engine must know to run it."""

    call: HookCall
    timeout_seconds: int = 300
    on_failure: FailurePolicy = FailurePolicy.FAIL


class Hooks(Model):
    """The hooks of one operation by phase, each in the order in which they run."""

    before: tuple[HookReference, ...] = ()
    after: tuple[HookReference, ...] = ()
    on_failure: tuple[HookReference, ...] = ()


def build_plan(
    kind: OperationKind,
    spec: ClusterSpec,
    target: ClusterSpec,
    parameters: Parameters,
    *,
    hooks: Hooks | None = None,
    rollback: bool = False,
    driver: DriverFacts | None = None,
) -> Plan:
    """Return the plan of an operation.

    Args:
        spec: The cluster as it is recorded.
        target: The cluster as the operation shall leave it; see ``targets.target_of``.
        rollback: Whether what was done is undone when the operation fails.
        driver: What is known of the cluster's driver.

    Raises:
        InvalidRequestError: It would need too many batches, or means no node.
        NotFoundError: A node or node group that is named is not there.
    """
    chosen = hooks or Hooks()
    forced = kind is OperationKind.FORCE_DELETE
    before = _hook_steps(kind, _lenient(chosen.before) if forced else chosen.before)
    after = _hook_steps(kind, _lenient(chosen.after) if forced else chosen.after)
    known = driver or DriverFacts()
    ask = Ask(kind, spec, target, parameters, known)
    work = _STEPS[kind](ask)
    steps, final, on_failure = told_apart(
        (*before, *work, *after, *(_REVOKE if kind.deletes else ())),
        final_steps(ask),
        _hook_steps(kind, _lenient(chosen.on_failure)),
    )
    return Plan(
        kind=kind,
        driver=spec.cluster.driver,
        driver_version=target.cluster.driver_version,
        driver_queue=known.queue,
        cloud=spec.cluster.cloud,
        cluster_name=spec.cluster.name,
        project_id=spec.cluster.project_id,
        deadline_seconds=60 * _deadline_minutes(kind, spec, work) + _drain_seconds(work),
        rollback=rollback,
        node_groups=touched_groups(kind, spec, parameters),
        changes=describe_changes(kind, spec, target),
        steps=steps,
        final=final,
        on_failure=on_failure,
    )


def touched_groups(
    kind: OperationKind, spec: ClusterSpec, parameters: Parameters
) -> tuple[str, ...] | None:
    """Return the uuids of the node groups that an operation works on; ``None`` means all."""
    if kind is OperationKind.CHECK_HEALTH:
        return ()
    named = parameters.group.uuid if parameters.group else parameters.node_group
    if named:
        return (named,)
    if parameters.nodes or parameters.node_groups:
        return tuple(group.uuid for group in chosen_groups(spec, parameters))
    if kind is OperationKind.CREATE or kind.deletes:
        return None
    # A group that failed to be built keeps its row to tell why; nothing else happens to it.
    built = tuple(group.uuid for group in spec.node_groups if group.built)
    return None if len(built) == len(spec.node_groups) else built


def _deadline_minutes(kind: OperationKind, spec: ClusterSpec, work: Work) -> int:
    if kind is OperationKind.CREATE and spec.cluster.create_timeout:
        return spec.cluster.create_timeout
    if kind is OperationKind.CREATE or kind.deletes:
        return LONGEST_DEADLINE_MINUTES
    calls = sum(step.action is Action.SUBMIT for step in work)
    return max(1, calls) * (spec.cluster.create_timeout or CALL_MINUTES)


def _drain_seconds(work: Work) -> int:
    """Return what pods get in addition: they wait for others, and not for the backend."""
    return sum(step.timeout_seconds or 0 for step in work if step.action is Action.DRAIN)


def _hook_steps(kind: OperationKind, hooks: Sequence[HookReference]) -> Work:
    return tuple(_hook_step(kind, hook) for hook in hooks)


def _hook_step(kind: OperationKind, hook: HookReference) -> PlanStep:
    driver = hook.call.source is HookSource.DRIVER
    name = "the driver's hook" if driver else f"hook {shortened(hook.call.name or '')}"
    return PlanStep(
        name=f"{hook.call.phase.capitalize()} {kind.words}: {name}",
        action=Action.RUN_HOOK,
        hook=hook.call,
        timeout_seconds=hook.timeout_seconds,
        on_failure=hook.on_failure,
    )


def _lenient(hooks: Sequence[HookReference]) -> tuple[HookReference, ...]:
    """Let hooks warn that would fail: nothing may keep a removal by force from its end."""
    return tuple(
        hook.model_copy(update={"on_failure": FailurePolicy.WARN})
        if hook.on_failure is FailurePolicy.FAIL
        else hook
        for hook in hooks
    )


_REVOKE = (
    PlanStep(
        name="Revoke the cluster's credentials",
        action=Action.REVOKE_CREDENTIALS,
        on_failure=FailurePolicy.WARN,
        timeout_seconds=300,
    ),
)
