"""Cancels operations and takes them up again."""

from collections.abc import Mapping
from urllib.parse import quote

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.schemas.action import Resume
from jeroboam.errors import ConflictError
from jeroboam.models import Action, Operation, OperationKind, OperationState
from jeroboam.models.wire import HookAnswer, workflow_id
from jeroboam.settings import Settings

RULES: Mapping[OperationKind, str] = {
    OperationKind.CREATE: "cluster:create",
    OperationKind.UPDATE: "cluster:update",
    OperationKind.DELETE: "cluster:delete",
    OperationKind.FORCE_DELETE: "cluster:force_delete",
    OperationKind.RESIZE: "cluster:resize",
    OperationKind.UPGRADE: "cluster:upgrade",
    OperationKind.REBUILD: "cluster:rebuild",
    OperationKind.SOFT_REBOOT: "cluster:reboot",
    OperationKind.HARD_REBOOT: "cluster:reboot",
    OperationKind.CREATE_NODE_GROUP: "nodegroup:create",
    OperationKind.UPDATE_NODE_GROUP: "nodegroup:update",
    OperationKind.DELETE_NODE_GROUP: "nodegroup:delete",
    OperationKind.CHECK_HEALTH: "cluster:check_health",
    OperationKind.ROTATE_CA: "certificate:rotate_ca",
    OperationKind.ROTATE_CREDENTIAL: "credential:rotate",
}
"""What the caller must be allowed to do to begin an operation of each kind, or to retry it."""


async def retry(dependencies: Dependencies, caller: Caller, operation: Operation) -> str:
    """Take up an operation that failed or was cancelled; return what will happen, in words.

    Raises:
        NotAuthorizedError: The caller could not begin such an operation.
        ConflictError: It cannot be taken up; the message says why.
    """
    dependencies.authorizer.require(RULES[operation.kind], caller.identity, operation)
    await dependencies.operations.retry(operation)
    # What is left the store decides: a call whose end nobody saw is made again.
    left = await dependencies.store.operations.get(operation.uuid)
    done = [step.name for step in left.steps if step.state.done]
    if not done:
        return "The operation begins at its first step, with the same input."
    return (
        f"The operation goes on after its step '{done[-1]}', with the same input. "
        "Steps that are done are not repeated."
    )


async def resume(
    dependencies: Dependencies, caller: Caller, operation: Operation, request: Resume
) -> str:
    """Go on with an operation that was cancelled, or that waits for the answer of a hook.

    Raises:
        NotAuthorizedError: Only some may answer for a hook.
        ConflictError: The operation neither was cancelled nor waits.
    """
    if operation.state is OperationState.CANCELLED:
        return await retry(dependencies, caller, operation)
    if operation.state is OperationState.FAILED:
        raise ConflictError("The operation has failed; retry it to go on with it.")
    if not operation.state.active:
        raise ConflictError(f"The operation has ended ({operation.state}).")
    step = _hook_at_work(operation)
    if step is None:
        raise ConflictError("The operation is at work and does not wait for an answer.")
    dependencies.authorizer.require("operation:approve", caller.identity, operation)
    message = request.message or f"Answered by user {caller.identity.user_id}."
    answer = HookAnswer(step=step, ok=request.approve, message=message)
    await dependencies.operations.answer_hook(operation, answer)
    outcome = "goes on" if request.approve else "fails"
    return f"The hook of step '{step}' is answered; the operation {outcome}."


def temporal_url(settings: Settings, operation: Operation) -> str | None:
    """Return the address of an operation's run in Temporal's UI, once it has one."""
    if operation.run_id is None:
        return None
    workflow = quote(workflow_id(operation.cluster_id), safe="")
    return (
        f"{settings.temporal_ui_url.rstrip('/')}/namespaces/"
        f"{quote(settings.temporal_namespace, safe='')}/workflows/{workflow}/"
        f"{quote(operation.run_id, safe='')}/history"
    )


def _hook_at_work(operation: Operation) -> str | None:
    plan = operation.plan
    steps = (*plan.steps, *plan.on_failure) if plan else ()
    hooks = {step.name for step in steps if step.action is Action.RUN_HOOK}
    return operation.current_step if operation.current_step in hooks else None
