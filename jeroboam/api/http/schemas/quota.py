"""Quotas and statistics on the wire."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from jeroboam.api.http.schemas.base import (
    Count,
    Ignored,
    RequestModel,
    ResponseModel,
    ShortText,
    Timestamp,
)
from jeroboam.models.quota import Quota, QuotaResource

MAGNUM_DEFAULT = 1
"""The limit of a new quota that names none, as in Magnum."""


class QuotaCreate(RequestModel):
    """Body of ``POST /v1/quotas``."""

    project_id: ShortText
    resource: QuotaResource = QuotaResource.CLUSTER
    hard_limit: Count = MAGNUM_DEFAULT

    id: Ignored = None
    created_at: Ignored = None
    updated_at: Ignored = None


class QuotaChange(RequestModel):
    """Body of ``PATCH /v1/quotas/{project_id}/{resource}``: a plain object, no JSON patch.

    Magnum's client repeats project and resource; those of the path count.
    """

    hard_limit: Count

    id: Ignored = None
    project_id: Ignored = None
    resource: Ignored = None
    created_at: Ignored = None
    updated_at: Ignored = None


class QuotaBody(ResponseModel):
    """A quota; without ``id`` and times it is what holds by the operator's settings.

    ``hard_limit`` is null where there is no limit, which Magnum's own resource always has.
    """

    id: int | None = None
    project_id: str
    resource: QuotaResource
    hard_limit: int | None
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None

    @classmethod
    def of(cls, quota: Quota) -> "QuotaBody":
        """Return a quota that was set."""
        return cls(**quota.model_dump())


class QuotaList(ResponseModel):
    """A page of quotas."""

    quotas: Sequence[QuotaBody]
    next: str | None = None


class StatsBody(ResponseModel):
    """Numbers of clusters, and of their nodes, control planes included."""

    clusters: Annotated[int, Field(ge=0)]
    nodes: Annotated[int, Field(ge=0)]
