"""What the template of a swarm takes beside the parameters of all COEs."""

from pathlib import Path

from jeroboam.drivers import swarm
from jeroboam.drivers.heat import mappings
from jeroboam.drivers.heat.docker.mappings import SHARED as DOCKER
from jeroboam.drivers.heat.template_definition import ParameterMapping, TemplateDefinition

SHARED = (
    Path(__file__).parent / "templates",
    Path(swarm.__file__).parent / "templates",
    *DOCKER,
)
"""The templates, scripts and units that all Swarm drivers on Heat share."""

PARAMETERS = (ParameterMapping("door_port", "plan.join_port"),)


def cluster_definition(folder: Path) -> TemplateDefinition:
    """Return the definition of a cluster's own stack; the driver's folder goes first."""
    return mappings.cluster_definition((folder, *SHARED), PARAMETERS)


def group_definition(folder: Path) -> TemplateDefinition:
    """Return the definition of the stack of a further node group."""
    return mappings.group_definition((folder, *SHARED))
