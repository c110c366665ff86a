"""Which clusters and which changes of living ones Mesos bears, and why not the others. Pure."""

import re

from jeroboam.drivers.docker import checks as docker
from jeroboam.drivers.docker.checks import check_not_down, check_not_newer, version_key
from jeroboam.drivers.docker.plan import NETWORK_DRIVER
from jeroboam.drivers.mesos.labels import FIXED, OF_GROUPS
from jeroboam.drivers.mesos.plan import RESERVED_PORTS, MesosPlan
from jeroboam.drivers.nodes import moves
from jeroboam.drivers.nodes.moves import Planner
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

MASTER_COUNTS = (1, 3, 5)
MINORS_AT_ONCE = 1

_ATTRIBUTE = re.compile(r"[\w./-]+")


def check(planner: Planner, plan: MesosPlan) -> None:
    """Refuse what cannot become a cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    docker.check(planner, plan, RESERVED_PORTS, OF_GROUPS)
    count = plan.spec.masters.node_count
    if count not in MASTER_COUNTS:
        raise InvalidRequestError(
            f"A cluster of Mesos has 1, 3 or 5 masters, not {count}: more of them decide by their "
            "majority. Set master_count."
        )
    for group in plan.spec.node_groups:
        check_attributes(group)


def check_node_group(planner: Planner, spec: ClusterSpec, group: NodeGroup) -> None:
    """Refuse a group that cannot be a part of the cluster.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    docker.check_node_group(planner, spec, group, OF_GROUPS)
    check_attributes(group)


def check_attributes(group: NodeGroup) -> None:
    """Refuse node labels that are no attributes of an agent.

    Raises:
        InvalidRequestError: With the label.
    """
    for name, value in group.node_labels.items():
        if not (_ATTRIBUTE.fullmatch(name) and _ATTRIBUTE.fullmatch(value)):
            raise InvalidRequestError(
                f"Node label '{name}={value}' of the group {group.name} cannot be an attribute of "
                "Mesos. Use letters, digits and ._/- in name and value."
            )


def check_resize(group: NodeGroup) -> None:
    """Refuse another number of masters.

    Raises:
        InvalidRequestError: With the reason.
    """
    if group.role == MASTER:
        raise InvalidRequestError(
            "The number of masters of a Mesos cluster is fixed: every node knows all of them, and "
            "ZooKeeper's ensemble and the quorum are made for that number. Build a new cluster to "
            "get another one."
        )


def check_upgrade(planner: Planner, spec: ClusterSpec, target: ClusterSpec) -> None:
    """Refuse a move that would break the cluster or that nobody would carry out.

    Raises:
        InvalidRequestError: With what stands in the way and what is possible.
    """
    moves.check_kind(spec, target, NETWORK_DRIVER)
    moves.check_fixed_labels(planner, spec, target, FIXED)
    before = {group.uuid: group for group in spec.node_groups}
    for group in target.node_groups:
        if group.uuid in before:
            old, new = planner(spec, before[group.uuid]), planner(target, group)
            _check_step(group, old.coe_version, new.coe_version)
            for name in ("docker_version", "marathon_tag", "zookeeper_tag"):
                what = name.partition("_")[0].capitalize()
                check_not_down(what, group, str(old.labels[name]), str(new.labels[name]))
    check_not_newer(planner, target, "Mesos", "masters")
    if moves.masters_move(spec, target):
        check_masters_can_be_replaced(target, "Upgrading")


def _check_step(group: NodeGroup, old: str, new: str) -> None:
    """Mesos promises that neighbouring minor versions understand each other."""
    check_not_down("Mesos", group, old, new)
    (major, minor, *_), (new_major, new_minor, *_) = version_key(old), version_key(new)
    if new_major != major or new_minor > minor + MINORS_AT_ONCE:
        raise InvalidRequestError(
            f"Node group {group.name} has Mesos {old} and cannot go to {new} in one step, because "
            f"no minor version may be left out. Possible are {old} or later of {major}.{minor}, "
            f"and {major}.{minor + 1}."
        )


def check_masters_can_be_replaced(spec: ClusterSpec, what: str) -> None:
    """Refuse to set masters up anew where that would lose the cluster's state.

    Args:
        what: The beginning of the message, as ``Upgrading``.

    Raises:
        InvalidRequestError: With what to do instead.
    """
    masters = spec.masters
    if masters.node_count == 1 and not masters.docker_volume_size:
        raise InvalidRequestError(
            f"{what} the only master would lose the state of the cluster, because ZooKeeper and "
            "Mesos keep it on the master's own disk. Build clusters with docker_volume_size or "
            "with 3 masters."
        )
