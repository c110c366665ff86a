"""Cluster templates on the wire."""

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import (
    Ignored,
    Labels,
    Link,
    Positive,
    ReadOnly,
    RequestModel,
    ResponseModel,
    ShortText,
    Text,
    Timestamp,
)
from jeroboam.models import ClusterTemplate


def _check_addresses(text: str) -> str:
    for address in text.split(","):
        try:
            ipaddress.IPv4Address(address.strip())
        except ValueError:
            raise ValueError(
                "Expected a single dns address or comma separated dns list of IPv4 addresses"
            ) from None
    return text


NameServers = Annotated[ShortText, AfterValidator(_check_addresses)]
Tags = Annotated[Text, StringConstraints(max_length=255)]
ServerPort = Annotated[int, Field(ge=1024, le=65535)]


class ClusterTemplateAttributes(RequestModel):
    """All that a tenant may say about a template; also what a patch must result in.

    ``None`` and absent mean the same: the default.
    """

    name: ShortText | None = None
    coe: ShortText
    image_id: ShortText
    flavor_id: ShortText | None = None
    master_flavor_id: ShortText | None = None
    dns_nameserver: NameServers | None = "8.8.8.8"
    keypair_id: ShortText | None = None
    external_network_id: ShortText | None = None
    fixed_network: ShortText | None = None
    fixed_subnet: ShortText | None = None
    network_driver: ShortText | None = None
    apiserver_port: ServerPort | None = None
    docker_volume_size: Positive | None = None
    cluster_distro: ShortText | None = None
    http_proxy: ShortText | None = None
    https_proxy: ShortText | None = None
    no_proxy: ShortText | None = None
    volume_driver: ShortText | None = None
    registry_enabled: bool | None = None
    labels: Labels = Field(default_factory=dict)
    tls_disabled: bool | None = None
    public: bool | None = None
    server_type: Literal["vm", "bm"] | None = None
    insecure_registry: ShortText | None = None
    docker_storage_driver: ShortText | None = None
    master_lb_enabled: bool | None = None
    floating_ip_enabled: bool | None = None
    hidden: bool | None = None
    tags: Tags | None = None
    driver: ShortText | None = None


class ClusterTemplateCreate(ClusterTemplateAttributes):
    """Body of ``POST /v1/clustertemplates``."""

    uuid: Ignored = None
    links: ReadOnly = None
    project_id: ReadOnly = None
    user_id: ReadOnly = None
    created_at: ReadOnly = None
    updated_at: ReadOnly = None


class ClusterTemplateBody(ResponseModel):
    """A template as clients see it, in lists too."""

    uuid: str
    name: str
    coe: str
    image_id: str
    flavor_id: str | None
    master_flavor_id: str | None
    dns_nameserver: str | None
    keypair_id: str | None
    external_network_id: str | None
    fixed_network: str | None
    fixed_subnet: str | None
    network_driver: str | None
    apiserver_port: int | None
    docker_volume_size: int | None
    cluster_distro: str | None
    links: list[Link]
    http_proxy: str | None
    https_proxy: str | None
    no_proxy: str | None
    volume_driver: str | None
    registry_enabled: bool
    labels: Mapping[str, str]
    tls_disabled: bool
    public: bool
    server_type: str
    insecure_registry: str | None
    docker_storage_driver: str | None
    master_lb_enabled: bool
    floating_ip_enabled: bool
    project_id: str
    user_id: str
    hidden: bool
    tags: str | None
    driver: str | None
    created_at: Timestamp
    updated_at: Timestamp | None

    @classmethod
    def of(cls, template: ClusterTemplate, links: Links) -> "ClusterTemplateBody":
        """Return the body of a template."""
        return cls(**template.model_dump(), links=links.resource("clustertemplates", template.uuid))


class ClusterTemplateList(ResponseModel):
    """A page of templates."""

    clustertemplates: Sequence[ClusterTemplateBody]
    next: str | None = None
