"""Accepts imports: all checks, then the trust and the record; the cloud is only looked at."""

from collections.abc import Mapping

import structlog

from jeroboam.api.http import imported_keys
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.schemas.imports import ClusterImport
from jeroboam.api.http.surveying import importer
from jeroboam.api.http.withdrawing import withdraw_trust
from jeroboam.drivers.importing import Finding, ImportWish, Survey
from jeroboam.errors import (
    CloudUnavailableError,
    ConfigurationError,
    ConflictError,
    InvalidRequestError,
    NotFoundError,
)
from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate

log = structlog.get_logger(__name__)


async def import_cluster(
    dependencies: Dependencies, caller: Caller, request: ClusterImport, *, dry_run: bool
) -> Survey:
    """Look at a cluster and, but for a dry run, make it a record.

    Raises:
        ConflictError: It is one already, or its stack is not complete.
        JeroboamError: It is no cluster that a driver recognises, or the keys do not fit.
    """
    secrets = imported_keys.checked(request.keys) if request.keys else None
    enabled = (one.driver for one in dependencies.drivers.entries() if one.enabled)
    driver = importer(enabled, request.driver)
    if dependencies.surveyor is None:
        raise ConfigurationError("This process looks at no cloud.")
    wish = ImportWish(
        stack=request.stack_id, name=request.name, node_groups=tuple(request.node_groups)
    )
    found = await dependencies.surveyor.survey(driver, caller, wish)
    cluster = found.spec.cluster
    structlog.contextvars.bind_contextvars(cluster_id=cluster.uuid)
    await _require_new(dependencies, caller, cluster)
    template = await _template(dependencies, caller, request, found.spec.template)
    survey = _completed(dependencies, found, template, secrets)
    if dry_run:
        return survey
    if survey.obstacles:
        raise ConflictError(" ".join(survey.obstacles))
    await dependencies.store.quotas.check_clusters(cluster.project_id)
    keys = await imported_keys.sealed(dependencies, cluster.uuid, secrets) if secrets else None
    await _store(dependencies, caller, survey.spec, with_trust=driver.uses_cloud)
    log.info("cluster_imported", stack_id=cluster.stack_id, driver=driver.name)
    # Not earlier: keys that wait for their cluster could meet one of the same uuid, of others.
    return survey if keys is None else await _with_keys(dependencies, survey, keys)


async def _store(
    dependencies: Dependencies, caller: Caller, spec: ClusterSpec, *, with_trust: bool
) -> None:
    cluster = spec.cluster
    trust_id = await dependencies.trusts.create(caller) if with_trust else None
    owned = cluster.model_copy(update={"trust_id": trust_id})
    try:
        await dependencies.store.imports.add(spec.model_copy(update={"cluster": owned}))
    except BaseException:
        await withdraw_trust(dependencies, owned)
        raise


async def _with_keys(dependencies: Dependencies, survey: Survey, keys: str) -> Survey:
    """Pass the keys on; where that fails the cluster is imported all the same."""
    cluster = survey.spec.cluster
    try:
        await imported_keys.hand_over(dependencies, cluster.uuid, keys)
    except CloudUnavailableError as error:
        log.warning("imported_keys_lost", reason=error.message)
        lost = Finding(
            what="keys of authorities",
            found="could not be passed on to the workers; give them again: jeroboam cluster "
            f"import-keys {cluster.uuid}",
            complete=False,
        )
        return survey.model_copy(update={"findings": (*survey.findings[:-1], lost)})
    return survey


async def _require_new(dependencies: Dependencies, caller: Caller, cluster: Cluster) -> None:
    holder = await dependencies.store.imports.holder(cluster.uuid, cluster.stack_id)
    if holder is None:
        return
    if caller.scope.project_id not in {None, holder.project_id}:
        raise ConflictError(f"The uuid {cluster.uuid} of this cluster is taken. Ask your operator.")
    raise ConflictError(
        f"Stack {cluster.stack_id} is the cluster {holder.name} ({holder.uuid}) already."
    )


async def _template(
    dependencies: Dependencies, caller: Caller, request: ClusterImport, made: ClusterTemplate
) -> ClusterTemplate:
    """Return the template that is named, or the one that is made unless an import has left it."""
    if request.cluster_template is None:
        try:
            return await dependencies.store.templates.get(made.uuid, caller.own_project)
        except NotFoundError:
            return made
    named = await dependencies.store.templates.get(request.cluster_template, caller.own_project)
    if named.coe != made.coe:
        raise InvalidRequestError(
            f"The cluster template {named.name} is for {named.coe}, and the cluster is of "
            f"{made.coe}. Name another one, or none to have one made from the stack."
        )
    return named


def _completed(
    dependencies: Dependencies,
    found: Survey,
    template: ClusterTemplate,
    secrets: Mapping[str, str] | None,
) -> Survey:
    """Add what only the API knows: the template, the cloud, and whether there are keys."""
    changes = {"cluster_template_id": template.uuid, "cloud": dependencies.settings.cloud}
    cluster = found.spec.cluster.model_copy(update=changes)
    spec = found.spec.model_copy(update={"cluster": cluster, "template": template})
    origin = "made from the stack" if template == found.spec.template else "there already"
    keys = ", ".join(imported_keys.kinds(secrets)) if secrets else "not given"
    findings = (
        *found.findings,
        Finding(what="cluster template", found=f"{template.name}, {origin}"),
        Finding(what="keys of authorities", found=keys, complete=secrets is not None),
    )
    missing = dict.fromkeys(found.needs_keys) if secrets else found.needs_keys
    operations = {**found.operations, **missing}
    return found.model_copy(update={"spec": spec, "findings": findings, "operations": operations})
