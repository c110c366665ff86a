"""The steps between the hooks, by kind of operation. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from jeroboam.errors import InvalidRequestError
from jeroboam.models.cluster import MASTER, ClusterSpec, Node, NodeGroup
from jeroboam.models.kind import OperationKind
from jeroboam.models.parameters import Parameters
from jeroboam.models.plan import Action, BackendCall, FailurePolicy, Method, PlanStep
from jeroboam.models.step_names import shortened
from jeroboam.models.targets import upgraded_groups

MOST_BATCHES = 500
"""More would make the record of one operation too large to read or to write."""

FORCED_SECONDS = 180
"""What each step of a forced removal gets before it is passed over."""

FORCED_WAIT_SECONDS = 600
"""What the backend gets for it: a removal that works takes its time."""

DRAIN_SECONDS = 960
"""Of the step that empties nodes, on top of the operation's deadline: what pods get to leave, and
a minute in which the step ends by itself. See ``activities.draining``."""

Work = tuple[PlanStep, ...]


@dataclass(frozen=True)
class DriverFacts:
    """What a plan needs to know of the cluster's driver.

    Args:
        queue: The task queue of its own workers, if it has some.
        drains: Whether it empties nodes before they go.
        account: Whether programs in the cluster have a user of their own.
    """

    queue: str | None = None
    drains: bool = False
    account: bool = False


@dataclass(frozen=True)
class Ask:
    """What is asked of a cluster.

    Args:
        target: The cluster as it shall be.
    """

    kind: OperationKind
    spec: ClusterSpec
    target: ClusterSpec
    parameters: Parameters
    driver: DriverFacts = DriverFacts()


def _create(ask: Ask) -> Work:
    removal = BackendCall(method=Method.DELETE_CLUSTER, submitted_by="Remove what was built")
    creation = BackendCall(method=Method.CREATE_CLUSTER, submitted_by="Submit to the backend")
    undo = (*pair(removal, "Wait until it is gone"), _SEARCH)
    return (
        PlanStep(name="Issue certificates", action=Action.ISSUE_CERTIFICATES),
        *((_ACCOUNT,) if ask.driver.account else ()),
        *pair(creation, "Wait for the backend", undo=undo),
        COLLECT,
    )


def _change_size(ask: Ask) -> Work:
    group = ask.target.group(ask.parameters.node_group or "")
    name, before = shortened(group.name), ask.spec.group(group.uuid).node_count
    change = BackendCall(
        method=Method.UPDATE_CLUSTER,
        submitted_by=f"Resize {name} from {before} to {group.node_count}",
        node_group=group.uuid,
        nodes_to_remove=ask.parameters.nodes_to_remove,
    )
    shrinks = group.node_count < before
    return (
        *(_drain(change, name) if ask.driver.drains and shrinks else ()),
        *pair(change, undo=_undo(change, f"Return {name} to {before}")),
        COLLECT,
    )


def _upgrade(ask: Ask) -> Work:
    steps: list[PlanStep] = []
    for group in upgraded_groups(ask.target, ask.parameters):
        name = shortened(group.name)
        change = BackendCall(
            method=Method.UPGRADE_NODE_GROUP,
            submitted_by=f"Upgrade {name}",
            node_group=group.uuid,
            batch_size=1 if group.role == MASTER else ask.parameters.batch_size,
        )
        undo = _undo(change, f"Return {name} to the previous version")
        steps += pair(change, undo=undo)
    return (*steps, COLLECT)


def _node_work(ask: Ask) -> Work:
    method = Method.REBUILD_NODES if ask.kind is OperationKind.REBUILD else Method.REBOOT_NODES
    found = list(batches(ask.spec, ask.parameters))
    if len(found) > MOST_BATCHES:
        raise InvalidRequestError(
            f"This would take {len(found)} batches and {MOST_BATCHES} is the most. "
            "Choose a larger batch size, or fewer nodes."
        )
    if not found:
        raise InvalidRequestError("No nodes are chosen: the groups that are meant have none.")
    steps: list[PlanStep] = []
    for number, names in enumerate(found, start=1):
        title = f"{ask.kind.words.capitalize()} {_some(names)} ({number} of {len(found)})"
        hard = ask.kind is OperationKind.HARD_REBOOT
        steps += pair(BackendCall(method=method, submitted_by=title, nodes=names, hard=hard))
    return (*steps, COLLECT)


def _create_group(ask: Ask) -> Work:
    group = ask.target.group(ask.parameters.group.uuid if ask.parameters.group else "")
    creation = BackendCall(
        method=Method.CREATE_NODE_GROUP,
        submitted_by=f"Build node group {shortened(group.name)}",
        node_group=group.uuid,
    )
    return (*pair(creation, undo=pair(_removal_of(group))), COLLECT)


def _delete_group(ask: Ask) -> Work:
    group = ask.spec.group(ask.parameters.node_group or "")
    removal = _removal_of(group)
    if not (ask.driver.drains and group.nodes):
        return pair(removal)
    # All nodes were asked to go: what refuses to leave has its time, and no veto.
    (drain,) = _drain(removal, shortened(group.name))
    return (drain.model_copy(update={"on_failure": FailurePolicy.WARN}), *pair(removal))


def _record_only(_: Ask) -> Work:
    """Return no step: bounds, labels and taints of a group concern future nodes."""
    return ()


def _delete(_: Ask) -> Work:
    removal = BackendCall(method=Method.DELETE_CLUSTER, submitted_by="Submit the removal")
    return (*pair(removal, "Wait until all is gone"), _SEARCH)


def _force_delete(ask: Ask) -> Work:
    return tuple(
        step.model_copy(
            update={
                "on_failure": FailurePolicy.WARN,
                "timeout_seconds": FORCED_WAIT_SECONDS
                if step.action is Action.WAIT
                else FORCED_SECONDS,
            }
        )
        for step in _delete(ask)
    )


def _check_health(_: Ask) -> Work:
    return (
        PlanStep(name="Check the health", action=Action.CHECK_HEALTH, timeout_seconds=600),
        COLLECT.model_copy(update={"on_failure": FailurePolicy.WARN}),
    )


STEPS: Mapping[OperationKind, Callable[[Ask], Work]] = {
    OperationKind.CREATE: _create,
    OperationKind.UPDATE: _change_size,
    OperationKind.RESIZE: _change_size,
    OperationKind.UPGRADE: _upgrade,
    OperationKind.REBUILD: _node_work,
    OperationKind.SOFT_REBOOT: _node_work,
    OperationKind.HARD_REBOOT: _node_work,
    OperationKind.CREATE_NODE_GROUP: _create_group,
    OperationKind.UPDATE_NODE_GROUP: _record_only,
    OperationKind.DELETE_NODE_GROUP: _delete_group,
    OperationKind.DELETE: _delete,
    OperationKind.FORCE_DELETE: _force_delete,
    OperationKind.CHECK_HEALTH: _check_health,
}


def batches(spec: ClusterSpec, parameters: Parameters) -> Iterable[tuple[str, ...]]:
    """Yield the names of the nodes that are worked on together.

    The control plane goes first and one node at a time, so that it keeps its quorum; a batch
    never spans two groups.

    Raises:
        InvalidRequestError: A node that is named is in none of the groups that are named.
        NotFoundError: A node or node group that is named is not there.
    """
    for group, nodes in _chosen(spec, parameters):
        names = [node.name for node in nodes]
        size = 1 if group.role == MASTER else parameters.batch_size or max(1, len(names))
        for start in range(0, len(names), size):
            yield tuple(names[start : start + size])


def chosen_nodes(spec: ClusterSpec, parameters: Parameters) -> tuple[Node, ...]:
    """Return the nodes that a rebuild or reboot works on, the control plane's first.

    Raises:
        InvalidRequestError: A node that is named is in none of the groups that are named.
        NotFoundError: A node or node group that is named is not there.
    """
    return tuple(node for _, nodes in _chosen(spec, parameters) for node in nodes)


def _chosen(
    spec: ClusterSpec, parameters: Parameters
) -> Sequence[tuple[NodeGroup, Sequence[Node]]]:
    groups = chosen_groups(spec, parameters)
    _refuse_strangers(groups, parameters)
    wanted = parameters.nodes
    return [
        (group, [node for node in group.nodes if not wanted or node.name in wanted])
        for group in groups
    ]


def chosen_groups(spec: ClusterSpec, parameters: Parameters) -> Sequence[NodeGroup]:
    """Return the groups that a rebuild or reboot works on, the control plane first.

    Raises:
        NotFoundError: A node or node group that is named is not there.
    """
    spec.nodes(parameters.nodes)
    wanted = set(parameters.nodes)
    named = {spec.group(ident).uuid for ident in parameters.node_groups}
    groups = (
        group
        for group in spec.node_groups
        if (not named or group.uuid in named)
        and (not wanted or wanted & {node.name for node in group.nodes})
    )
    return sorted(groups, key=lambda group: (group.role != MASTER, not group.is_default))


def _refuse_strangers(groups: Sequence[NodeGroup], parameters: Parameters) -> None:
    """Refuse nodes outside of the groups: to pass over them in silence would be a lie."""
    inside = {node.name for group in groups for node in group.nodes}
    strangers = [name for name in parameters.nodes if name not in inside]
    if strangers:
        raise InvalidRequestError(
            f"Not in the chosen node groups: {', '.join(strangers)}. "
            "Name their groups as well, or no groups at all."
        )


def pair(call: BackendCall, wait: str = "", undo: Work = ()) -> Work:
    """Return the two steps of one change of the backend: submit it, wait until it is done."""
    title = call.submitted_by
    return (
        PlanStep(name=title, action=Action.SUBMIT, call=call, undo=undo),
        PlanStep(name=wait or f"Wait: {title}", action=Action.WAIT, call=call),
    )


def _undo(call: BackendCall, title: str) -> Work:
    """Return the steps that lead what a call changed back to its recorded state."""
    change = {"submitted_by": title, "nodes_to_remove": (), "restore": True}
    back = call.model_copy(update=change)
    read = PlanStep(
        name=f"Read addresses: {title}",
        action=Action.COLLECT_OUTPUTS,
        call=back,
        on_failure=FailurePolicy.WARN,
    )
    return (*pair(back), read)


def _drain(change: BackendCall, name: str) -> Work:
    """Return the step that empties the nodes which a change takes away."""
    back = PlanStep(
        name=f"Open the nodes of {name} again",
        action=Action.UNDRAIN,
        call=change.model_copy(update={"restore": True}),
        on_failure=FailurePolicy.WARN,
    )
    return (
        PlanStep(
            name=f"Empty the nodes of {name} that go",
            action=Action.DRAIN,
            call=change,
            timeout_seconds=DRAIN_SECONDS,
            undo=(back,),
        ),
    )


def _removal_of(group: NodeGroup) -> BackendCall:
    return BackendCall(
        method=Method.DELETE_NODE_GROUP,
        submitted_by=f"Remove node group {shortened(group.name)}",
        node_group=group.uuid,
    )


def _some(names: Sequence[str]) -> str:
    shown = 3
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(shortened(name) for name in names[:shown]) + more


_ACCOUNT = PlanStep(name="Make a user for programs in the cluster", action=Action.MAKE_ACCOUNT)
COLLECT = PlanStep(name="Read addresses and versions", action=Action.COLLECT_OUTPUTS)
_SEARCH = PlanStep(name="Look for what was left behind", action=Action.FIND_LEFTOVERS)
