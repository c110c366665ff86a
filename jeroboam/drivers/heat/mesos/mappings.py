"""What the templates of a Mesos cluster take beside the parameters of all COEs."""

from collections.abc import Sequence
from pathlib import Path

from jeroboam.drivers import mesos
from jeroboam.drivers.heat import mappings
from jeroboam.drivers.heat.docker.mappings import SHARED as DOCKER
from jeroboam.drivers.heat.template_definition import ParameterMapping, TemplateDefinition

SHARED = (
    Path(__file__).parent / "templates",
    Path(mesos.__file__).parent / "templates",
    *DOCKER,
)
"""The templates, scripts and units that all Mesos drivers on Heat share."""


def _joined(addresses: Sequence[str]) -> str:
    return ",".join(addresses)


PARAMETERS = (ParameterMapping("tells_masters", "plan.tells_masters"),)
GROUP_PARAMETERS = (
    ParameterMapping(
        "master_addresses", "outputs.master_addresses_private", required=True, convert=_joined
    ),
)


def cluster_definition(folder: Path) -> TemplateDefinition:
    """Return the definition of a cluster's own stack; the driver's folder goes first."""
    return mappings.cluster_definition((folder, *SHARED), PARAMETERS)


def group_definition(folder: Path) -> TemplateDefinition:
    """Return the definition of the stack of a further node group."""
    return mappings.group_definition((folder, *SHARED), GROUP_PARAMETERS)
