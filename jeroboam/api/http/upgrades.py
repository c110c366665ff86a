"""What must hold of the template that a cluster shall move to."""

from jeroboam.api.http import template_rules
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.directory import Wanted
from jeroboam.api.http.schemas.action import Upgrade
from jeroboam.errors import NotAuthorizedError
from jeroboam.models import ClusterSpec, ClusterTemplate, Parameters
from jeroboam.models.targets import upgraded_labels
from jeroboam.models.upgrades import check_kind, check_single_group
from jeroboam.store import Scope


async def parameters(
    dependencies: Dependencies, caller: Caller, spec: ClusterSpec, request: Upgrade
) -> Parameters:
    """Return the input of an upgrade; which versions may follow each other the driver says.

    Raises:
        NotFoundError: The template or the node group does not exist for the cluster's project.
        ConflictError: A single node group would get another template than its cluster.
        InvalidRequestError: The template is for another kind of cluster, or mentions what the
            cloud does not have.
    """
    scope = Scope(spec.cluster.project_id)
    template = await dependencies.store.templates.get(request.cluster_template, scope)
    if template.hidden and not caller.identity.is_admin:
        raise NotAuthorizedError("Not authorized. The cluster template is hidden.")
    group = spec.group(request.nodegroup) if request.nodegroup else None
    if group:
        check_single_group(spec, group, template)
    check_kind(spec, template)
    await _look_up(dependencies, caller, spec, template)
    return Parameters(
        cluster_template_id=template.uuid,
        node_group=group.uuid if group else None,
        batch_size=request.max_batch_size or 1,
    )


async def _look_up(
    dependencies: Dependencies, caller: Caller, spec: ClusterSpec, template: ClusterTemplate
) -> None:
    cluster = spec.cluster
    flavors = {cluster.flavor_id, cluster.master_flavor_id}
    found = await dependencies.directory(caller).look_up(
        Wanted(
            image=template.image_id,
            flavors=tuple(sorted(flavor for flavor in flavors if flavor)),
            external_network=template.external_network_id,
        )
    )
    labels = upgraded_labels(cluster.labels, spec.template.labels, template.labels)
    for flavor in found.flavors.values():
        template_rules.check_root_disk(flavor, labels)
