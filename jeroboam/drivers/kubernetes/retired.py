"""Labels of Magnum's Kubernetes drivers that are refused, and what to do instead.

One that asks for nothing, because it is empty or false, is accepted: templates that were written
for Magnum often say so.
"""

_MANIFEST = "Name its manifest in addon_manifest_urls, or install it when the cluster is up."
_CREDENTIALS = (
    "Install it when the cluster is up, with an application credential of yours. The account that "
    "cloud_provider_enabled and cinder_csi_enabled bring into a cluster is for these two alone."
)
_SIDECAR = "The manifests of Cinder's CSI driver name it. Set cinder_csi_plugin_tag."
_HELM = "Nothing is installed by Helm. Name manifests in addon_manifest_urls."
_API_FLAG = "Set the flags of the API server in kubeapi_options."

_REPLACED = {
    "kube_version": "Set kube_tag.",
    "hyperkube_prefix": "Set container_infra_prefix.",
    "kube_image_digest": "Images are pulled by tags. Set kube_tag and container_infra_prefix.",
    "api_master_lb_allowed_cidrs": "Set master_lb_allowed_cidrs.",
    "boot_volume_availability_zone": "Set availability_zone.",
    "etcd_blockdevice_size": "Set etcd_volume_size.",
    "etcd_blockdevice_type": "Set etcd_volume_size.",
    "etcd_blockdevice_volume_type": "Set etcd_volume_type.",
    "etcd_blockdevice_volume_az": "Set availability_zone.",
    "server_group_policies": "Set server_group_policy.",
    "different_failure_domain": "Set server_group_policy.",
    "flannel_cni_tag": "flannel's manifest names it. Set flannel_tag or flannel_manifest_url.",
    "metrics_server_chart_tag": "Set metrics_server_tag.",
    "kubelet_tls_cipher_suites": "Set the flag in kubelet_options.",
    "ostree_remote": "Upgrade to a template with another image.",
    "ostree_commit": "Upgrade to a template with another image.",
    "heat_container_agent_tag": "There is no agent on the nodes. Leave it out.",
    "use_podman": "System services run under systemd itself. Leave it out.",
    "system_pods_initial_delay": "Nodes are waited for until create_timeout. Set that.",
    "system_pods_timeout": "Nodes are waited for until create_timeout. Set that.",
    "auto_healing_enabled": "Look at health_status, and have a schedule rebuild nodes.",
    "auto_healing_controller": "Look at health_status, and have a schedule rebuild nodes.",
    "auto_scaling_enabled": "Run the cluster autoscaler with its provider magnum against this "
    "service; it keeps min_node_count and max_node_count.",
    "capi_helm_chart_version": "This driver uses no chart. Leave it out.",
    "extra_network_names": "Nodes have one network. Name it in fixed_network.",
}

RETIRED = {
    **_REPLACED,
    **dict.fromkeys(
        (
            *("audit_log_enabled", "audit_log_maxage", "audit_log_maxbackup", "audit_log_maxsize"),
            *("api_server_tls_cipher_suites", "oidc_issuer_url", "oidc_client_id"),
            *("oidc_username_claim", "oidc_username_prefix"),
            *("oidc_groups_claim", "oidc_groups_prefix"),
        ),
        _API_FLAG,
    ),
    **dict.fromkeys(
        (
            *("csi_attacher_tag", "csi_provisioner_tag", "csi_snapshotter_tag"),
            *("csi_resizer_tag", "csi_node_driver_registrar_tag", "csi_liveness_probe_tag"),
        ),
        _SIDECAR,
    ),
    **dict.fromkeys(
        (
            *("manila_csi_plugin_tag", "manila_csi_share_network_id"),
            *("keystone_auth_enabled", "k8s_keystone_auth_tag"),
            *("octavia_ingress_controller_tag", "magnum_auto_healer_tag", "autoscaler_tag"),
        ),
        _CREDENTIALS,
    ),
    **dict.fromkeys(
        (
            *("ingress_controller", "ingress_controller_role", "traefik_ingress_controller_tag"),
            *("nginx_ingress_controller_tag", "kube_dashboard_enabled", "kube_dashboard_version"),
            *("metrics_scraper_tag", "influx_grafana_dashboard_enabled", "heapster_enabled"),
            *("npd_enabled", "node_problem_detector_tag", "draino_tag"),
            *("monitoring_enabled", "monitoring_retention_days", "monitoring_retention_size"),
            *("monitoring_storage_class_name", "monitoring_interval_seconds"),
            *("monitoring_ingress_enabled", "cluster_basic_auth_secret"),
            *("cluster_root_domain_name", "prometheus_monitoring", "prometheus_tag"),
            *("grafana_tag", "grafana_admin_passwd", "prometheus_adapter_enabled"),
            *("prometheus_adapter_configmap", "cilium_hubble_ui_enabled"),
        ),
        _MANIFEST,
    ),
    **dict.fromkeys(
        (
            *("helm_client_url", "helm_client_sha256", "helm_client_tag"),
            *("nginx_ingress_controller_chart_tag", "prometheus_operator_chart_tag"),
            *("prometheus_adapter_chart_tag",),
        ),
        _HELM,
    ),
}
"""Each label with one sentence for whoever used it."""
