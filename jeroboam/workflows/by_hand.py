"""Starts by hand that cannot mean anything end with a reason, instead of being tried for ever."""

import inspect
from typing import Any, get_type_hints

from pydantic import BaseModel
from temporalio.exceptions import ApplicationError
from temporalio.worker import (
    ExecuteWorkflowInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)


class Politeness(Interceptor):
    """Refuses runs whose input is not what their workflow takes.

    Temporal takes an error of Python in a workflow for a defect of the worker, which a newer
    worker will not have, and tries again without end. Meanwhile the run keeps its id, which may
    be that of a cluster.
    """

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the name is the SDK's
    ) -> type[WorkflowInboundInterceptor]:
        """Return what looks at each run."""
        del input
        return _Polite


class _Polite(WorkflowInboundInterceptor):
    async def execute_workflow(self, input: ExecuteWorkflowInput) -> Any:  # noqa: A002 - see above
        wrong = _wrong(input)
        if wrong:
            raise ApplicationError(
                f"{wrong} To start an operation by hand, start 'RequestOperation'.",
                type="InvalidRequestError",
                non_retryable=True,
            )
        return await super().execute_workflow(input)


def _wrong(given: ExecuteWorkflowInput) -> str | None:
    """Return what is wrong with the input of a run."""
    signature = inspect.signature(given.run_fn)
    try:
        bound = signature.bind(None, *given.args)
    except TypeError:
        takes = len(signature.parameters) - 1
        return f"This workflow takes {takes} input, and was started with {len(given.args)}."
    hints = get_type_hints(given.run_fn)
    for name, value in bound.arguments.items():
        hint = hints.get(name)
        is_model = isinstance(hint, type) and issubclass(hint, BaseModel)
        if is_model and hint and not isinstance(value, hint):
            return "The input of this workflow has to be one JSON object."
    return None
