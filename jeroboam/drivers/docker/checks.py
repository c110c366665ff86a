"""Checks that hold for all clusters whose nodes run Docker. Pure."""

import re
from collections.abc import Collection

from jeroboam.drivers.docker import labels
from jeroboam.drivers.docker.plan import DockerPlan
from jeroboam.drivers.nodes import checks, moves
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

_DIGITS = re.compile(r"\d+")


def check(
    planner: moves.Planner,
    plan: DockerPlan,
    reserved: Collection[int],
    of_groups: Collection[str] = labels.OF_GROUPS,
) -> None:
    """Refuse what cannot become a cluster.

    Args:
        reserved: Ports that the API cannot have.
        of_groups: The labels that a group may have otherwise than its cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    spec = plan.spec
    checks.check_where(plan)
    checks.check_unsupported(spec.template, "Docker")
    checks.check_texts(spec.template)
    checks.check_flavors(spec)
    for group in spec.node_groups:
        if group.role == MASTER or group.is_default:
            planner(spec, group)
        else:
            check_node_group(planner, spec, group, of_groups)
    if plan.api_port in reserved:
        raise InvalidRequestError(
            f"apiserver_port is {plan.api_port}, which the nodes use themselves. "
            "Choose another one, or none."
        )


def check_node_group(
    planner: moves.Planner,
    spec: ClusterSpec,
    group: NodeGroup,
    of_groups: Collection[str] = labels.OF_GROUPS,
) -> None:
    """Refuse a group that cannot be a part of the cluster.

    Args:
        of_groups: The labels that a group may have otherwise than its cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    moves.check_node_group(planner, spec, group, of_groups)
    if group.node_taints:
        raise InvalidRequestError(
            f"Node group {group.name} has node_taints, which only Kubernetes knows. Use "
            "node_labels and the constraints of your services."
        )


def check_not_down(what: str, group: NodeGroup, old: str, new: str) -> None:
    """Refuse a version that is lower than what a group's nodes have.

    Args:
        what: The program, for the message.

    Raises:
        InvalidRequestError: With both versions.
    """
    if version_key(new) < version_key(old):
        raise InvalidRequestError(
            f"Node group {group.name} has {what} {old} and cannot go down to {new}. "
            f"Possible are {old} and later."
        )


def check_not_newer(planner: moves.Planner, target: ClusterSpec, what: str, masters: str) -> None:
    """Refuse groups whose version would be higher than the control plane's.

    Args:
        what: The program, for the message.
        masters: What the nodes of the control plane are called.

    Raises:
        InvalidRequestError: With the group and both versions.
    """
    highest = planner(target, target.masters).coe_version
    for group in target.workers:
        version = planner(target, group).coe_version
        if version_key(version) > version_key(highest):
            raise InvalidRequestError(
                f"Node group {group.name} would have {what} {version}, newer than the {masters}' "
                f"{highest}. Upgrade the {masters} first."
            )


def version_key(text: str) -> tuple[int, ...]:
    """Return the numbers of a version in an order that can be compared."""
    return tuple(int(number) for number in _DIGITS.findall(text)[:3])
