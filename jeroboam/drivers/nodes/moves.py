"""Which changes of a living cluster no COE on Heat can bear. Pure."""

from collections.abc import Collection
from typing import Protocol

from jeroboam.drivers.nodes.plan import NodePlan
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

_FIXED_FIELDS = ("coe", "server_type", "cluster_distro", "apiserver_port", "external_network_id")


class Planner(Protocol):
    """Reads clusters as one driver does."""

    def __call__(self, spec: ClusterSpec, group: NodeGroup | None = None) -> NodePlan:
        """Return the plan of a cluster, or of one group's nodes."""


def check_kind(spec: ClusterSpec, target: ClusterSpec, network_driver: str) -> None:
    """Refuse another kind of cluster, or one that lies elsewhere.

    Args:
        network_driver: What a template that names none means.

    Raises:
        InvalidRequestError: With the field.
    """
    old, new = spec.template, target.template
    pairs = [(field, getattr(old, field), getattr(new, field)) for field in _FIXED_FIELDS]
    drivers = [one.network_driver or network_driver for one in (old, new)]
    for field, was, will in (*pairs, ("network_driver", *drivers)):
        if was != will:
            raise InvalidRequestError(
                f"{field} is {shown(was)} and would become {shown(will)}, which an upgrade "
                "cannot change. Choose a template that has the same."
            )


def check_fixed_labels(
    plan: Planner, spec: ClusterSpec, target: ClusterSpec, fixed: Collection[str]
) -> None:
    """Refuse other values of labels that only count when a cluster is built.

    Raises:
        InvalidRequestError: With the label.
    """
    old, new = plan(spec).labels, plan(target).labels
    for name in fixed:
        if old[name] != new[name]:
            raise InvalidRequestError(
                f"Label {name} is {shown(old[name])} and would become {shown(new[name])}, which "
                "an upgrade cannot change. Choose a template that has the same."
            )


def check_node_group(
    plan: Planner, spec: ClusterSpec, group: NodeGroup, of_groups: Collection[str]
) -> None:
    """Refuse a group that cannot be a part of the cluster.

    Args:
        of_groups: The labels that a group may have otherwise than its cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    if group.role == MASTER:
        raise InvalidRequestError(
            "The control plane is one group. Resize the default group of masters instead."
        )
    if not group.flavor_id:
        raise InvalidRequestError(f"Node group {group.name} has no flavor. Set flavor_id.")
    mine, theirs = plan(spec, group).labels, plan(spec).labels
    for name in mine:
        if name not in of_groups and mine[name] != theirs[name]:
            raise InvalidRequestError(
                f"Label {name} holds for the whole cluster ({shown(theirs[name])}) and cannot "
                f"be {shown(mine[name])} in the node group {group.name}. Leave it out."
            )


def moves(old: NodeGroup, new: NodeGroup) -> bool:
    """Whether a group's nodes have to be set up anew."""
    return old.image_id != new.image_id or dict(old.labels) != dict(new.labels)


def masters_move(spec: ClusterSpec, target: ClusterSpec) -> bool:
    """Whether the control plane has to be set up anew; other files may ask for it as well."""
    other_files = spec.cluster.driver_files != target.cluster.driver_files
    return other_files or moves(spec.masters, target.masters)


def shown(value: object) -> str:
    """Return a value as messages show it."""
    return "not set" if value in {None, ""} else f"'{value}'"
