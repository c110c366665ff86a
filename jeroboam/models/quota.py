"""Quotas: how much of what a project may have, and what an operation adds to it. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from pydantic import Field

from jeroboam.models.base import Model, utc_now
from jeroboam.models.kind import OperationKind
from jeroboam.models.operation import Operation


class QuotaResource(StrEnum):
    """What can be limited. Magnum has clusters alone, and this word for them."""

    CLUSTER = "Cluster"
    NODE = "Node"
    CORE = "Core"
    OPERATION = "Operation"


Amounts: TypeAlias = Mapping[QuotaResource, int]
"""So much of each; as limits, what is missing is not limited."""

REMOVALS = frozenset({OperationKind.DELETE, OperationKind.FORCE_DELETE})
"""These are never refused for the number of operations: they are the way out of a full quota."""


class Quota(Model):
    """The limit that an operator has set for a project.

    Args:
        id: The number of the row; the marker of lists.
    """

    id: int | None = None
    project_id: str
    resource: QuotaResource = QuotaResource.CLUSTER
    hard_limit: int
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime | None = None


class GroupSize(Model):
    """What quotas know of a node group.

    Args:
        vcpus: CPUs of one node; ``None``, where the flavor is not known, counts as none.
    """

    uuid: str
    name: str
    cluster_id: str
    node_count: int
    vcpus: int | None = None


def total(groups: Iterable[GroupSize]) -> Amounts:
    """Return the nodes and cores of node groups."""
    nodes = cores = 0
    for group in groups:
        nodes += group.node_count
        cores += group.node_count * (group.vcpus or 0)
    return {QuotaResource.NODE: nodes, QuotaResource.CORE: cores}


def growth(operation: Operation, recorded: Sequence[GroupSize]) -> Amounts:
    """Return what an operation needs beyond the record of its cluster.

    Nodes that go are not counted before they are gone: the operation may fail.

    Args:
        recorded: Node groups, those of the operation's cluster among them.
    """
    nodes = cores = 0
    mine = [group for group in recorded if group.cluster_id == operation.cluster_id]
    for wanted in _sizes(operation, mine):
        before = next((group.node_count for group in mine if group.uuid == wanted.uuid), 0)
        more = max(0, wanted.node_count - before)
        nodes += more
        cores += more * (wanted.vcpus or 0)
    return {QuotaResource.NODE: nodes, QuotaResource.CORE: cores}


def _sizes(operation: Operation, groups: Sequence[GroupSize]) -> Iterator[GroupSize]:
    """Yield the node groups that an operation gives a size, with that size."""
    parameters = operation.parameters
    if operation.kind in {OperationKind.UPDATE, OperationKind.RESIZE}:
        for group in groups:
            if parameters.node_group in {group.uuid, group.name}:
                count = parameters.node_count
                yield group.model_copy(
                    update={"node_count": group.node_count if count is None else count}
                )
    elif parameters.group is not None:
        yield GroupSize.model_validate(
            parameters.group.model_dump(include=set(GroupSize.model_fields))
        )


def refusal(resource: QuotaResource, limit: int, used: int, wanted: int) -> str | None:
    """Return why so much more of a resource is too much, with what to do; ``None`` if it is not.

    Of clusters Magnum's own sentence, which scripts look for.
    """
    if wanted <= 0 or used + wanted <= limit:
        return None
    if resource is QuotaResource.CLUSTER:
        return (
            f"Resource limit exceeded: You have reached the maximum clusters per project, {limit}. "
            "You may delete a cluster to make room for a new one."
        )
    if resource is QuotaResource.OPERATION:
        return (
            f"Resource limit exceeded: {used} operations of your project are at work, and {limit} "
            "may be. Wait until one has ended, or ask your operator for more."
        )
    return (
        f"Resource limit exceeded: Your project may have {limit} {resource.lower()}s in its "
        f"clusters; it has {used}, and this needs {wanted} more. Make other clusters smaller, or "
        "ask your operator for more."
    )
