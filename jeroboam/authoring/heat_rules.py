"""What of a driver's Heat templates can be told only by looking at them.

Whether mappings and parameters fit together is checked whenever a driver is loaded.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jeroboam.drivers.heat.driver import HeatDriver
from jeroboam.drivers.heat.template_definition import TemplateDefinition

_SECRET = ("user_data", "password", "private_key")


def problems(driver: HeatDriver) -> Iterator[tuple[str, str]]:
    """Yield template and what is wrong with it, for each definition of a driver."""
    definitions = (driver.definition, getattr(driver, "group_definition", None))
    for definition in definitions:
        if isinstance(definition, TemplateDefinition):
            path = f"templates/{definition.template}"
            for text in _problems(definition):
                yield path, text


def _problems(definition: TemplateDefinition) -> Iterator[str]:
    template, _ = definition.load()
    declared: Mapping[str, Any] = template.get("parameters") or {}
    for name, parameter in sorted(declared.items()):
        if name.endswith(_SECRET) and (parameter or {}).get("hidden") is not True:
            yield f"The parameter '{name}' holds secrets: it needs 'hidden: true'."
    yield from _outputs(definition, template.get("outputs") or {})


def _outputs(definition: TemplateDefinition, declared: Mapping[str, Any]) -> Iterator[str]:
    wanted = {one.output for one in definition.outputs}
    for mapping in definition.addresses:
        wanted |= {*mapping.outputs, *filter(None, [mapping.nodes])}
    for name in sorted(wanted - declared.keys()):
        yield f"template_def.py reads the output '{name}', and the template has no such output."
