"""Changes of stacks whose template is Magnum's and stays as it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from jeroboam.drivers.base import DriverContext
from jeroboam.drivers.heat import submission
from jeroboam.drivers.heat.phases import StackState
from jeroboam.drivers.heat.placement import Placement
from jeroboam.drivers.heat.stacks import Stacks
from jeroboam.drivers.heat.tags import TAG
from jeroboam.drivers.magnum_heat_v1 import families
from jeroboam.drivers.magnum_heat_v1.records import Member, members
from jeroboam.errors import CloudUnavailableError, InvalidRequestError, NotFoundError
from jeroboam.models import ClusterSpec, Node, NodeGroup


@dataclass(frozen=True)
class ImportedPlace(Placement):
    """The place of a node group, in a stack that may bear tags of others.

    Args:
        kept: Tags that are not Jeroboam's.
    """

    kept: tuple[str, ...] = ()

    def tags(self, idempotency_key: str) -> str:
        """Return Jeroboam's tags beside those that the stack had."""
        return ",".join((super().tags(idempotency_key), *self.kept))


def place(spec: ClusterSpec, group: NodeGroup, found: StackState) -> ImportedPlace:
    """Return the place of a group; parameters have their full names there."""
    cluster = spec.cluster
    own = group.uuid if found.id != cluster.stack_id else None
    kept = tuple(tag for tag in found.tags if not _is_ours(tag, cluster.uuid))
    return ImportedPlace(cluster, found.name, found.id, "", own, kept)


def resize(
    context: DriverContext,
    spec: ClusterSpec,
    group: NodeGroup,
    nodes_to_remove: Sequence[Node],
    timeout_minutes: int,
) -> None:
    """Submit another number of workers, as Magnum did; a call that has arrived does nothing."""
    stacks = Stacks(context.cloud, spec.cluster.trust_id)
    found = _required(stacks, group)
    if submission.settled(stacks, found, context.idempotency_key):
        return
    family = families.of(found.parameters)
    values: dict[str, object] = {family.count: group.node_count}
    if family.removals in found.parameters:
        there = tuple(members(found.id, stacks.resources(found.id)))
        workers = [one for one in there if one.group in family.workers]
        values[str(family.removals)] = removals(workers, nodes_to_remove)
    elif nodes_to_remove:
        raise InvalidRequestError(
            f"The template of the stack {found.name} lets nobody choose which nodes go. Resize "
            "without naming nodes."
        )
    where = place(spec, group, found)
    submission.change(context, stacks, where, found, values, timeout_minutes)


def touch(
    context: DriverContext, spec: ClusterSpec, group: NodeGroup, timeout_minutes: int
) -> None:
    """Submit a change of a group's stack that changes nothing."""
    stacks = Stacks(context.cloud, spec.cluster.trust_id)
    found = _required(stacks, group)
    if not submission.settled(stacks, found, context.idempotency_key):
        where = place(spec, group, found)
        submission.change(context, stacks, where, found, {}, timeout_minutes)


def removals(workers: Sequence[Member], nodes_to_remove: Sequence[Node]) -> list[str]:
    """Return the indexes that the group shall not have.

    Those of nodes that go, and those that it has not any more although it has higher ones. Heat
    forgets the latter in templates that name servers and not indexes, and would then take nodes
    with high indexes away to make new ones with low ones.
    """
    leaving = {node.id for node in nodes_to_remove}
    names = {one.index for one in workers}
    numbers = {int(name) for name in names if name.isdecimal()}
    gaps = set(range(max(numbers, default=0))) - numbers
    chosen = {one.index for one in workers if one.server in leaving}
    return sorted({str(one) for one in gaps} | chosen, key=lambda text: (len(text), text))


def delete(stacks: Stacks, ident: str | None) -> StackState | None:
    """Submit the removal of a stack unless Heat is at it; return what is still there."""
    found = stacks.find(ident) if ident else None
    if found is None:
        return None
    at_work = found.status == "DELETE_IN_PROGRESS" and not stacks.broken_off(found)
    if not at_work:
        stacks.delete(found)
    return found


def delete_groups(stacks: Stacks, spec: ClusterSpec) -> None:
    """Remove the stacks of node groups, whose ports are in the network of the cluster's stack.

    Raises:
        CloudUnavailableError: Some are still going; the same call goes on later.
    """
    main = spec.cluster.stack_id
    idents = dict.fromkeys(one.stack_id for one in spec.node_groups if one.stack_id != main)
    left = [state for ident in idents if (state := delete(stacks, ident)) is not None]
    if left:
        named = ", ".join(f"{one.name} ({one.status})" for one in left)
        raise CloudUnavailableError(
            f"Heat is removing node groups: {named}. The cluster's own stack goes after them."
        )


def _required(stacks: Stacks, group: NodeGroup) -> StackState:
    found = stacks.find(group.stack_id) if group.stack_id else None
    if found is None:
        raise NotFoundError(f"The stack {group.stack_id} of the node group {group.name} is gone.")
    return found


def _is_ours(tag: str, cluster_id: str) -> bool:
    return tag == TAG or tag.startswith((cluster_id, "key-", "node-group-"))
