"""The mappings that any cluster of masters and workers shares, whatever its COE."""

from collections.abc import Sequence
from pathlib import Path

from jeroboam.drivers import nodes
from jeroboam.drivers.heat.template_definition import (
    AddressMapping,
    OutputMapping,
    ParameterMapping,
    TemplateDefinition,
)
from jeroboam.drivers.nodes.files import Files

SHARED = (Path(__file__).parent / "templates", Path(nodes.__file__).parent / "templates")
"""One master, one worker, a group of workers, and the scripts that every COE needs."""


def _present(values: Sequence[str | None]) -> list[str]:
    """Leave out the gap that Heat shows for what a condition switched off."""
    return [value for value in values if value]


PARAMETERS = (
    ParameterMapping("cluster_name", "names.cluster", required=True),
    ParameterMapping("worker_group_name", "names.workers"),
    ParameterMapping("master_image", "master_setup.image", required=True),
    ParameterMapping("worker_image", "worker_setup.image", required=True),
    ParameterMapping("keypair", "cluster.keypair"),
    ParameterMapping("master_flavor", "masters.flavor_id", required=True),
    ParameterMapping("master_count", "masters.node_count"),
    ParameterMapping("worker_flavor", "plan.worker_flavor", required=True),
    ParameterMapping("worker_count", "workers.node_count", default=0),
    ParameterMapping("availability_zone", "labels.availability_zone"),
    ParameterMapping("server_group_policy", "labels.server_group_policy"),
    ParameterMapping("master_user_data", "master_setup.user_data", required=True),
    ParameterMapping("worker_user_data", "worker_setup.user_data", required=True),
    ParameterMapping("signal_escapes", "document.escapes", convert=dict),
    ParameterMapping("master_release", "master_setup.release"),
    ParameterMapping("worker_release", "worker_setup.release"),
    ParameterMapping("master_version", "master_setup.version"),
    ParameterMapping("worker_version", "worker_setup.version"),
    ParameterMapping("ready_timeout", "limits.ready_seconds"),
    ParameterMapping("external_network", "template.external_network_id"),
    ParameterMapping("fixed_network", "cluster.fixed_network"),
    ParameterMapping("fixed_subnet", "cluster.fixed_subnet"),
    ParameterMapping("fixed_subnet_cidr", "labels.fixed_subnet_cidr"),
    ParameterMapping("dns_nameservers", "template.dns_nameserver"),
    ParameterMapping("api_port", "plan.api_port"),
    ParameterMapping("ssh_allowed_cidrs", "labels.ssh_allowed_cidrs", convert=list),
    ParameterMapping("floating_ip_enabled", "cluster.floating_ip_enabled"),
    ParameterMapping("master_lb_enabled", "cluster.master_lb_enabled"),
    ParameterMapping("master_lb_floating_ip_enabled", "plan.load_balancer_is_public"),
    ParameterMapping("master_lb_allowed_cidrs", "labels.master_lb_allowed_cidrs", convert=list),
    ParameterMapping("octavia_provider", "labels.octavia_provider"),
    ParameterMapping("octavia_lb_algorithm", "plan.balancing"),
    ParameterMapping("boot_volume_size", "labels.boot_volume_size"),
    ParameterMapping("boot_volume_type", "labels.boot_volume_type"),
    ParameterMapping("storage_volume_size", "masters.docker_volume_size"),
    ParameterMapping("worker_storage_volume_size", "workers.docker_volume_size"),
    ParameterMapping("storage_volume_type", "labels.docker_volume_type"),
)

OUTPUTS = (OutputMapping("api_address", "api_address"),)

ADDRESSES = (
    AddressMapping("master", ("master_addresses", "master_addresses_private"), "master_nodes"),
    AddressMapping("worker", ("node_addresses", "node_addresses_private"), "worker_nodes"),
)

# Of a node group with a stack of its own. What it shares with its cluster, the cluster's stack
# tells in its outputs.
GROUP_PARAMETERS = (
    ParameterMapping("cluster_name", "names.cluster", required=True),
    ParameterMapping("group_name", "group_name", required=True),
    ParameterMapping("count", "group.node_count"),
    ParameterMapping("image", "setup.image", required=True),
    ParameterMapping("flavor", "group.flavor_id", required=True),
    ParameterMapping("user_data", "setup.user_data", required=True),
    ParameterMapping("signal_escapes", "document.escapes", convert=dict),
    ParameterMapping("release", "setup.release"),
    ParameterMapping("version", "setup.version"),
    ParameterMapping("ready_timeout", "limits.ready_seconds"),
    ParameterMapping("keypair", "cluster.keypair"),
    ParameterMapping("availability_zone", "labels.availability_zone"),
    ParameterMapping("server_group_policy", "labels.server_group_policy"),
    ParameterMapping("boot_volume_size", "labels.boot_volume_size"),
    ParameterMapping("boot_volume_type", "labels.boot_volume_type"),
    ParameterMapping("storage_volume_size", "group.docker_volume_size"),
    ParameterMapping("storage_volume_type", "labels.docker_volume_type"),
    ParameterMapping("pod_network", "plan.pod_range"),
    ParameterMapping("network", "outputs.network", required=True),
    ParameterMapping("subnet", "outputs.subnet"),
    ParameterMapping("security_groups", "outputs.worker_security_groups", convert=_present),
    ParameterMapping("floating_network", "outputs.worker_floating_network"),
    ParameterMapping("api_address", "outputs.api_address_private", required=True),
)

GROUP_NODES = "nodes"
"""Output of a group's own stack."""


def cluster_definition(
    folders: Sequence[Path], extra: Sequence[ParameterMapping] = ()
) -> TemplateDefinition:
    """Return the definition of a cluster's own stack.

    Args:
        folders: With the driver's files; those that all COEs share are searched last.
        extra: What the COE's template takes beside the common parameters.
    """
    return TemplateDefinition(
        files=Files((*folders, *SHARED)),
        template="cluster.yaml",
        parameters=(*PARAMETERS, *extra),
        outputs=OUTPUTS,
        addresses=ADDRESSES,
    )


def group_definition(
    folders: Sequence[Path], extra: Sequence[ParameterMapping] = ()
) -> TemplateDefinition:
    """Return the definition of the stack of a further node group."""
    return TemplateDefinition(
        files=Files((*folders, *SHARED)),
        template="node_group.yaml",
        parameters=(*GROUP_PARAMETERS, *extra),
    )
