"""What all models have in common."""

from datetime import UTC, datetime
from typing import Any, Self
from uuid import uuid4

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from jeroboam.errors import InvalidRequestError


class Model(BaseModel):
    """A frozen value; change one with ``model_copy(update=...)``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RunInput(Model):
    """The input of a workflow, which somebody may start by hand.

    What does not fit is an error of ours: it ends the run. An error of pydantic would have Temporal
    try again for ever.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _refuse(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            raise InvalidRequestError(
                f"This is no input of this workflow: {where or 'it'}: {first['msg']}."
            ) from None


def new_uuid() -> str:
    """Return a random UUID in its canonical text form."""
    return str(uuid4())


def utc_now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)
