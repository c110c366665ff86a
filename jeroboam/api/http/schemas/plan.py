"""The plan of an operation on the wire: what a dry run answers with, and part of a record."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from jeroboam.api.http.schemas.base import ResponseModel
from jeroboam.models import Plan, PlanStep


class PlanStepBody(ResponseModel):
    """One step; ``undo`` names the steps that undo it."""

    name: str
    action: str
    timeout_seconds: int | None
    on_failure: str
    undo: Sequence[str]

    @classmethod
    def of(cls, step: PlanStep) -> "PlanStepBody":
        """Return the body of a step."""
        return cls(
            name=step.name,
            action=step.action,
            timeout_seconds=step.timeout_seconds,
            on_failure=step.on_failure,
            undo=[undoing.name for undoing in step.undo],
        )


class PlanHookBody(ResponseModel):
    """One hook of the plan; ``step`` is the step that runs it."""

    step: str
    phase: str
    source: str
    name: str | None
    timeout_seconds: int | None
    on_failure: str


class PlanBody(ResponseModel):
    """What an operation does, in order.

    ``hooks`` are those of all phases; those before and after are among the steps as well.
    """

    driver: str
    driver_version: str
    deadline_seconds: int
    rollback: bool
    steps: Sequence[PlanStepBody]
    hooks: Sequence[PlanHookBody]

    @classmethod
    def of(cls, plan: Plan) -> "PlanBody":
        """Return the body of a plan."""
        return cls(
            driver=plan.driver,
            driver_version=plan.driver_version,
            deadline_seconds=plan.deadline_seconds,
            rollback=plan.rollback,
            steps=[PlanStepBody.of(step) for step in plan.steps],
            hooks=list(_hooks(plan)),
        )


class DryRun(ResponseModel):
    """The answer to ``?dry_run=true``: what would happen; nothing was written.

    ``plan`` is null where the request needs no operation.
    """

    dry_run: Literal[True] = True
    plan: PlanBody | None
    changes: Mapping[str, str]


def _hooks(plan: Plan) -> Iterator[PlanHookBody]:
    for step in (*plan.steps, *plan.on_failure):
        if step.hook is not None:
            yield PlanHookBody(
                step=step.name,
                phase=step.hook.phase,
                source=step.hook.source,
                name=step.hook.name,
                timeout_seconds=step.timeout_seconds,
                on_failure=step.on_failure,
            )
