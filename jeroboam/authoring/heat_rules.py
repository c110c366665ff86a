"""Whether a driver's mappings and its Heat templates fit together."""

from collections.abc import Iterator, Mapping
from typing import Any

from jeroboam.drivers.heat.driver import HeatDriver
from jeroboam.drivers.heat.template_definition import TemplateDefinition
from jeroboam.errors import DriverContractError

_SECRET = frozenset({"user_data", "ignition"})
_OF_MOVES = frozenset({"slot", "removals", "batch"})
"""Parameters that the base of all Heat drivers sets when a cluster changes."""


def problems(driver: HeatDriver) -> Iterator[tuple[str, str]]:
    """Yield template and what is wrong with it, for each definition of a driver."""
    definitions = (driver.definition, getattr(driver, "group_definition", None))
    for definition in definitions:
        if isinstance(definition, TemplateDefinition):
            path = f"templates/{definition.template}"
            for text in _problems(definition):
                yield path, text


def _problems(definition: TemplateDefinition) -> Iterator[str]:
    try:
        template, _ = definition.load()
    except DriverContractError as error:
        yield error.message
        return
    declared: Mapping[str, Any] = template.get("parameters") or {}
    mapped = {one.parameter for one in definition.parameters}
    for name in sorted(mapped - declared.keys()):
        yield f"template_def.py gives a value to '{name}', and the template has no such parameter."
    for name, parameter in sorted(declared.items()):
        base = name.rpartition("_")[2]
        if name not in mapped and "default" not in parameter and base not in _OF_MOVES:
            yield f"Nothing gives a value to the parameter '{name}'. Map it, or give a default."
        if any(name.endswith(one) for one in _SECRET) and parameter.get("hidden") is not True:
            yield f"The parameter '{name}' holds secrets: it needs 'hidden: true'."
    yield from _outputs(definition, template.get("outputs") or {})


def _outputs(definition: TemplateDefinition, declared: Mapping[str, Any]) -> Iterator[str]:
    wanted = {one.output for one in definition.outputs}
    for mapping in definition.addresses:
        wanted |= {*mapping.outputs, *filter(None, [mapping.nodes])}
    for name in sorted(wanted - declared.keys()):
        yield f"template_def.py reads the output '{name}', and the template has no such output."
