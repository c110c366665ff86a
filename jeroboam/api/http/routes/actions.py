"""``/v1/clusters/{cluster}/actions``: what is done to the nodes of a cluster."""

from fastapi import APIRouter
from fastapi.responses import Response

from jeroboam.api.http import accepting, node_work, sizes, upgrades, versions
from jeroboam.api.http.accepting import Outcome, Wish
from jeroboam.api.http.answers import ACCEPTED, answer, answered, reference
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import CurrentCaller, CurrentVersion, Dependencies, Injected
from jeroboam.api.http.gates import since, upgrade_gate
from jeroboam.api.http.paging import (
    DryRunArgument,
    RollbackArgument,
    change_arguments,
    dry_run_arguments,
)
from jeroboam.api.http.permitted import permitted_cluster
from jeroboam.api.http.schemas import action as schema
from jeroboam.api.http.schemas.cluster import ClusterReference
from jeroboam.models import OperationKind, Parameters

router = APIRouter(prefix="/v1/clusters/{cluster}/actions", tags=["actions"])

REBOOTS = {"soft": OperationKind.SOFT_REBOOT, "hard": OperationKind.HARD_REBOOT}

_MAGNUM = answered(ACCEPTED, ClusterReference)
_OURS = answered(ACCEPTED, schema.Accepted)


@router.post(
    "/resize",
    dependencies=[since(versions.RESIZE, "resize"), change_arguments],
    **_MAGNUM,
)
async def resize(
    cluster: str,
    body: schema.Resize,
    dependencies: Injected,
    caller: CurrentCaller,
    version: CurrentVersion,
    *,
    rollback: RollbackArgument = None,
    dry_run: DryRunArgument = False,
) -> Response:
    """Give a node group another size, the default workers if none is named."""
    sizes.check_zero(body.node_count, version)
    owner = await permitted_cluster(dependencies, caller, cluster, "cluster:resize")
    spec = await dependencies.store.clusters.spec(owner.uuid)
    group = spec.group(body.nodegroup) if body.nodegroup else spec.workers[0]
    sizes.check_bounds(group, body.node_count)
    parameters = Parameters(
        node_group=group.uuid,
        node_count=body.node_count,
        nodes_to_remove=sizes.named_nodes(group, body.nodes_to_remove or ()),
    )
    wish = Wish(spec.cluster, OperationKind.RESIZE, parameters, rollback)
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    return answer(outcome, ClusterReference(uuid=owner.uuid))


@router.post(
    "/upgrade",
    dependencies=[upgrade_gate, change_arguments],
    **_MAGNUM,
)
async def upgrade(
    cluster: str,
    body: schema.Upgrade,
    dependencies: Injected,
    caller: CurrentCaller,
    *,
    rollback: RollbackArgument = None,
    dry_run: DryRunArgument = False,
) -> Response:
    """Move a cluster to another template, or one node group to the template of its cluster."""
    owner = await permitted_cluster(
        dependencies,
        caller,
        cluster,
        "cluster:upgrade",
        all_projects="cluster:upgrade_all_projects",
    )
    spec = await dependencies.store.clusters.spec(owner.uuid)
    parameters = await upgrades.parameters(dependencies, caller, spec, body)
    wish = Wish(spec.cluster, OperationKind.UPGRADE, parameters, rollback)
    outcome = await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
    return answer(outcome, ClusterReference(uuid=owner.uuid))


@router.post("/rebuild", dependencies=[dry_run_arguments], **_OURS)
async def rebuild(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    body: schema.Rebuild | None = None,
    *,
    dry_run: DryRunArgument = False,
) -> Response:
    """Set nodes up anew with their identity and addresses; the control plane one at a time."""
    outcome = await _work(
        dependencies,
        caller,
        cluster,
        OperationKind.REBUILD,
        body or schema.Rebuild(),
        dry_run=dry_run,
    )
    return reference(outcome)


@router.post("/reboot", dependencies=[dry_run_arguments], **_OURS)
async def reboot(
    cluster: str,
    body: schema.Reboot,
    dependencies: Injected,
    caller: CurrentCaller,
    *,
    dry_run: DryRunArgument = False,
) -> Response:
    """Reboot nodes in batches; the control plane one at a time. A node that fails ends it."""
    kind = REBOOTS[body.type]
    return reference(await _work(dependencies, caller, cluster, kind, body, dry_run=dry_run))


@router.post("/check_health", dependencies=[dry_run_arguments], **_OURS)
async def check_health(
    cluster: str,
    dependencies: Injected,
    caller: CurrentCaller,
    body: schema.CheckHealth | None = None,
    *,
    dry_run: DryRunArgument = False,
) -> Response:
    """Check now how a cluster is; ``health_status`` has the answer when the operation has ended."""
    del body
    owner = await permitted_cluster(dependencies, caller, cluster, "cluster:check_health")
    wish = Wish(owner, OperationKind.CHECK_HEALTH)
    return reference(await accepting.accept(dependencies, caller, wish, dry_run=dry_run))


async def _work(
    dependencies: Dependencies,
    caller: Caller,
    ident: str,
    kind: OperationKind,
    request: schema.NodeWork,
    *,
    dry_run: bool,
) -> Outcome:
    rule = "cluster:rebuild" if kind is OperationKind.REBUILD else "cluster:reboot"
    owner = await permitted_cluster(dependencies, caller, ident, rule)
    spec = await dependencies.store.clusters.spec(owner.uuid)
    wish = Wish(spec.cluster, kind, node_work.parameters(spec, request))
    return await accepting.accept(dependencies, caller, wish, dry_run=dry_run)
