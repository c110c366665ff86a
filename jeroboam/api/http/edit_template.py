"""Makes and changes templates, with all that is checked before."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import structlog

from jeroboam.api.http import names, patches, template_rules
from jeroboam.api.http.caller import Caller
from jeroboam.api.http.dependencies import Dependencies
from jeroboam.api.http.directory import Found, Wanted
from jeroboam.api.http.schemas.cluster_template import ClusterTemplateAttributes
from jeroboam.drivers.base import ClusterDriver
from jeroboam.drivers.patience import asked
from jeroboam.drivers.registry import Selection
from jeroboam.errors import (
    DriverContractError,
    InvalidRequestError,
    JeroboamError,
    NotAuthorizedError,
)
from jeroboam.models import ClusterTemplate

MANDATORY = frozenset(
    {
        "coe",
        "image_id",
        "network_driver",
        "external_network_id",
        "tls_disabled",
        "public",
        "server_type",
        "registry_enabled",
        "cluster_distro",
        "hidden",
    }
)
CHANGEABLE_IN_USE = frozenset({"name", "public", "hidden", "tags"})
_DECIDES_DRIVER = frozenset({"coe", "image_id", "server_type", "driver"})

log = structlog.get_logger(__name__)


Edited: TypeAlias = tuple[ClusterTemplate, Selection | None]
"""A template that may be stored, and how its driver was selected if it was."""


async def new_template(
    dependencies: Dependencies, caller: Caller, attributes: ClusterTemplateAttributes
) -> Edited:
    """Return a template that may be stored; its driver and distribution are resolved."""
    template = ClusterTemplate(
        **_values(attributes),
        name=attributes.name or names.generate("template"),
        project_id=caller.identity.project_id,
        user_id=caller.identity.user_id,
    )
    template = _with_network_driver(template)
    template_rules.check(template)
    if template.public or template.hidden:
        _require_publish(dependencies, caller)
    found = await look_up(dependencies, caller, template)
    return await _with_driver(template, select_driver(dependencies, template, found))


async def changed_template(
    dependencies: Dependencies,
    caller: Caller,
    template: ClusterTemplate,
    patch: Sequence[patches.PatchOperation],
) -> Edited:
    """Return the template as the patch makes it.

    Raises:
        InvalidRequestError: The patch is wrong, or clusters that use the template forbid it.
    """
    document = template.model_dump(include=set(ClusterTemplateAttributes.model_fields))
    patched = patches.apply(document, patch, mandatory=MANDATORY)
    attributes = patches.validated(ClusterTemplateAttributes, patched)
    values = _values(attributes) | {"name": attributes.name or template.name}
    changed = _with_network_driver(template.model_copy(update=values))
    await _check_change(dependencies, caller, template, changed)
    return await _resolved(dependencies, caller, template, changed)


async def look_up(dependencies: Dependencies, caller: Caller, template: ClusterTemplate) -> Found:
    """Find in the cloud all that the template mentions."""
    flavors = [template.flavor_id, template.master_flavor_id]
    found = await dependencies.directory(caller).look_up(
        Wanted(
            image=template.image_id,
            flavors=tuple(flavor for flavor in flavors if flavor),
            external_network=template.external_network_id,
            fixed_network=template.fixed_network,
            fixed_subnet=template.fixed_subnet,
        )
    )
    for flavor in found.flavors.values():
        template_rules.check_root_disk(flavor, template.labels)
    return found


def select_driver(dependencies: Dependencies, template: ClusterTemplate, found: Found) -> Selection:
    """Select the driver for a template whose image was found."""
    if found.image is None:
        raise InvalidRequestError(f"Unable to find image {template.image_id}.")
    selection = dependencies.drivers.select(
        explicit=template.driver,
        image_properties=found.image.properties,
        coe=template.coe,
        server_type=template.server_type,
    )
    dependencies.warnings.log(found.image, selection)
    return selection


async def _resolved(
    dependencies: Dependencies, caller: Caller, old: ClusterTemplate, new: ClusterTemplate
) -> Edited:
    found = await look_up(dependencies, caller, new)
    changes = _changes(old, new)
    if not changes & _DECIDES_DRIVER:
        if "labels" in changes and new.driver:
            await _validate(dependencies.drivers.get(new.driver), new)
        return new, None
    return await _with_driver(new, select_driver(dependencies, new, found))


async def _check_change(
    dependencies: Dependencies, caller: Caller, old: ClusterTemplate, new: ClusterTemplate
) -> None:
    changes = _changes(old, new)
    if changes & {"public", "hidden"}:
        _require_publish(dependencies, caller)
    if changes - CHANGEABLE_IN_USE and await dependencies.store.templates.in_use(old.uuid):
        raise InvalidRequestError(
            f"ClusterTemplate {old.uuid} is referenced by one or multiple clusters. "
            f"Only these can change now: {', '.join(sorted(CHANGEABLE_IN_USE))}."
        )
    template_rules.check(new)


def _changes(old: ClusterTemplate, new: ClusterTemplate) -> set[str]:
    before, after = old.model_dump(), new.model_dump()
    return {key for key, value in after.items() if before[key] != value}


def _values(attributes: ClusterTemplateAttributes) -> dict[str, Any]:
    """Return all attributes but the name, the model's defaults for those left out or nulled."""
    given = attributes.model_dump(
        include=set(ClusterTemplateAttributes.model_fields), exclude={"name"}
    )
    return {key: _default(key) if value is None else value for key, value in given.items()}


def _default(field: str) -> Any:
    return ClusterTemplate.model_fields[field].get_default(call_default_factory=True)


def _with_network_driver(template: ClusterTemplate) -> ClusterTemplate:
    if template.network_driver is not None:
        return template
    default = template_rules.default_network_driver(template.coe)
    return template.model_copy(update={"network_driver": default})


async def _with_driver(template: ClusterTemplate, selection: Selection) -> Edited:
    chosen = template.model_copy(
        update={"driver": selection.driver.name, "cluster_distro": selection.distro}
    )
    await _validate(selection.driver, chosen)
    return chosen, selection


async def _validate(driver: ClusterDriver, template: ClusterTemplate) -> None:
    try:
        await asked(driver.name, driver.validate_template, template)
    except JeroboamError:
        raise
    except Exception as error:
        log.exception("driver_validate_defect", driver=driver.name)
        raise DriverContractError(
            f"Driver '{driver.name}' could not check the template. Tell the operator."
        ) from error


def _require_publish(dependencies: Dependencies, caller: Caller) -> None:
    if not dependencies.authorizer.permits("clustertemplate:publish", caller.identity):
        raise NotAuthorizedError(
            "Not authorized to set public or hidden flag for cluster template. "
            "Policy rule: clustertemplate:publish."
        )
