"""Federations on the wire: the shape that Magnum accepts; there are none."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field

from jeroboam.api.http.schemas.base import (
    Ignored,
    Link,
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


class FederationBody(ResponseModel):
    """A federation as Magnum shows it; no answer has one yet."""

    uuid: str
    name: str
    hostcluster_id: str
    member_ids: Sequence[str]
    status: str | None
    status_reason: str | None
    properties: Mapping[str, str]
    links: Sequence[Link]


class FederationReference(ResponseModel):
    """What Magnum answers to a request that it accepts; no answer is one yet."""

    uuid: str


class FederationList(ResponseModel):
    """A page of federations: always empty."""

    federations: Sequence[FederationBody]
