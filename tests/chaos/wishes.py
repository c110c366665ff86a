"""What may be asked of a cluster next, drawn at random. Pure."""

import random
from collections.abc import Sequence

from jeroboam.models import ClusterSpec, NodeGroup, OperationKind, Parameters

MOST_GROUPS = 4
MOST_WORKERS = 5

K = OperationKind
WEIGHTS = {
    K.RESIZE: 4,
    K.UPDATE: 2,
    K.UPGRADE: 3,
    K.REBUILD: 3,
    K.SOFT_REBOOT: 2,
    K.HARD_REBOOT: 2,
    K.CREATE_NODE_GROUP: 3,
    K.UPDATE_NODE_GROUP: 1,
    K.DELETE_NODE_GROUP: 3,
    K.CHECK_HEALTH: 1,
    K.ROTATE_CA: 1,
}


def wish(
    chance: random.Random, spec: ClusterSpec, templates: Sequence[str]
) -> tuple[OperationKind, Parameters]:
    """Return an operation that the cluster can take.

    Args:
        templates: uuids in the order of their versions.
    """
    while True:
        (kind,) = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
        parameters = _parameters(chance, kind, spec, templates)
        if parameters is not None:
            return kind, parameters


def _parameters(
    chance: random.Random, kind: OperationKind, spec: ClusterSpec, templates: Sequence[str]
) -> Parameters | None:
    match kind:
        case K.RESIZE | K.UPDATE:
            return _size(chance, kind, spec)
        case K.UPGRADE:
            after = templates.index(spec.template.uuid) + 1
            if after >= len(templates):
                return None
            batch = chance.choice((1, 1, 2))
            return Parameters(cluster_template_id=templates[after], batch_size=batch)
        case K.REBUILD | K.SOFT_REBOOT | K.HARD_REBOOT:
            return _nodes(chance, spec)
        case _:
            return _group(chance, kind, spec)


def _size(chance: random.Random, kind: OperationKind, spec: ClusterSpec) -> Parameters | None:
    group = spec.workers[0] if kind is K.UPDATE else chance.choice(_built(spec))
    if group.role == "master":
        sizes = {1, 3} - {group.node_count}
    else:
        sizes = set(range(1, MOST_WORKERS + 1)) - {group.node_count}
    count = chance.choice(sorted(sizes))
    surplus = max(0, group.node_count - count)
    named: tuple[str, ...] = ()
    if kind is K.RESIZE and surplus and len(group.nodes) >= surplus and chance.random() < 0.5:
        named = (chance.choice(group.nodes).name,)
    return Parameters(node_group=group.uuid, node_count=count, nodes_to_remove=named)


def _nodes(chance: random.Random, spec: ClusterSpec) -> Parameters | None:
    batch = chance.choice((1, 1, 2, None))
    drawn = chance.random()
    groups = [group for group in _built(spec) if group.nodes]
    if not groups:
        return None
    if drawn < 0.4:
        return Parameters(batch_size=batch)
    group = chance.choice(groups)
    if drawn < 0.7:
        return Parameters(batch_size=batch, node_groups=(group.uuid,))
    return Parameters(batch_size=batch, nodes=(chance.choice(group.nodes).name,))


def _group(chance: random.Random, kind: OperationKind, spec: ClusterSpec) -> Parameters | None:
    extra = [group for group in _built(spec) if not group.is_default]
    if kind is K.CREATE_NODE_GROUP:
        if len(spec.node_groups) >= MOST_GROUPS:
            return None
        group = NodeGroup(
            name=f"extra-{chance.randrange(10**6)}",
            cluster_id=spec.cluster.uuid,
            project_id=spec.cluster.project_id,
            node_count=chance.randint(1, 2),
        )
        return Parameters(group=group)
    if kind in {K.CHECK_HEALTH, K.ROTATE_CA}:
        return Parameters()
    if kind is K.DELETE_NODE_GROUP:
        extra = [group for group in spec.node_groups if not group.is_default]
    if not extra:
        return None
    group = chance.choice(extra)
    if kind is K.DELETE_NODE_GROUP:
        return Parameters(node_group=group.uuid)
    changed = group.model_copy(update={"max_node_count": chance.randint(10, 20)})
    return Parameters(node_group=group.uuid, group=changed)


def _built(spec: ClusterSpec) -> list[NodeGroup]:
    return [group for group in spec.node_groups if group.built]
