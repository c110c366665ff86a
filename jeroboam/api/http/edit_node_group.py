"""Makes and changes node groups, with all that is checked before."""

from collections.abc import Sequence

from jeroboam.api.http import labels as label_rules
from jeroboam.api.http import node_group_rules, patches, template_rules
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.directory import Wanted
from jeroboam.api.http.schemas.nodegroup import NodeGroupChange, NodeGroupCreate
from jeroboam.errors import ConflictError, InvalidRequestError
from jeroboam.models import ClusterSpec, NodeGroup, Status
from jeroboam.models.cluster import MASTER

CHANGEABLE = frozenset(NodeGroupChange.model_fields)
LITERALS = frozenset({"node_labels", "node_taints"})
_OTHERS = frozenset(NodeGroup.model_fields) - CHANGEABLE


async def new_group(
    dependencies: Dependencies, caller: Caller, spec: ClusterSpec, request: NodeGroupCreate
) -> NodeGroup:
    """Return a group that may be built, as far as the API can tell.

    Raises:
        ConflictError: The cluster has no API yet, the name is taken, or the sizes, labels or
            taints are impossible.
        InvalidRequestError: It would be a second control plane, or the image or flavor is unknown.
    """
    _check_place(spec, request)
    group = _group(spec, request)
    node_group_rules.check(group)
    if group.role == MASTER:
        raise InvalidRequestError("Creating master nodegroups is currently not supported.")
    return await _looked_up(dependencies, caller, group)


def changed_group(group: NodeGroup, patch: Sequence[patches.PatchOperation]) -> NodeGroup:
    """Return a group as the patch makes it.

    Raises:
        InvalidRequestError: The patch is wrong, or changes what cannot change.
        ConflictError: The new bounds, labels or taints are impossible.
    """
    document = group.model_dump(mode="json", include=set(CHANGEABLE))
    internal = patches.INTERNAL | _OTHERS | {"user_id", "labels_added", "labels_overridden"}
    patched = patches.apply(document, patch, internal=internal, literals=LITERALS)
    change = patches.validated(NodeGroupChange, patched)
    changed = group.model_copy(
        update={
            "min_node_count": change.min_node_count or 0,
            "max_node_count": change.max_node_count,
            "node_labels": change.node_labels,
            "node_taints": node_group_rules.taints(group.name, change.node_taints or ()),
        }
    )
    node_group_rules.check(changed)
    return changed


def _check_place(spec: ClusterSpec, request: NodeGroupCreate) -> None:
    if not spec.cluster.api_address:
        raise ConflictError("Cluster API address is not available yet")
    if any(group.name == request.name for group in spec.node_groups):
        raise ConflictError(
            f"A node group with name {request.name} already exists in the cluster "
            f"{spec.cluster.name}."
        )


def _group(spec: ClusterSpec, request: NodeGroupCreate) -> NodeGroup:
    cluster = spec.cluster
    merge = bool(request.merge_labels)
    return NodeGroup(
        name=request.name,
        cluster_id=cluster.uuid,
        project_id=cluster.project_id,
        role=request.role or "worker",
        flavor_id=request.flavor_id or cluster.flavor_id,
        image_id=request.image_id or spec.template.image_id,
        docker_volume_size=request.docker_volume_size or cluster.docker_volume_size,
        labels=label_rules.inherit(cluster.labels, request.labels, merge=merge),
        merge_labels=merge,
        node_labels=request.node_labels,
        node_taints=node_group_rules.taints(request.name, request.node_taints or ()),
        node_count=1 if request.node_count is None else request.node_count,
        min_node_count=request.min_node_count or 0,
        max_node_count=request.max_node_count,
        status=Status.CREATE_IN_PROGRESS,
    )


async def _looked_up(dependencies: Dependencies, caller: Caller, group: NodeGroup) -> NodeGroup:
    """Return a group with what its flavor has."""
    flavors = (group.flavor_id,) if group.flavor_id else ()
    wanted = Wanted(image=group.image_id, flavors=flavors)
    found = await dependencies.directory(caller).look_up(wanted)
    for flavor in found.flavors.values():
        template_rules.check_root_disk(flavor, group.labels)
        group = group.model_copy(update={"vcpus": flavor.vcpus})
    return group
