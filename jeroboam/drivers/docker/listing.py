"""How much of a list is wanted: an answer has to go through Temporal, which takes 2 MB."""

from pydantic import Field

from jeroboam.models import Model


class AtMost(Model):
    """How much is wanted.

    Args:
        limit: The most that are returned.
    """

    limit: int = Field(default=100, ge=1, le=1000)
