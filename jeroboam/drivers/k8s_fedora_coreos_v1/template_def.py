"""The template and its mappings."""

from pathlib import Path

from jeroboam.drivers.heat.kubernetes import mappings
from jeroboam.drivers.heat.template_definition import TemplateDefinition

_FOLDER = Path(__file__).parent / "templates"

DEFINITION = TemplateDefinition(
    template=_FOLDER / "cluster.yaml",
    parameters=mappings.PARAMETERS,
    outputs=mappings.OUTPUTS,
    addresses=mappings.ADDRESSES,
)

GROUP_DEFINITION = TemplateDefinition(
    template=_FOLDER / "node_group.yaml",
    parameters=mappings.GROUP_PARAMETERS,
)
