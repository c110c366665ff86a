"""``/v1/clusters/{cluster}/nodegroups``."""

from fastapi import APIRouter, Depends

from jeroboam.api.http import versions
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentLinks, Dependencies, Injected
from jeroboam.api.http.gates import since
from jeroboam.api.http.paging import LIST_ARGUMENTS, CurrentPaging, no_arguments, only_arguments
from jeroboam.api.http.schemas.nodegroup import NodeGroupDetail, NodeGroupList, NodeGroupSummary
from jeroboam.models import Cluster

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


async def _cluster(dependencies: Dependencies, caller: Caller, ident: str) -> Cluster:
    return await dependencies.store.clusters.get(ident, caller.scope)
