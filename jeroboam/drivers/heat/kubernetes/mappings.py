"""The mappings that any template of a Kubernetes cluster shares."""

from jeroboam.drivers.heat.template_definition import (
    AddressMapping,
    OutputMapping,
    ParameterMapping,
)

PARAMETERS = (
    ParameterMapping("cluster_name", "names.cluster", required=True),
    ParameterMapping("worker_group_name", "names.workers"),
    ParameterMapping("image", "plan.image", required=True),
    ParameterMapping("keypair", "cluster.keypair"),
    ParameterMapping("master_flavor", "masters.flavor_id", required=True),
    ParameterMapping("master_count", "masters.node_count"),
    ParameterMapping("worker_flavor", "plan.worker_flavor", required=True),
    ParameterMapping("worker_count", "workers.node_count", default=0),
    ParameterMapping("availability_zone", "labels.availability_zone"),
    ParameterMapping("server_group_policy", "labels.server_group_policy"),
    ParameterMapping("master_ignition", "ignition.master", required=True),
    ParameterMapping("worker_ignition", "ignition.worker", required=True),
    ParameterMapping("ready_timeout", "limits.ready_seconds"),
    ParameterMapping("external_network", "template.external_network_id"),
    ParameterMapping("fixed_network", "cluster.fixed_network"),
    ParameterMapping("fixed_subnet", "cluster.fixed_subnet"),
    ParameterMapping("fixed_subnet_cidr", "labels.fixed_subnet_cidr"),
    ParameterMapping("dns_nameservers", "template.dns_nameserver"),
    ParameterMapping("pod_network", "plan.pod_network"),
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
    ParameterMapping("etcd_volume_size", "labels.etcd_volume_size"),
    ParameterMapping("etcd_volume_type", "labels.etcd_volume_type"),
    ParameterMapping("storage_volume_size", "masters.docker_volume_size"),
    ParameterMapping("worker_storage_volume_size", "workers.docker_volume_size"),
    ParameterMapping("storage_volume_type", "labels.docker_volume_type"),
)

OUTPUTS = (OutputMapping("api_address", "api_address"),)

ADDRESSES = (
    AddressMapping("master", ("master_addresses", "master_addresses_private")),
    AddressMapping("worker", ("node_addresses", "node_addresses_private")),
)
