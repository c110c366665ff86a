"""Errors on the wire, for the description of the API; ``errors.py`` writes them."""

from collections.abc import Sequence
from typing import Any

from jeroboam.api.http.schemas.base import ResponseModel


class OperationAtWork(ResponseModel):
    """The operation that holds a cluster."""

    uuid: str
    kind: str
    step: str | None


class ErrorBody(ResponseModel):
    """One error, as Magnum's clients read it.

    ``operation`` is set where another operation holds the cluster. The refusal of a microversion
    has a ``description`` and the range instead of ``status`` and ``detail``.
    """

    code: str
    title: str
    links: Sequence[Any]
    request_id: str | None = None
    status: int | None = None
    detail: str | None = None
    operation: OperationAtWork | None = None
    description: str | None = None
    min_version: str | None = None
    max_version: str | None = None


class ErrorList(ResponseModel):
    """The body of every answer that is an error; the list has one element."""

    errors: Sequence[ErrorBody]
