"""Federations on the wire: the shape that Magnum accepts; there are none."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from jeroboam.api.http.schemas.base import (
    Ignored,
    ReadOnly,
    RequestModel,
    ResponseModel,
    ShortText,
    Text,
)
from jeroboam.api.http.schemas.cluster import ClusterName


class FederationCreate(RequestModel):
    """Body of ``POST /v1/federations``; Magnum wants a ``dns-zone`` among the properties."""

    name: ClusterName | None = None
    hostcluster_id: ShortText
    member_ids: Sequence[ShortText] | None = None
    properties: Annotated[Mapping[ShortText, Text], Field(min_length=1)]

    uuid: Ignored = None
    status: Ignored = None
    status_reason: Ignored = None
    links: ReadOnly = None
    project_id: ReadOnly = None
    created_at: ReadOnly = None
    updated_at: ReadOnly = None


class FederationList(ResponseModel):
    """A page of federations: always empty."""

    federations: Sequence[Any]
