"""Asks a worker something for somebody who waits at the other end of a connection."""

import asyncio
from dataclasses import dataclass
from typing import TypeVar

import structlog
from temporalio.client import Client, WorkflowFailureError
from temporalio.service import RPCError

from jeroboam import errors, temporal
from jeroboam.models import Model, new_uuid
from jeroboam.workflows import limits
from jeroboam.workflows.raised import raised_by

_SILENCE = "No worker of {} answers. Try again; if it stays so, tell your operator."

log = structlog.get_logger(__name__)

Answer = TypeVar("Answer", bound=Model)


@dataclass(frozen=True)
class Question:
    """A short workflow, and where it is run.

    Args:
        workflow: Its name.
        request: Its input; it stays readable in Temporal's history.
        about: What its id begins with.
        queue: Where the workers take their work from.
        of_whom: Whose workers those are, for whoever gets no answer.
    """

    workflow: str
    request: Model
    about: str
    queue: str
    of_whom: str = "Jeroboam"


async def ask(client: Client, question: Question, answer_type: type[Answer]) -> Answer:
    """Return a worker's answer.

    Raises:
        JeroboamError: What the worker raised, of the same class.
        CloudUnavailableError: Temporal, or the worker, does not answer.
    """
    silent = _SILENCE.format(question.of_whom)
    try:
        async with asyncio.timeout(limits.COE_PATIENCE.total_seconds()):
            handle = await client.start_workflow(
                question.workflow,
                question.request,
                id=f"{question.about}/{new_uuid()}",
                task_queue=question.queue,
                execution_timeout=limits.COE_TOTAL,
                result_type=answer_type,
                rpc_timeout=temporal.RPC_TIMEOUT,
            )
            answer: Answer = await handle.result()
    except WorkflowFailureError as error:
        raise raised_by(error) or errors.CloudUnavailableError(silent) from None
    except (RPCError, TimeoutError, RuntimeError) as error:
        # A client that has never been connected raises a RuntimeError.
        reason = str(error) or type(error).__name__
        log.warning("worker_silent", workflow=question.workflow, reason=reason)
        raise errors.CloudUnavailableError(silent) from error
    return answer
