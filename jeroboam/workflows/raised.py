"""What a failed run tells of the error that an activity of it raised."""

from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from jeroboam import errors


def raised_by(failure: WorkflowFailureError) -> errors.JeroboamError | None:
    """Return the error that an activity raised; ``None`` if the run ended otherwise."""
    cause: BaseException | None = failure.cause
    if isinstance(cause, ActivityError):
        cause = cause.cause
    if not isinstance(cause, ApplicationError):
        return None
    kind = getattr(errors, cause.type or "", None)
    if isinstance(kind, type) and issubclass(kind, errors.JeroboamError):
        # Some classes take other arguments; those that drivers may raise take a message.
        try:
            return kind(cause.message)
        except TypeError:
            return errors.JeroboamError(cause.message)
    return errors.JeroboamError(cause.message)
