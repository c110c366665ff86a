"""What a sweep asks of a cluster: always so that the plan of a kind has the same steps. Pure."""

from collections.abc import Callable, Mapping, Sequence

from jeroboam.models import ClusterSpec, NodeGroup, OperationKind, Parameters

K = OperationKind
Templates = Sequence[str]

MORE, LESS = 3, 2
"""Sizes between which workers go to and fro."""


def parameters_of(kind: K, spec: ClusterSpec, templates: Templates) -> Parameters:
    """Return what to ask of a cluster that was not asked for anything else than this.

    Args:
        templates: uuids in the order of their versions.
    """
    make = _PARAMETERS.get(kind)
    return make(spec, templates) if make else Parameters()


def _size(spec: ClusterSpec, _: Templates) -> Parameters:
    workers = spec.workers[0]
    return Parameters(
        node_group=workers.uuid, node_count=LESS if workers.node_count == MORE else MORE
    )


def _upgrade(spec: ClusterSpec, templates: Templates) -> Parameters:
    after = templates[templates.index(spec.template.uuid) + 1]
    return Parameters(cluster_template_id=after, batch_size=1)


def _rebuild(spec: ClusterSpec, _: Templates) -> Parameters:
    return Parameters(nodes=_names(spec.workers[0], 2), batch_size=1)


def _soft_reboot(spec: ClusterSpec, _: Templates) -> Parameters:
    return Parameters(nodes=(*_names(spec.masters, 1), *_names(spec.workers[0], 1)))


def _hard_reboot(spec: ClusterSpec, _: Templates) -> Parameters:
    return Parameters(nodes=_names(spec.workers[0], 2), batch_size=2)


def _create_group(spec: ClusterSpec, _: Templates) -> Parameters:
    group = NodeGroup(
        name=f"extra-{len(spec.node_groups)}",
        cluster_id=spec.cluster.uuid,
        project_id=spec.cluster.project_id,
        node_count=1,
    )
    return Parameters(group=group)


def _update_group(spec: ClusterSpec, _: Templates) -> Parameters:
    group = _extra(spec)
    changed = group.model_copy(update={"max_node_count": (group.max_node_count or 9) + 1})
    return Parameters(node_group=group.uuid, group=changed)


def _delete_group(spec: ClusterSpec, _: Templates) -> Parameters:
    return Parameters(node_group=_extra(spec).uuid)


def _names(group: NodeGroup, count: int) -> tuple[str, ...]:
    return tuple(node.name for node in group.nodes[:count])


def _extra(spec: ClusterSpec) -> NodeGroup:
    return next(group for group in spec.node_groups if not group.is_default)


_PARAMETERS: Mapping[K, Callable[[ClusterSpec, Templates], Parameters]] = {
    K.RESIZE: _size,
    K.UPDATE: _size,
    K.UPGRADE: _upgrade,
    K.REBUILD: _rebuild,
    K.SOFT_REBOOT: _soft_reboot,
    K.HARD_REBOOT: _hard_reboot,
    K.CREATE_NODE_GROUP: _create_group,
    K.UPDATE_NODE_GROUP: _update_group,
    K.DELETE_NODE_GROUP: _delete_group,
}
