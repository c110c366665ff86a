"""The service list (``mservices``) on the wire."""

from collections.abc import Sequence
from typing import Literal

from jeroboam.api.http.schemas.base import ResponseModel, Timestamp


class ServiceBody(ResponseModel):
    """One worker process, under the name that Magnum's clients expect."""

    id: int
    host: str
    binary: str
    state: Literal["up", "down"]
    report_count: int
    disabled: bool = False
    disabled_reason: str | None = None
    created_at: Timestamp
    updated_at: Timestamp | None


class ServiceList(ResponseModel):
    """All services."""

    mservices: Sequence[ServiceBody]
