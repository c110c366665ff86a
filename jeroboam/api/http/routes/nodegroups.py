"""``/v1/clusters/{cluster}/nodegroups``."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends
from fastapi.responses import Response

from jeroboam.api.http import accepting, edit_node_group, versions
from jeroboam.api.http.accepting import Wish
from jeroboam.api.http.answers import ACCEPTED, NO_CONTENT, answer, answered
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.gates import since
from jeroboam.api.http.paging import (
    LIST_ARGUMENTS,
    CurrentPaging,
    DryRunArgument,
    RollbackArgument,
    change_arguments,
    dry_run_arguments,
    no_arguments,
    only_arguments,
)
from jeroboam.api.http.patches import PatchOperation
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.nodegroup import (
    NodeGroupCreate,
    NodeGroupDetail,
    NodeGroupList,
    NodeGroupSummary,
)
from jeroboam.errors import InvalidRequestError
from jeroboam.models import Cluster, OperationKind, Parameters, Status

router = APIRouter(prefix="/v1/clusters/{cluster}/nodegroups", tags=["node groups"])


@router.get(
    "",
    dependencies=[
        since(versions.NODE_GROUPS, "get_all"),
        Depends(only_arguments(*LIST_ARGUMENTS, "role")),
    ],
    response_model_exclude_unset=True,
)
async def list_node_groups(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    paging: CurrentPaging,
    role: str | None = None,
) -> NodeGroupList:
    """List a cluster's node groups, of one role if asked."""
    dependencies.authorizer.require("nodegroup:get_all", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "nodegroup:get_all_all_projects", caller.identity
    )
    owner = await _cluster(dependencies, caller, cluster)
    groups = await dependencies.store.clusters.list_node_groups(owner.uuid, paging.page, role)
    next_link = paging.next_link(groups, "clusters", owner.uuid, "nodegroups", role=role)
    return NodeGroupList(nodegroups=[NodeGroupSummary.of(group) for group in groups], **next_link)


@router.get(
    "/{ident}",
    dependencies=[since(versions.NODE_GROUPS, "get_one"), no_arguments],
    response_model_exclude_unset=True,
)
async def show_node_group(
    cluster: str,
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
) -> NodeGroupDetail:
    """Show one node group."""
    dependencies.authorizer.require("nodegroup:get", caller.identity)
    dependencies.authorizer.require_for_all_projects(
        "nodegroup:get_one_all_projects", caller.identity
    )
    owner = await _cluster(dependencies, caller, cluster)
    group = await dependencies.store.clusters.node_group(owner.uuid, ident)
    return NodeGroupDetail.build(group, owner.labels, links)


@router.post(
    "",
    dependencies=[since(versions.NODE_GROUPS, "post"), change_arguments],
    **answered(ACCEPTED, NodeGroupDetail),
)
async def create_node_group(
    cluster: str,
    body: NodeGroupCreate,
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    *,
    rollback: RollbackArgument = None,
    dry_run: DryRunArgument = False,
) -> Response:
    """Add a node group to a cluster that is up."""
    owner = await permitted_cluster(dependencies, caller, cluster, "nodegroup:create")
    spec = await dependencies.store.clusters.spec(owner.uuid)
    group = await edit_node_group.new_group(dependencies, caller, spec, body)
    wish = Wish(spec.cluster, OperationKind.CREATE_NODE_GROUP, Parameters(group=group), rollback)
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    return answer(outcome, NodeGroupDetail.build(group, owner.labels, links))


@router.patch(
    "/{ident}",
    dependencies=[since(versions.NODE_GROUPS, "patch"), change_arguments],
    **answered(ACCEPTED, NodeGroupDetail),
)
async def change_node_group(
    cluster: str,
    ident: str,
    patch: Sequence[PatchOperation],
    dependencies: Injected,
    caller: CurrentCaller,
    links: CurrentLinks,
    *,
    rollback: RollbackArgument = None,
    dry_run: DryRunArgument = False,
) -> Response:
    """Change by a JSON patch the bounds of a node group, or its nodes' labels and taints."""
    owner = await permitted_cluster(dependencies, caller, cluster, "nodegroup:update")
    group = await dependencies.store.clusters.node_group(owner.uuid, ident)
    changed = edit_node_group.changed_group(group, patch)
    wish = Wish(
        owner,
        OperationKind.UPDATE_NODE_GROUP,
        Parameters(node_group=group.uuid, group=changed),
        rollback,
    )
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    shown = changed.model_copy(update={"status": Status.UPDATE_IN_PROGRESS})
    return answer(outcome, NodeGroupDetail.build(shown, owner.labels, links))


@router.delete(
    "/{ident}",
    dependencies=[since(versions.NODE_GROUPS, "delete"), dry_run_arguments],
    **answered(NO_CONTENT),
)
async def delete_node_group(
    cluster: str,
    ident: str,
    dependencies: Injected,
    caller: CurrentCaller,
    *,
    dry_run: DryRunArgument = False,
) -> Response:
    """Remove a node group with all its nodes; the default ones go with the cluster only."""
    owner = await permitted_cluster(dependencies, caller, cluster, "nodegroup:delete")
    group = await dependencies.store.clusters.node_group(owner.uuid, ident)
    if group.is_default:
        raise InvalidRequestError("Deleting a default nodegroup is not supported.")
    wish = Wish(owner, OperationKind.DELETE_NODE_GROUP, Parameters(node_group=group.uuid))
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    return answer(outcome, None)


async def _cluster(dependencies: Dependencies, caller: Caller, ident: str) -> Cluster:
    return await dependencies.store.clusters.get(ident, caller.scope)
