"""Which stack a node group lives in, and how its parameters are called there. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeroboam.drivers.heat.stacks import stack_name, stack_tags
from jeroboam.models import Cluster, ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

_READABLE, _ID = 20, 12


@dataclass(frozen=True)
class Placement:
    """The place of one node group.

    Args:
        name: Name that the stack always has.
        stack_id: Id of the stack as far as it was stored.
        prefix: Beginning of the group's parameters; empty in a stack of its own.
        group: uuid of the group if the stack is its own.
    """

    cluster: Cluster
    name: str
    stack_id: str | None
    prefix: str
    group: str | None = None

    def parameters(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under the names that they have in the stack."""
        return {f"{self.prefix}{name}": value for name, value in values.items()}

    def read(self, parameters: Mapping[str, str], name: str) -> str:
        """Return one parameter of the group out of the stack's record."""
        return str(parameters.get(f"{self.prefix}{name}") or "")

    def tags(self, idempotency_key: str) -> str:
        """Return the stack's tags in Heat's form."""
        return ",".join(stack_tags(self.cluster, idempotency_key, self.group))


def cluster_stack(spec: ClusterSpec, prefix: str = "") -> Placement:
    """Return the place of all that has no stack of its own."""
    return Placement(spec.cluster, stack_name(spec.cluster), spec.cluster.stack_id, prefix)


def place(spec: ClusterSpec, group: NodeGroup) -> Placement:
    """Return the place of a group: the default ones are parts of the cluster's stack."""
    if group.role == MASTER:
        return cluster_stack(spec, "master_")
    if group.is_default:
        return cluster_stack(spec, "worker_")
    return Placement(
        spec.cluster, group_stack_name(spec.cluster, group), group.stack_id, "", group.uuid
    )


def group_stack_name(cluster: Cluster, group: NodeGroup) -> str:
    """Return the name of a group's own stack; it holds the short ids of both."""
    readable = "".join(char if char.isalnum() else "-" for char in group.name)[:_READABLE]
    short = group.uuid.replace("-", "")[:_ID]
    return f"{stack_name(cluster)}-{readable}-{short}"
