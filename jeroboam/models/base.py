"""What all models have in common."""

from datetime import UTC, datetime
from uuid import uuid4

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value; change one with ``model_copy(update=...)``."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def new_uuid() -> str:
    """Return a random UUID in its canonical text form."""
    return str(uuid4())


def utc_now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)
