"""Turns a request for a cluster and its template into a specification."""

from collections.abc import Mapping
from typing import Any

import structlog

from jeroboam.accounts import program_roles
from jeroboam.activities.planning import needs_account
from jeroboam.api.http import labels as label_rules
from jeroboam.api.http import names, template_rules
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.directory import Flavor, Found, Wanted
from jeroboam.api.http.edit_template import select_driver
from jeroboam.api.http.schemas.cluster import ClusterCreate
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.patience import asked
from jeroboam.errors import DriverContractError, InvalidRequestError, JeroboamError
from jeroboam.models import Cluster, ClusterSpec, ClusterTemplate, NodeGroup, Status
from jeroboam.models.cluster import MASTER, WORKER

MINIMUM_NODES_LABEL = "min_node_count"
DEFAULT_TIMEOUT_MINUTES = 60

_NO_ACCOUNTS = (
    "Programs in this cluster would log in to the cloud (label cloud_provider_enabled, or "
    "volume_driver of the template), and this service has no domain for their users. Leave them "
    "out, or ask your operator to set JEROBOAM_TRUSTEE_DOMAIN."
)

log = structlog.get_logger(__name__)


async def specify(
    dependencies: Dependencies, caller: Caller, request: ClusterCreate, template: ClusterTemplate
) -> tuple[ClusterSpec, ClusterDriver]:
    """Return the cluster as it may be stored, without a trust, and the driver that builds it.

    Raises:
        JeroboamError: Something in the request, the template or the cloud does not fit.
    """
    values = _merged(request, template)
    _check_masters(request.master_count or 1, master_lb_enabled=values["master_lb_enabled"])
    template_rules.check_docker_volume(template, values["docker_volume_size"])
    found = await _look_up(dependencies, caller, template, values)
    driver = select_driver(dependencies, template, found).driver
    files = dependencies.drivers.files(driver.name)
    cluster = Cluster(
        **values,
        name=request.name or names.generate("cluster"),
        project_id=caller.identity.project_id,
        user_id=caller.identity.user_id,
        cluster_template_id=template.uuid,
        create_timeout=_or_default(request.create_timeout, DEFAULT_TIMEOUT_MINUTES),
        discovery_url=request.discovery_url,
        driver=driver.name,
        driver_version=driver.version,
        driver_files=files and files.digest,
        cloud=dependencies.settings.cloud,
    )
    groups = _default_groups(cluster, template, request, found.flavors)
    spec = ClusterSpec(cluster=cluster, template=template, node_groups=groups)
    await _validate(driver, spec)
    if await needs_account(driver, spec):
        if not dependencies.settings.trustee_domain:
            raise InvalidRequestError(_NO_ACCOUNTS)
        program_roles(caller.identity.roles)
    return spec, driver


def _merged(request: ClusterCreate, template: ClusterTemplate) -> dict[str, Any]:
    """Return the attributes that fall back on the template's."""
    merge = bool(request.merge_labels)
    return {
        "keypair": request.keypair or template.keypair_id,
        "flavor_id": request.flavor_id or template.flavor_id,
        "master_flavor_id": request.master_flavor_id or template.master_flavor_id,
        "docker_volume_size": request.docker_volume_size or template.docker_volume_size,
        "fixed_network": request.fixed_network or template.fixed_network,
        "fixed_subnet": request.fixed_subnet or template.fixed_subnet,
        "floating_ip_enabled": _or_default(
            request.floating_ip_enabled, template.floating_ip_enabled
        ),
        "master_lb_enabled": _or_default(request.master_lb_enabled, template.master_lb_enabled),
        "labels": label_rules.inherit(template.labels, request.labels, merge=merge),
        "merge_labels": merge,
    }


async def _look_up(
    dependencies: Dependencies, caller: Caller, template: ClusterTemplate, values: dict[str, Any]
) -> Found:
    flavors = [values["flavor_id"], values["master_flavor_id"]]
    found = await dependencies.directory(caller).look_up(
        Wanted(
            image=template.image_id,
            flavors=tuple(flavor for flavor in flavors if flavor),
            keypair=values["keypair"],
            external_network=template.external_network_id,
            fixed_network=values["fixed_network"],
            fixed_subnet=values["fixed_subnet"],
        )
    )
    for flavor in found.flavors.values():
        template_rules.check_root_disk(flavor, values["labels"])
    return found


def _check_masters(count: int, *, master_lb_enabled: bool) -> None:
    if count % 2 == 0:
        raise InvalidRequestError(
            f"master nodegroup size of {count} is invalid, size cannot be an even number."
        )
    if count > 1 and not master_lb_enabled:
        raise InvalidRequestError("master_count must be 1 when master_lb_enabled is False")


def _default_groups(
    cluster: Cluster,
    template: ClusterTemplate,
    request: ClusterCreate,
    flavors: Mapping[str, Flavor],
) -> tuple[NodeGroup, NodeGroup]:
    shared: dict[str, Any] = {
        "cluster_id": cluster.uuid,
        "project_id": cluster.project_id,
        "is_default": True,
        "image_id": template.image_id,
        "docker_volume_size": cluster.docker_volume_size,
        "labels": cluster.labels,
        "status": Status.CREATE_IN_PROGRESS,
    }
    masters = NodeGroup(
        **shared,
        name=f"default-{MASTER}",
        role=MASTER,
        flavor_id=cluster.master_flavor_id,
        vcpus=_vcpus(flavors, cluster.master_flavor_id),
        node_count=request.master_count or 1,
    )
    workers = NodeGroup(
        **shared,
        name=f"default-{WORKER}",
        role=WORKER,
        flavor_id=cluster.flavor_id,
        vcpus=_vcpus(flavors, cluster.flavor_id),
        node_count=_or_default(request.node_count, 1),
        min_node_count=_minimum_nodes(cluster),
    )
    return masters, workers


def _vcpus(flavors: Mapping[str, Flavor], ident: str | None) -> int | None:
    found = flavors.get(ident or "")
    return None if found is None else found.vcpus


def _minimum_nodes(cluster: Cluster) -> int:
    text = cluster.labels.get(MINIMUM_NODES_LABEL, "0")
    if not (text.isascii() and text.isdigit() and len(text) < len("1000000")):
        raise InvalidRequestError(
            f"Label '{MINIMUM_NODES_LABEL}' must be a number of nodes, not '{text}'."
        )
    return int(text)


async def _validate(driver: ClusterDriver, spec: ClusterSpec) -> None:
    try:
        await asked(driver.name, driver.validate, spec)
    except JeroboamError:
        raise
    except Exception as error:
        log.exception("driver_validate_defect", driver=driver.name)
        raise DriverContractError(
            f"Driver '{driver.name}' could not check the request. Tell the operator."
        ) from error


def _or_default(value: Any, default: Any) -> Any:
    return default if value is None else value
