"""The template and its mappings."""

from pathlib import Path

from jeroboam.drivers.heat.kubernetes import mappings
from jeroboam.drivers.heat.template_definition import TemplateDefinition

DEFINITION = TemplateDefinition(
    template=Path(__file__).parent / "templates" / "cluster.yaml",
    parameters=mappings.PARAMETERS,
    outputs=mappings.OUTPUTS,
    addresses=mappings.ADDRESSES,
)
