"""Which clusters and which changes of living ones a swarm bears, and why not the others. Pure."""

from ipaddress import IPv4Network

from jeroboam.drivers.docker import checks as docker
from jeroboam.drivers.docker.checks import check_not_down, check_not_newer
from jeroboam.drivers.docker.plan import NETWORK_DRIVER
from jeroboam.drivers.nodes import moves
from jeroboam.drivers.nodes.moves import Planner
from jeroboam.drivers.swarm.labels import FIXED
from jeroboam.drivers.swarm.plan import RESERVED_PORTS, SwarmPlan
from jeroboam.errors import InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup
from jeroboam.models.cluster import MASTER

MOST_MANAGERS = 7
"""Docker's own advice: more managers only make the swarm slower."""


def check(planner: Planner, plan: SwarmPlan) -> None:
    """Refuse what cannot become a swarm.

    Raises:
        InvalidRequestError: With the field or label and what would be right.
    """
    docker.check(planner, plan, RESERVED_PORTS)
    _check_networks(plan)
    managers = plan.spec.masters.node_count
    if managers > 1 and not plan.spec.cluster.master_lb_enabled:
        raise InvalidRequestError(
            "Several managers need one address for all. Set master_lb_enabled, or master_count "
            "to 1."
        )
    _check_managers(managers)


def _check_networks(plan: SwarmPlan) -> None:
    pool = IPv4Network(plan.labels["swarm_address_pool"])
    nodes = IPv4Network(plan.labels["fixed_subnet_cidr"])
    if not plan.spec.cluster.fixed_network and pool.overlaps(nodes):
        raise InvalidRequestError(
            f"Labels swarm_address_pool ({pool}) and fixed_subnet_cidr ({nodes}) overlap. "
            "Choose networks that have no address in common."
        )
    length = plan.labels["swarm_address_pool_subnetlen"]
    if pool.prefixlen >= length:
        raise InvalidRequestError(
            f"Label swarm_address_pool_subnetlen is {length}, which is no part of "
            f"swarm_address_pool ({pool}). Use a larger number."
        )


def _check_managers(count: int) -> None:
    if count % 2 == 0 or count > MOST_MANAGERS:
        raise InvalidRequestError(
            f"A swarm decides by the majority of its managers, so {count} are no better than "
            f"{min(count - 1, MOST_MANAGERS)}. Choose 1, 3, 5 or {MOST_MANAGERS} managers."
        )


def check_resize(spec: ClusterSpec, group: NodeGroup, node_count: int) -> None:
    """Refuse sizes of the control plane that the managers' majority could not bear.

    Raises:
        InvalidRequestError: With what is possible.
    """
    if group.role != MASTER:
        return
    if node_count < group.node_count:
        raise InvalidRequestError(
            f"The control plane cannot shrink from {group.node_count} to {node_count} managers: "
            "the swarm counts managers that are gone when it looks for a majority. Demote and "
            "remove them with docker and build a new cluster to get fewer."
        )
    _check_managers(node_count)
    if node_count > 1 and not spec.cluster.master_lb_enabled:
        raise InvalidRequestError(
            "Several managers need a load balancer, and this cluster was built without one. Build "
            "a new cluster with master_lb_enabled."
        )


def check_upgrade(planner: Planner, spec: ClusterSpec, target: ClusterSpec) -> None:
    """Refuse a move that would break the swarm or that nobody would carry out.

    Raises:
        InvalidRequestError: With what stands in the way and what is possible.
    """
    moves.check_kind(spec, target, NETWORK_DRIVER)
    moves.check_fixed_labels(planner, spec, target, FIXED)
    before = {group.uuid: group for group in spec.node_groups}
    for group in target.node_groups:
        if group.uuid in before:
            old, new = planner(spec, before[group.uuid]), planner(target, group)
            check_not_down("Docker", group, old.coe_version, new.coe_version)
    check_not_newer(planner, target, "Docker", "managers")
    if moves.masters_move(spec, target):
        check_managers_can_be_replaced(target, "Upgrading")


def check_managers_can_be_replaced(spec: ClusterSpec, what: str) -> None:
    """Refuse to set managers up anew where that would lose the swarm's state.

    Args:
        what: The beginning of the message, as ``Upgrading``.

    Raises:
        InvalidRequestError: With what to do instead.
    """
    managers = spec.masters
    if managers.node_count == 1 and not managers.docker_volume_size:
        raise InvalidRequestError(
            f"{what} the only manager would lose the state of the swarm, which Docker keeps on "
            "the manager's own disk. Resize the managers to 3 first (with a load balancer), or "
            "build clusters with docker_volume_size."
        )
