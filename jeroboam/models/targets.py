"""From a cluster as it is to the cluster that an operation wants. Pure.

The stored rows keep the last good state until an operation has succeeded; the target is derived
from them, so a roll-back needs no memory of its own.
"""

from collections.abc import Mapping
from typing import Any

from jeroboam.models.cluster import MASTER, Cluster, ClusterSpec, ClusterTemplate, NodeGroup
from jeroboam.models.kind import OperationKind
from jeroboam.models.parameters import Parameters


def target_of(
    spec: ClusterSpec,
    kind: OperationKind,
    parameters: Parameters,
    template: ClusterTemplate | None = None,
) -> ClusterSpec:
    """Return the cluster as the operation shall leave it.

    Args:
        spec: The cluster as it is recorded.
        template: The template to move to, for an upgrade.

    Raises:
        NotFoundError: A node group that is named is not there.
    """
    if kind in {OperationKind.UPDATE, OperationKind.RESIZE}:
        group = spec.group(parameters.node_group or "")
        return _with_group(spec, group.model_copy(update={"node_count": parameters.node_count}))
    if kind is OperationKind.UPGRADE:
        return _upgraded(spec, parameters, template or spec.template)
    if kind is OperationKind.ROTATE_CREDENTIAL:
        owner = parameters.owner_id or spec.cluster.user_id
        changes = {"trust_id": parameters.trust_id or spec.cluster.trust_id, "user_id": owner}
        return spec.model_copy(update={"cluster": spec.cluster.model_copy(update=changes)})
    if parameters.group and kind in {
        OperationKind.CREATE_NODE_GROUP,
        OperationKind.UPDATE_NODE_GROUP,
    }:
        return _with_group(spec, parameters.group)
    if kind is OperationKind.DELETE_NODE_GROUP:
        gone = spec.group(parameters.node_group or "")
        left = tuple(one for one in spec.node_groups if one.uuid != gone.uuid)
        return spec.model_copy(update={"node_groups": left})
    return spec


def upgraded_groups(spec: ClusterSpec, parameters: Parameters) -> tuple[NodeGroup, ...]:
    """Return the groups that an upgrade moves, the control plane first: it must not be older."""
    if parameters.node_group:
        return (spec.group(parameters.node_group),)
    built = (group for group in spec.node_groups if group.built or group.is_default)
    return tuple(sorted(built, key=lambda group: (group.role != MASTER, not group.is_default)))


def upgraded_labels(
    mine: Mapping[str, str], old: Mapping[str, str], new: Mapping[str, str]
) -> dict[str, str]:
    """Return a cluster's labels after a move from one template to another.

    What the new template says holds: a version that the user once overrode would keep the upgrade
    from happening. Labels that the user added stay; those that only came from the old template go.
    """
    added = {key: value for key, value in mine.items() if old.get(key) != value}
    return {**added, **new}


def _upgraded(spec: ClusterSpec, parameters: Parameters, template: ClusterTemplate) -> ClusterSpec:
    cluster = _upgraded_cluster(spec, parameters, template)
    moved = {group.uuid for group in upgraded_groups(spec, parameters)}
    in_force = {key: cluster.labels.get(key, value) for key, value in template.labels.items()}

    def group_after(group: NodeGroup) -> NodeGroup:
        if group.uuid not in moved:
            return group
        labels = upgraded_labels(group.labels, spec.template.labels, in_force)
        return group.model_copy(update={"image_id": template.image_id, "labels": labels})

    groups = tuple(group_after(group) for group in spec.node_groups)
    return ClusterSpec(cluster=cluster, template=template, node_groups=groups)


def _upgraded_cluster(
    spec: ClusterSpec, parameters: Parameters, template: ClusterTemplate
) -> Cluster:
    if parameters.node_group and template.uuid == spec.template.uuid:
        # One group catches up with its cluster, which stays as it is.
        return spec.cluster
    labels = upgraded_labels(spec.cluster.labels, spec.template.labels, template.labels)
    changes: dict[str, Any] = {"cluster_template_id": template.uuid, "labels": labels}
    if parameters.driver_version:
        changes["driver_version"] = parameters.driver_version
        changes["driver_files"] = parameters.driver_files
    return spec.cluster.model_copy(update=changes)


def _with_group(spec: ClusterSpec, group: NodeGroup) -> ClusterSpec:
    others = [one for one in spec.node_groups if one.uuid != group.uuid]
    position = next(
        (n for n, one in enumerate(spec.node_groups) if one.uuid == group.uuid), len(others)
    )
    others.insert(position, group)
    return spec.model_copy(update={"node_groups": tuple(others)})
