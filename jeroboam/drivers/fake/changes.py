"""What a call changes on the pretended backend, from what is there to what shall be. No I/O.

Each function looks at what is there, so a call that is repeated goes on where it broke off.
"""

from collections.abc import Iterable, Iterator, Sequence

from jeroboam.drivers.fake import labels
from jeroboam.drivers.fake.cluster import FakeCluster
from jeroboam.drivers.fake.records import Change, FakeGroup, FakeNode
from jeroboam.models import ClusterSpec, Node, NodeGroup


def version_of(spec: ClusterSpec, group: NodeGroup) -> str:
    """Return the version that a group's nodes shall run."""
    return labels.parse({**spec.labels, **group.labels}).fake_version


def building(
    cluster: FakeCluster, spec: ClusterSpec, groups: Iterable[NodeGroup], setup: str = ""
) -> list[Change]:
    """Return the changes after which groups are there with all their nodes.

    Args:
        setup: What the driver's templates say; here and below.
    """
    cluster.exists = True
    there = [(group, _made(cluster, group)) for group in groups]
    return [
        change
        for group, made in there
        for change in _added(spec, group, made, group.node_count - len(made.nodes), setup)
    ]


def resizing(
    cluster: FakeCluster,
    spec: ClusterSpec,
    group: NodeGroup,
    nodes_to_remove: Sequence[Node],
    setup: str = "",
) -> list[Change]:
    """Return the changes after which a group has its size, and named nodes are gone."""
    there = _made(cluster, group)
    wanted = {node.name for node in nodes_to_remove}
    named = [node.name for node in there.nodes if node.name in wanted]
    others = [node.name for node in there.nodes if node.name not in wanted]
    youngest = others[group.node_count :]
    removals = [
        Change(do="remove", group=group.uuid, node=name) for name in (*named, *reversed(youngest))
    ]
    missing = group.node_count - len(others)
    return [*removals, *_added(spec, group, there, missing, setup)]


def upgrading(
    cluster: FakeCluster, spec: ClusterSpec, group: NodeGroup, setup: str = ""
) -> list[Change]:
    """Return the changes after which a group's nodes have its version, image and set-up."""
    wanted = {"version": version_of(spec, group), "image": image_of(spec, group), "setup": setup}
    return [
        Change(do="replace", group=group.uuid, node=node.name, **wanted)
        for node in _made(cluster, group).nodes
        if (node.version, node.image, node.setup) != tuple(wanted.values())
    ]


def renewing(cluster: FakeCluster, group: NodeGroup, authorities: Sequence[str]) -> list[Change]:
    """Return the changes after which a group's nodes trust and use these authorities."""
    wanted = list(authorities)
    return [
        Change(do="renew", group=group.uuid, node=node.name, authorities=wanted)
        for node in _made(cluster, group).nodes
        if node.authorities != wanted
    ]


def handing_over(cluster: FakeCluster, trust_id: str | None) -> list[Change]:
    """Note the credential of a cluster; no node changes by it."""
    cluster.credential = trust_id
    return []


def rebooting(cluster: FakeCluster, nodes: Sequence[Node], key: str) -> list[Change]:
    """Return a reboot of each node that this call has not rebooted yet."""
    return [
        Change(do="reboot", group=group.uuid, node=node.name)
        for group, node in _found(cluster, nodes)
        if key not in node.reboots
    ]


def rebuilding(
    cluster: FakeCluster, nodes: Sequence[Node], key: str, setup: str = ""
) -> list[Change]:
    """Return a rebuild of each node that this call has not rebuilt yet."""
    return [
        Change(do="rebuild", group=group.uuid, node=node.name, setup=setup)
        for group, node in _found(cluster, nodes)
        if key not in node.rebuilds
    ]


def removing(cluster: FakeCluster, groups: Iterable[str]) -> list[Change]:
    """Return the changes after which groups are gone, by uuid."""
    changes: list[Change] = []
    for uuid in groups:
        group = cluster.groups.get(uuid)
        if group is not None:
            changes += (Change(do="remove", group=uuid, node=node.name) for node in group.nodes)
            changes.append(Change(do="drop", group=uuid, node=""))
    return changes


def schedule(
    changes: Sequence[Change], begin: float, seconds: float, batch: int | None
) -> list[Change]:
    """Return the changes with their times, spread evenly.

    Args:
        batch: How many are done at a time; ``None`` is all of them.
    """
    size = batch or max(1, len(changes))
    rounds = -(-len(changes) // size)
    pause = seconds / max(1, rounds)
    return [
        change.model_copy(update={"due": begin + pause * (number // size + 1)})
        for number, change in enumerate(changes)
    ]


def image_of(spec: ClusterSpec, group: NodeGroup) -> str:
    """Return the image that a group's nodes shall have."""
    return group.image_id or spec.template.image_id


def _made(cluster: FakeCluster, group: NodeGroup) -> FakeGroup:
    """Return the backend's group; it is made if it is not there."""
    there = cluster.groups.get(group.uuid)
    if there is None:
        there = FakeGroup(
            uuid=group.uuid, name=group.name, number=cluster.groups_made, role=group.role
        )
        cluster.groups[group.uuid] = there
        cluster.groups_made += 1
    return there


def _added(
    spec: ClusterSpec, group: NodeGroup, there: FakeGroup, count: int, setup: str
) -> Iterator[Change]:
    version, image = version_of(spec, group), image_of(spec, group)
    for _ in range(count):
        name = f"{spec.cluster.name}-{group.name}-{there.names_given}"
        there.names_given += 1
        yield Change(
            do="create", group=group.uuid, node=name, version=version, image=image, setup=setup
        )


def _found(cluster: FakeCluster, nodes: Sequence[Node]) -> Iterator[tuple[FakeGroup, FakeNode]]:
    wanted = {node.name for node in nodes}
    for group in cluster.groups.values():
        for node in group.nodes:
            if node.name in wanted:
                yield group, node
