"""What an operation changes of a cluster's record, in words: the heart of a dry run. Pure."""

from collections.abc import Mapping

from jeroboam.models.cluster import ClusterSpec
from jeroboam.models.kind import OperationKind


def describe_changes(
    kind: OperationKind, spec: ClusterSpec, target: ClusterSpec
) -> Mapping[str, str]:
    """Return what the operation changes of the cluster's record, in words."""
    changes: dict[str, str] = {}
    if kind is OperationKind.CREATE:
        for group in spec.node_groups:
            changes[f"{group.name}.node_count"] = f"0 -> {group.node_count}"
        return changes
    if kind.deletes:
        return {"cluster": f"{spec.cluster.name} and all that belongs to it is removed"}
    if spec.template.uuid != target.template.uuid:
        changes["cluster_template"] = f"{spec.template.name} -> {target.template.name}"
    changes |= _changes_of_driver(spec, target)
    changes |= _rotations(kind, spec, target)
    old, new = spec.cluster.labels, target.cluster.labels
    for label in sorted(old.keys() | new.keys()):
        if old.get(label) != new.get(label):
            was, will = old.get(label, "not set"), new.get(label, "not set")
            changes[f"labels.{label}"] = f"{was} -> {will}"
    return changes | _changes_of_groups(kind, spec, target)


def _changes_of_driver(spec: ClusterSpec, target: ClusterSpec) -> dict[str, str]:
    old, new = spec.cluster, target.cluster
    if old.driver_version != new.driver_version:
        return {"driver_version": f"{old.driver_version} -> {new.driver_version}"}
    if old.driver_files != new.driver_files:
        return {"driver_files": f"{_short(old.driver_files)} -> {_short(new.driver_files)}"}
    return {}


def _rotations(kind: OperationKind, spec: ClusterSpec, target: ClusterSpec) -> dict[str, str]:
    if kind is OperationKind.ROTATE_CA:
        return {"certificate_authorities": "replaced, in three rounds through all nodes"}
    if kind is not OperationKind.ROTATE_CREDENTIAL:
        return {}
    changes = {"credential": "replaced by one of whoever asks"}
    if spec.cluster.user_id != target.cluster.user_id:
        changes["user_id"] = f"{spec.cluster.user_id} -> {target.cluster.user_id}"
    return changes


def _short(digest: str | None) -> str:
    return digest[:12] if digest else "none"


def _changes_of_groups(
    kind: OperationKind, spec: ClusterSpec, target: ClusterSpec
) -> dict[str, str]:
    # The row of a group that is to be built is there already; one that failed to be built stays.
    creating = kind is OperationKind.CREATE_NODE_GROUP
    changes: dict[str, str] = {}
    old = {group.uuid: group for group in spec.node_groups}
    new = {group.uuid: group for group in target.node_groups}
    for uuid in [*new, *(gone for gone in old if gone not in new)]:
        before, after = old.get(uuid), new.get(uuid)
        if after is None and before is not None:
            changes[before.name] = f"removed, with {_nodes(before.node_count)}"
        elif after is not None and (before is None or (creating and not before.built)):
            changes[after.name] = f"added, with {_nodes(after.node_count)}"
        elif after is not None and before is not None:
            for field in _GROUP_FIELDS:
                was, will = getattr(before, field), getattr(after, field)
                if was != will:
                    changes[f"{after.name}.{field}"] = f"{was} -> {will}"
    return changes


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"


_GROUP_FIELDS = (
    "node_count",
    "min_node_count",
    "max_node_count",
    "image_id",
    "flavor_id",
    "node_labels",
    "node_taints",
)
