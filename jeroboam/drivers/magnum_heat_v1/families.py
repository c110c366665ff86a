"""How the stacks of Magnum's Heat drivers name things, by family of drivers. Pure.

Source: the templates and template definitions of Magnum 4.0 to 22.0.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from jeroboam.errors import InvalidRequestError


@dataclass(frozen=True)
class Family:
    """The drivers of one COE.

    Args:
        coe: As Magnum's templates name it.
        count: Parameter with the number of workers; it tells the families apart.
        removals: Parameter with the workers to remove first, where there is one.
        masters: Resource groups of the control plane.
        workers: Resource groups of the workers.
        master_outputs: Lists of addresses, public ones first.
        worker_outputs: The same of the workers.
        worker_flavor: Parameters with it, the newest driver's first.
        images: Parameters with the workers' image.
        scheme: Of the API's URL.
        port: Of the API, unless the parameter ``kubernetes_port`` says otherwise.
    """

    coe: str
    count: str
    removals: str | None
    masters: tuple[str, ...]
    workers: tuple[str, ...]
    master_outputs: tuple[tuple[str, ...], ...]
    worker_outputs: tuple[tuple[str, ...], ...]
    worker_flavor: str
    images: tuple[str, ...]
    scheme: str
    port: int


KUBERNETES = Family(
    coe="kubernetes",
    count="number_of_minions",
    removals="minions_to_remove",
    masters=("kube_masters",),
    workers=("kube_minions",),
    master_outputs=(("kube_masters",), ("kube_masters_private",)),
    worker_outputs=(("kube_minions",), ("kube_minions_private",)),
    worker_flavor="minion_flavor",
    images=("minion_image", "server_image"),
    scheme="https",
    port=6443,
)

SWARM = Family(
    coe="swarm",
    count="number_of_nodes",
    removals="nodes_to_remove",
    masters=("swarm_masters",),
    workers=("swarm_nodes",),
    master_outputs=(("swarm_masters",), ("swarm_masters_private",)),
    worker_outputs=(("swarm_nodes",), ("swarm_nodes_private",)),
    worker_flavor="node_flavor",
    images=("server_image", "node_image"),
    scheme="tcp",
    port=2376,
)

SWARM_MODE = Family(
    coe="swarm-mode",
    count="number_of_nodes",
    removals="nodes_to_remove",
    masters=("swarm_primary_master", "swarm_secondary_masters"),
    workers=("swarm_nodes",),
    master_outputs=(
        ("swarm_primary_master", "swarm_secondary_masters"),
        ("swarm_primary_master_private", "swarm_secondary_masters_private"),
    ),
    worker_outputs=(("swarm_nodes",), ("swarm_nodes_private",)),
    worker_flavor="node_flavor",
    images=("server_image", "node_image"),
    scheme="tcp",
    port=2375,
)

MESOS = Family(
    coe="mesos",
    count="number_of_slaves",
    removals="slaves_to_remove",
    masters=("mesos_masters",),
    workers=("mesos_slaves",),
    master_outputs=(("mesos_master",), ("mesos_master_private",)),
    worker_outputs=(("mesos_slaves",), ("mesos_slaves_private",)),
    worker_flavor="slave_flavor",
    images=("server_image", "slave_image"),
    scheme="http",
    port=5050,
)

_BY_COUNT = {one.count: one for one in (KUBERNETES, SWARM, MESOS)}


def of(parameters: Mapping[str, str], outputs: Mapping[str, object] | None = None) -> Family:
    """Return the family that a stack belongs to.

    Args:
        outputs: Tell Swarm's two families apart.

    Raises:
        InvalidRequestError: It belongs to none.
    """
    for name, family in _BY_COUNT.items():
        if name in parameters:
            newer = family is SWARM and "swarm_primary_master" in (outputs or {})
            return SWARM_MODE if newer else family
    raise InvalidRequestError(
        "The stack is none of Magnum's Heat drivers: it has none of the parameters "
        f"{', '.join(_BY_COUNT)}. Name the stack of a whole cluster, as "
        "`openstack coe cluster show CLUSTER -c stack_id` told it."
    )


_NAMES = """
    admission_control_list auto_healing_controller auto_healing_enabled auto_scaling_enabled
    autoscaler_tag availability_zone boot_volume_size boot_volume_type calico_ipv4pool
    calico_ipv4pool_ipip calico_tag cert_manager_api cgroup_driver cinder_csi_enabled
    cinder_csi_plugin_tag cloud_provider_enabled cloud_provider_tag cluster_root_domain_name
    container_infra_prefix container_runtime containerd_tarball_sha256 containerd_tarball_url
    containerd_version coredns_tag csi_attacher_tag csi_liveness_probe_tag
    csi_node_driver_registrar_tag csi_provisioner_tag csi_resizer_tag csi_snapshotter_tag
    docker_volume_type draino_tag etcd_tag etcd_volume_size etcd_volume_type fixed_subnet_cidr
    flannel_backend flannel_cni_tag flannel_network_cidr flannel_network_subnetlen flannel_tag
    heapster_enabled heat_container_agent_tag helm_client_sha256 helm_client_tag helm_client_url
    hyperkube_prefix influx_grafana_dashboard_enabled ingress_controller ingress_controller_role
    k8s_keystone_auth_tag keystone_auth_enabled kube_dashboard_enabled kube_dashboard_version
    kube_image_digest kube_tag kube_version kubeapi_options kubecontroller_options kubelet_options
    kubeproxy_options kubescheduler_options magnum_auto_healer_tag master_lb_allowed_cidrs
    max_node_count metrics_scraper_tag metrics_server_chart_tag metrics_server_enabled
    min_node_count monitoring_enabled monitoring_ingress_enabled monitoring_interval_seconds
    monitoring_retention_days monitoring_retention_size monitoring_storage_class_name
    nginx_ingress_controller_chart_tag nginx_ingress_controller_tag node_problem_detector_tag
    npd_enabled octavia_ingress_controller_tag octavia_lb_algorithm octavia_lb_healthcheck
    octavia_provider ostree_commit ostree_remote prometheus_adapter_chart_tag
    prometheus_adapter_configmap prometheus_adapter_enabled prometheus_monitoring
    prometheus_operator_chart_tag prometheus_tag selinux_mode system_pods_initial_delay
    system_pods_timeout traefik_ingress_controller_tag use_podman
"""

LABELS = frozenset(_NAMES.split())
"""Labels of Magnum that are parameters of the same name; those that hold secrets are left out."""

SERVICE_RANGE = "service_cluster_ip_range"
SERVICE_PARAMETER = "portal_network_cidr"
