"""Answers to requests that change a cluster: accepted, or what a dry run found."""

from collections.abc import Mapping
from typing import Any, TypedDict

from fastapi.responses import JSONResponse, Response

from jeroboam.api.http.accepting import Outcome
from jeroboam.api.http.schemas.action import Accepted, OperationAnswer
from jeroboam.api.http.schemas.base import ResponseModel
from jeroboam.api.http.schemas.plan import DryRun, PlanBody
from jeroboam.models import Operation, Plan

OPERATION_HEADER = "Jeroboam-Operation"
"""Names the operation that a request began, where Magnum's body has no place for it."""

OK = 200
ACCEPTED = 202
NO_CONTENT = 204

_HEADER_DOC = {
    OPERATION_HEADER: {
        "description": "uuid of the operation that was begun",
        "schema": {"type": "string", "format": "uuid"},
    }
}


class RouteAnswers(TypedDict):
    """The arguments of a route that say how it answers."""

    status_code: int
    response_class: type[Response]
    responses: dict[int | str, dict[str, Any]]


def answered(
    status: int, body: type[ResponseModel] | None = None, *, dry_run: bool = True
) -> RouteAnswers:
    """Return the arguments of a route that begins an operation, for its decorator.

    Args:
        status: Of the answer when the operation is accepted.
        body: Of that answer; ``None`` if it has none.
        dry_run: Whether the route has dry runs.
    """
    accepted: dict[str, Any] = {"description": "Accepted", "headers": _HEADER_DOC}
    if body is not None:
        accepted["model"] = body
    answers: dict[int | str, dict[str, Any]] = {status: accepted}
    if dry_run:
        answers[OK] = {"model": DryRun, "description": "What would happen"}
    return RouteAnswers(status_code=status, response_class=Response, responses=answers)


def answer(outcome: Outcome | None, body: ResponseModel | None) -> Response:
    """Return the answer to a request; without a body it is a 204.

    Args:
        outcome: ``None`` when the request needed no operation.
    """
    if outcome and outcome.plan is not None:
        return planned(outcome.plan)
    headers = {OPERATION_HEADER: outcome.operation.uuid} if outcome else {}
    if body is None:
        return Response(status_code=NO_CONTENT, headers=headers)
    return JSONResponse(body.body(), ACCEPTED, headers=headers)


def reference(outcome: Outcome) -> Response:
    """Return the answer to an action that Magnum does not know."""
    operation = outcome.operation
    return answer(outcome, Accepted(uuid=operation.cluster_id, operation_id=operation.uuid))


def told(operation: Operation, message: str) -> Response:
    """Return the answer to a request about an operation, with what will happen."""
    return answer(
        Outcome(operation),
        OperationAnswer(uuid=operation.cluster_id, operation_id=operation.uuid, message=message),
    )


def planned(plan: Plan | None, changes: Mapping[str, str] | None = None) -> Response:
    """Return what a dry run found.

    Args:
        changes: What changes beside the operation.
    """
    found = {**(plan.changes if plan else {}), **(changes or {})}
    body = DryRun(plan=PlanBody.of(plan) if plan else None, changes=found)
    return JSONResponse(body.model_dump(mode="json"))
