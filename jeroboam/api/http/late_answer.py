"""Hands the late answer of a hook to the operation that waits for it."""

import asyncio

from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.schemas.hook import LateAnswer
from jeroboam.errors import ConflictError, DriverContractError, InvalidRequestError, NotFoundError
from jeroboam.hooks import labels
from jeroboam.hooks.answers import one_line, without
from jeroboam.models import Operation, PlanStep
from jeroboam.models.wire import HookAnswer

_PAUSES = (0.2, 0.5, 1.0, 2.0, 2.0)
"""Seconds to wait for a run that has not noted yet that its hook answers later."""


async def give(dependencies: Dependencies, operation_id: str, token: str, body: LateAnswer) -> None:
    """Give an answer.

    Raises:
        NotFoundError: The URL is not one that waits for an answer; it does not tell why.
        InvalidRequestError: The driver refuses the labels.
    """
    try:
        operation = await dependencies.store.operations.get(operation_id)
    except NotFoundError:
        raise _unknown() from None
    step = dependencies.hooks.callbacks.step(operation, token)
    if step is None or not operation.state.active:
        raise _unknown()
    answer = await _answer(dependencies, operation, step, body)
    # Whoever answers may quote the URL, and the record is for many eyes.
    answer = answer.model_copy(update={"message": without(answer.message, [token])})
    for pause in _PAUSES:
        try:
            return await dependencies.operations.answer_hook(operation, answer)
        except ConflictError:
            operation = await dependencies.store.operations.get(operation_id)
            if operation.current_step != step.name:
                break
            await asyncio.sleep(pause)
    raise _unknown()


async def _answer(
    dependencies: Dependencies, operation: Operation, step: PlanStep, body: LateAnswer
) -> HookAnswer:
    taken: dict[str, str] = {}
    if body.allow and body.labels and step.hook:
        _, target = await dependencies.store.clusters.spec_and_target(operation)
        driver = dependencies.drivers.installed(target.cluster.driver)
        try:
            taken = labels.added(driver, target, operation.kind, step.hook.phase, body.labels)
        except DriverContractError as error:
            raise InvalidRequestError(error.message) from None
    name = step.hook.name if step.hook else step.name
    reason = one_line(body.reason)
    if not body.allow:
        message = f"Hook '{name}' refuses: {reason or 'it gives no reason'}"
    else:
        message = " ".join(filter(None, (reason, labels.remark(body.labels, taken))))
    return HookAnswer(step=step.name, ok=body.allow, message=message, labels=taken)


def _unknown() -> NotFoundError:
    return NotFoundError("Nobody waits for this answer.")
