"""The nodes of a cluster and of a node group, so that autoscalers need not ask the backend."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends

from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, Dependencies, Injected
from jeroboam.api.http.paging import (
    LIST_ARGUMENTS,
    NamedPaging,
    Paging,
    list_arguments,
    only_arguments,
)
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas.node import NodeBody, NodeList
from jeroboam.errors import InvalidRequestError, NotFoundError
from jeroboam.models import Cluster, NodeGroup

router = APIRouter(prefix="/v1/clusters/{cluster}", tags=["nodes"])

SORT_KEYS = frozenset(NodeBody.model_fields) - {"addresses"}


@router.get(
    "/nodes",
    dependencies=[Depends(only_arguments(*LIST_ARGUMENTS, "role"))],
    response_model_exclude_unset=True,
)
async def list_nodes(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    paging: NamedPaging,
    role: str | None = None,
) -> NodeList:
    """List the nodes of a cluster, of one role if asked, with the server of each."""
    owner = await _cluster(dependencies, caller, cluster)
    found = (await dependencies.store.clusters.node_groups([owner.uuid]))[owner.uuid]
    groups = [group for group in found if role in {None, group.role}]
    return await _answer(
        dependencies, owner, groups, paging, "clusters", owner.uuid, "nodes", role=role
    )


@router.get(
    "/nodegroups/{ident}/nodes",
    dependencies=[list_arguments],
    response_model_exclude_unset=True,
)
async def list_nodes_of_group(
    cluster: str, ident: str, dependencies: Injected, caller: CurrentCaller, paging: NamedPaging
) -> NodeList:
    """List the nodes of a node group, with the server of each."""
    owner = await _cluster(dependencies, caller, cluster)
    group = await dependencies.store.clusters.node_group(owner.uuid, ident)
    path = ("clusters", owner.uuid, "nodegroups", group.uuid, "nodes")
    return await _answer(dependencies, owner, [group], paging, *path)


async def _cluster(dependencies: Dependencies, caller: Caller, ident: str) -> Cluster:
    return await permitted_cluster(
        dependencies,
        caller,
        ident,
        "nodegroup:get",
        all_projects="nodegroup:get_one_all_projects",
    )


async def _answer(
    dependencies: Dependencies,
    owner: Cluster,
    groups: Sequence[NodeGroup],
    paging: Paging,
    *path: str,
    **filters: str | None,
) -> NodeList:
    reasons = owner.health_status_reason
    nodes = [NodeBody.of(node, group, reasons) for group in groups for node in group.nodes]
    page = _page(nodes, paging)
    looked = await dependencies.store.monitoring.get(owner.uuid)
    next_link = paging.next_link(page, *path, **filters)
    return NodeList(nodes=page, checked_at=looked and looked.checked_at, **next_link)


def _page(nodes: Sequence[NodeBody], paging: Paging) -> Sequence[NodeBody]:
    """Return one page: all nodes of a cluster are in one row per group, so it is cut here."""
    wanted = paging.page
    if wanted.sort_key not in SORT_KEYS:
        raise InvalidRequestError(f"The sort key value '{wanted.sort_key}' is invalid for sorting.")
    ordered = sorted(
        nodes,
        key=lambda node: (getattr(node, wanted.sort_key) or "", node.name),
        reverse=wanted.sort_dir == "desc",
    )
    if wanted.marker is None:
        return ordered[: wanted.limit]
    places = [n for n, node in enumerate(ordered) if wanted.marker in {node.name, node.id}]
    if not places:
        raise NotFoundError(f"Marker {wanted.marker}: no such node.")
    return ordered[places[0] + 1 :][: wanted.limit]
