"""What the template of a Kubernetes cluster takes beside the parameters of all COEs."""

from pathlib import Path

from jeroboam.drivers import kubernetes
from jeroboam.drivers.heat import mappings
from jeroboam.drivers.heat.template_definition import ParameterMapping, TemplateDefinition

SHARED = (
    Path(__file__).parent / "templates",
    Path(kubernetes.__file__).parent / "templates",
)
"""The templates, scripts and units that all Kubernetes drivers on Heat share."""

PARAMETERS = (
    ParameterMapping("pod_network", "plan.pod_network"),
    ParameterMapping("octavia_lb_healthcheck", "labels.octavia_lb_healthcheck"),
    ParameterMapping("etcd_volume_size", "labels.etcd_volume_size"),
    ParameterMapping("etcd_volume_type", "labels.etcd_volume_type"),
)


def cluster_definition(folder: Path) -> TemplateDefinition:
    """Return the definition of a cluster's own stack; the driver's folder goes first."""
    return mappings.cluster_definition((folder, *SHARED), PARAMETERS)


def group_definition(folder: Path) -> TemplateDefinition:
    """Return the definition of the stack of a further node group."""
    return mappings.group_definition((folder, *SHARED))
