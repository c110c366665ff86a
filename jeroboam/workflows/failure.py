"""What to tell people when an activity has failed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from temporalio import workflow
from temporalio.exceptions import (
    ActivityError,
    ApplicationError,
    TimeoutError,  # noqa: A004 - the SDK's, and the only one meant here
)

with workflow.unsafe.imports_passed_through():
    from jeroboam.models import Action, Plan

MAXIMUM_REASON = 3500
"""Characters; Temporal truncates failures of more than 4 KB."""


@dataclass(frozen=True)
class Failure:
    """A failure in words for the user.

    Args:
        faults: Evidence by resource.
    """

    reason: str
    faults: Mapping[str, str] = field(default_factory=dict)


def describe(error: ActivityError, plan: Plan | None, step: str | None) -> Failure:
    """Return the failure behind an activity's error."""
    cause: BaseException | None = error.cause
    if isinstance(cause, TimeoutError):
        return _timed_out(cause, plan, step)
    if isinstance(cause, ApplicationError):
        faults = cause.details[0] if cause.details else {}
        return Failure(
            reason=cause.message[:MAXIMUM_REASON],
            faults=faults if isinstance(faults, dict) else {},
        )
    return Failure(reason=str(cause or error)[:MAXIMUM_REASON])


def _timed_out(cause: TimeoutError, plan: Plan | None, step: str | None) -> Failure:
    last = cause.cause
    because = f" Last error: {last.message}" if isinstance(last, ApplicationError) else ""
    return Failure(reason=f"'{step or 'Plan'}' did not end in time.{_allowed(plan, step)}{because}")


def _allowed(plan: Plan | None, step: str | None) -> str:
    """Return how much time there was: the step's own, where it has one, or the operation's."""
    if plan is None:
        return ""
    named = next((one for one in plan.steps if one.name == step), None)
    # A hook that uses up its own time says so itself; what ends its step is the deadline.
    if named and named.timeout_seconds is not None and named.action is not Action.RUN_HOOK:
        return f" It had {named.timeout_seconds} seconds."
    return f" The {plan.kind.words} had {plan.deadline_seconds // 60} minutes in all."
