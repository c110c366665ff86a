"""Builds the plan of each kind of operation; pure, so the same code serves a dry run."""

from collections.abc import Sequence

from jeroboam.models.base import Model
from jeroboam.models.cluster import ClusterSpec
from jeroboam.models.operation import OperationKind
from jeroboam.models.plan import Action, FailurePolicy, HookCall, Plan, PlanStep

LONGEST_DEADLINE_MINUTES = 24 * 60
"""The deadline where the user gave none (``create_timeout`` 0), and that of a delete."""


class HookReference(Model):
    """A hook with what the engine must know to run it."""

    call: HookCall
    timeout_seconds: int = 300
    on_failure: FailurePolicy = FailurePolicy.FAIL


def build_plan(
    kind: OperationKind,
    spec: ClusterSpec,
    *,
    before: Sequence[HookReference] = (),
    after: Sequence[HookReference] = (),
    rollback: bool = False,
) -> Plan:
    """Return the plan of an operation.

    Args:
        before: Hooks that run before the backend is touched, in order.
        after: Hooks that run when the backend has finished, in order.
        rollback: Whether what was built is removed again when the operation fails.
    """
    middle = _CREATE if kind is OperationKind.CREATE else _DELETE
    last = () if kind is OperationKind.CREATE else (_REVOKE,)
    steps = (
        *(_hook_step(kind, hook) for hook in before),
        *middle,
        *(_hook_step(kind, hook) for hook in after),
        *last,
    )
    return Plan(
        kind=kind,
        driver=spec.cluster.driver,
        driver_version=spec.cluster.driver_version,
        cloud=spec.cluster.cloud,
        cluster_name=spec.cluster.name,
        project_id=spec.cluster.project_id,
        deadline_seconds=60 * _deadline_minutes(kind, spec),
        rollback=rollback,
        steps=steps,
    )


def _deadline_minutes(kind: OperationKind, spec: ClusterSpec) -> int:
    if kind is OperationKind.CREATE and spec.cluster.create_timeout:
        return spec.cluster.create_timeout
    return LONGEST_DEADLINE_MINUTES


def _hook_step(kind: OperationKind, hook: HookReference) -> PlanStep:
    name = f"hook {hook.call.name}" if hook.call.name else "the driver's hook"
    return PlanStep(
        name=f"{hook.call.phase.capitalize()} {kind}: {name}",
        action=Action.RUN_HOOK,
        hook=hook.call,
        timeout_seconds=hook.timeout_seconds,
        on_failure=hook.on_failure,
    )


_CREATE = (
    PlanStep(name="Issue certificates", action=Action.ISSUE_CERTIFICATES),
    PlanStep(
        name="Submit to the backend",
        action=Action.SUBMIT_CREATE,
        compensation=(Action.SUBMIT_DELETE, Action.WAIT_DELETED),
    ),
    PlanStep(name="Wait for the backend", action=Action.WAIT_CREATED),
    PlanStep(name="Read addresses and versions", action=Action.COLLECT_OUTPUTS),
)
_DELETE = (
    PlanStep(name="Submit the removal", action=Action.SUBMIT_DELETE),
    PlanStep(name="Wait until all is gone", action=Action.WAIT_DELETED),
)
_REVOKE = PlanStep(
    name="Revoke the cluster's credentials",
    action=Action.REVOKE_CREDENTIALS,
    on_failure=FailurePolicy.WARN,
    timeout_seconds=300,
)
