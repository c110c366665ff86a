"""Imports of clusters on the wire."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field, StringConstraints

from jeroboam.api.http.links import Links
from jeroboam.api.http.schemas.base import Link, RequestModel, ResponseModel, ShortText
from jeroboam.api.http.schemas.cluster import ClusterName
from jeroboam.drivers.importing import Survey
from jeroboam.models import NodeGroup
from jeroboam.models.cluster import MASTER

LONGEST_PEM = 20_000
MOST_GROUPS = 50

Pem = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_PEM)]


class AuthorityBody(RequestModel):
    """A certificate authority of a cluster, in PEM; the key unencrypted."""

    certificate: Pem
    private_key: Pem


class KeysBody(RequestModel):
    """The keys of a cluster; what is left out stays unknown to the service."""

    kubernetes: AuthorityBody
    etcd: AuthorityBody | None = None
    front_proxy: AuthorityBody | None = None


class ClusterImport(RequestModel):
    """Body of ``POST /v1/clusters/import``.

    ``stack_id`` is the id or name of the Heat stack. ``cluster_template`` names a template of the
    project in place of one that is made from the stack. ``node_groups`` names stacks of node groups
    that are not found by themselves.
    """

    stack_id: ShortText
    name: ClusterName | None = None
    cluster_template: ShortText | None = None
    node_groups: Annotated[Sequence[ShortText], Field(max_length=MOST_GROUPS)] = ()
    driver: ShortText | None = None
    keys: KeysBody | None = None


class FindingBody(ResponseModel):
    """One thing that was looked for; ``complete`` says whether nothing of it is missing."""

    what: str
    found: str
    complete: bool


class ImportedNodeBody(ResponseModel):
    """One node of a node group."""

    name: str
    id: str
    status: str
    addresses: Sequence[str]


class ImportedGroupBody(ResponseModel):
    """One node group."""

    name: str
    role: str
    is_default: bool
    node_count: int
    flavor_id: str | None
    stack_id: str | None
    nodes: Sequence[ImportedNodeBody]


class ImportReport(ResponseModel):
    """What was recognised of a cluster.

    ``imported`` is false for a dry run. ``obstacles`` say why the cluster cannot be imported now.
    ``operations`` tells of each operation what is missing for it, or null if it is possible.
    """

    imported: bool
    uuid: str
    name: str
    project_id: str
    coe: str
    status: str
    stack_id: str | None
    api_address: str | None
    cluster_template_id: str | None
    labels: Mapping[str, str]
    node_count: int
    master_count: int
    node_groups: Sequence[ImportedGroupBody]
    findings: Sequence[FindingBody]
    operations: Mapping[str, str | None]
    obstacles: Sequence[str]
    links: Sequence[Link]

    @classmethod
    def of(cls, survey: Survey, links: Links, *, imported: bool) -> "ImportReport":
        """Return the report of a survey.

        Args:
            imported: Whether the cluster has become a record.
        """
        spec, cluster = survey.spec, survey.spec.cluster
        counts = {True: 0, False: 0}
        for group in spec.node_groups:
            counts[group.role == MASTER] += group.node_count
        return cls(
            imported=imported,
            uuid=cluster.uuid,
            name=cluster.name,
            project_id=cluster.project_id,
            coe=spec.template.coe,
            status=cluster.status,
            stack_id=cluster.stack_id,
            api_address=cluster.api_address,
            cluster_template_id=cluster.cluster_template_id if imported else None,
            labels=cluster.labels,
            node_count=counts[False],
            master_count=counts[True],
            node_groups=[_group(one) for one in spec.node_groups],
            findings=[FindingBody(**one.model_dump()) for one in survey.findings],
            operations=survey.operations,
            obstacles=survey.obstacles,
            links=links.resource("clusters", cluster.uuid) if imported else [],
        )


def _group(group: NodeGroup) -> ImportedGroupBody:
    nodes = [
        ImportedNodeBody(name=one.name, id=one.id, status=one.status, addresses=one.addresses)
        for one in group.nodes
    ]
    fields = group.model_dump(include=set(ImportedGroupBody.model_fields) - {"nodes"})
    return ImportedGroupBody(**fields, nodes=nodes)
