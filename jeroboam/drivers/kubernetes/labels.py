"""The labels of the Kubernetes drivers; names are Magnum's wherever it has one."""

import re
from typing import Any

from jeroboam.drivers.kubernetes.options import parse_flags
from jeroboam.drivers.kubernetes.retired import RETIRED
from jeroboam.drivers.labels import BOOLEAN, NATURAL, NETWORK, Kind, Label, LabelTable, choice
from jeroboam.drivers.nodes.labels import (
    CLOUD,
    IMAGE_PREFIX,
    NAME,
    SHA256,
    URL,
    VERSION,
    between,
    matching,
)

_PLUGIN = re.compile(r"[A-Za-z]+(?:,[A-Za-z]+)*")
_HOSTS = re.compile(r"[A-Za-z0-9.*:-]+(?:,[A-Za-z0-9.*:-]+)*")
_URLS = re.compile(r"https?://[^\s\"'\\]+(?:\s+https?://[^\s\"'\\]+)*")

PLUGINS = matching("list of plug-ins", "names of plug-ins separated by commas", _PLUGIN)
HOSTS = matching("list of hosts", "names or addresses separated by commas", _HOSTS)
URLS = matching("list of URLs", "http or https URLs separated by blanks", _URLS)
OPTIONS = Kind("flags", "flags as --name=value, separated by blanks", parse_flags)
SUBNET_LENGTH = between("prefix length", 16, 30)
"""What flannel can hand out to a node."""
KUBE_PROXY = Kind(
    "flags",
    "flags out of --proxy-mode, --metrics-bind-address, --conntrack-max-per-core",
    lambda text: parse_flags(
        text, {"proxy-mode", "metrics-bind-address", "conntrack-max-per-core"}
    ),
)

OLDEST_PROGRAMS = (1, 27)
"""The first of cloud-provider-openstack whose manifests name the images of a release."""


def _program_tag(text: str) -> str:
    tag = str(VERSION.parse(text))
    major, minor, *_ = (int(part) for part in re.findall(r"\d+", tag))
    if (major, minor) < OLDEST_PROGRAMS:
        raise ValueError(text)
    return tag


PROGRAM_VERSION = Kind("version", "a version as v1.36.0, from v1.27.0 on", _program_tag)

_CLOUD_PROVIDER_OPENSTACK = (
    "https://raw.githubusercontent.com/kubernetes/cloud-provider-openstack/{tag}/manifests"
)

_COMPONENTS = (
    Label("kube_tag", VERSION, "v1.37.1", "Version of Kubernetes."),
    IMAGE_PREFIX,
    Label(
        "kube_binaries_url",
        URL,
        "https://dl.k8s.io/release",
        "Where kubeadm, kubelet and kubectl are; `/<version>/bin/linux/<arch>/` follows.",
    ),
    Label("crictl_tag", VERSION, "v1.37.0", "Version of crictl."),
    Label(
        "crictl_url",
        URL,
        "https://github.com/kubernetes-sigs/cri-tools/releases/download",
        "Where crictl is; `/<version>/<archive>` follows.",
    ),
    Label("cni_plugins_tag", VERSION, "v1.9.1", "Version of the basic CNI plugins."),
    Label(
        "cni_plugins_url",
        URL,
        "https://github.com/containernetworking/plugins/releases/download",
        "Where the CNI plugins are; `/<version>/<archive>` follows.",
    ),
    Label(
        "containerd_version",
        VERSION,
        "",
        "Version of containerd; without it the one that the image brings along.",
    ),
    Label(
        "containerd_url",
        URL,
        "https://github.com/containerd/containerd/releases/download",
        "Where containerd is; `/<version>/<archive>` follows.",
    ),
    Label(
        "containerd_tarball_sha256",
        SHA256,
        "",
        "Checksum of containerd's archive; without it the one published beside the archive.",
    ),
    Label(
        "containerd_tarball_url",
        URL,
        "",
        "containerd's archive itself, in place of what containerd_url leads to.",
    ),
    Label(
        "container_runtime",
        choice("containerd"),
        "containerd",
        "The container runtime; Kubernetes itself talks to Docker no more.",
    ),
    Label("runc_version", VERSION, "", "Version of runc; without it the one of the image."),
    Label(
        "runc_url",
        URL,
        "https://github.com/opencontainers/runc/releases/download",
        "Where runc is; `/<version>/runc.<arch>` follows.",
    ),
    Label("runc_sha256", SHA256, "", "Checksum of runc; without it the one published beside it."),
    Label("etcd_tag", NAME, "", "Tag of etcd's image; without it the one of kubeadm."),
    Label("coredns_tag", NAME, "", "Tag of CoreDNS's image; without it the one of kubeadm."),
    Label(
        "cgroup_v1_allowed",
        BOOLEAN,
        "false",
        "Whether nodes may have version 1 of control groups, as long as Kubernetes bears it.",
    ),
    Label("cgroup_driver", choice("systemd", "cgroupfs"), "systemd", "Of containerd and kubelet."),
)
_NETWORK = (
    Label("service_cluster_ip_range", NETWORK, "10.254.0.0/16", "Addresses of services."),
    Label("flannel_tag", VERSION, "v0.28.4", "Version of flannel."),
    Label("flannel_network_cidr", NETWORK, "10.100.0.0/16", "Addresses of pods with flannel."),
    Label("flannel_network_subnetlen", SUBNET_LENGTH, "24", "Size of a node's share of them."),
    Label(
        "flannel_backend",
        choice("vxlan", "host-gw", "udp"),
        "vxlan",
        "How flannel carries traffic between nodes.",
    ),
    Label(
        "flannel_manifest_url",
        URL,
        "https://github.com/flannel-io/flannel/releases/download/{tag}/kube-flannel.yml",
        "Flannel's manifest; `{tag}` stands for flannel_tag.",
    ),
    Label("flannel_manifest_sha256", SHA256, "", "Checksum of flannel's manifest."),
    Label("calico_tag", VERSION, "v3.33.0", "Version of Calico."),
    Label("calico_ipv4pool", NETWORK, "10.100.0.0/16", "Addresses of pods with Calico."),
    Label(
        "calico_ipv4pool_ipip",
        choice("Always", "CrossSubnet", "Never", "Off"),
        "Always",
        "When Calico wraps traffic between nodes; `Off` means `Never`.",
    ),
    Label(
        "calico_manifest_url",
        URL,
        "https://raw.githubusercontent.com/projectcalico/calico/{tag}/manifests/calico.yaml",
        "Calico's manifest; `{tag}` stands for calico_tag.",
    ),
    Label("calico_manifest_sha256", SHA256, "", "Checksum of Calico's manifest."),
)
_CLOUD = (
    *CLOUD,
    Label("etcd_volume_size", NATURAL, "0", "GiB of a volume for etcd; 0 makes none."),
    Label("etcd_volume_type", NAME, "", "Volume type of etcd volumes."),
    Label(
        "octavia_lb_healthcheck",
        BOOLEAN,
        "true",
        "Whether load balancers, of the API and of services, look which nodes answer.",
    ),
)
_ADDONS = (
    Label(
        "metrics_server_enabled",
        BOOLEAN,
        "false",
        "Whether the first master installs metrics-server, which reads kubelets without checking "
        "their certificates.",
    ),
    Label("metrics_server_tag", VERSION, "v0.8.0", "Version of metrics-server."),
    Label(
        "metrics_server_manifest_url",
        URL,
        "https://github.com/kubernetes-sigs/metrics-server/releases/download/{tag}/components.yaml",
        "The manifest of metrics-server; `{tag}` stands for metrics_server_tag.",
    ),
    Label(
        "addon_manifest_urls",
        URLS,
        "",
        "Manifests that the first master applies once, when the cluster is founded.",
    ),
)
_CLOUD_PROGRAMS = (
    Label(
        "cloud_provider_enabled",
        BOOLEAN,
        "false",
        "Whether the cluster has OpenStack's cloud controller manager, which makes load balancers "
        "of services.",
    ),
    Label(
        "cloud_provider_tag",
        PROGRAM_VERSION,
        "v1.36.0",
        "Version of the cloud controller manager that a first master installs.",
    ),
    Label(
        "cloud_provider_manifest_url",
        URL,
        f"{_CLOUD_PROVIDER_OPENSTACK}/controller-manager",
        "Where its manifests are; `{tag}` stands for cloud_provider_tag, `/<file>` follows.",
    ),
    Label(
        "cinder_csi_enabled",
        BOOLEAN,
        "true",
        "Whether the cluster has Cinder's CSI driver, which makes volumes of claims; only where "
        "the template's volume_driver is `cinder`.",
    ),
    Label(
        "cinder_csi_plugin_tag",
        PROGRAM_VERSION,
        "v1.36.0",
        "Version of Cinder's CSI driver that a first master installs.",
    ),
    Label(
        "cinder_csi_manifest_url",
        URL,
        f"{_CLOUD_PROVIDER_OPENSTACK}/cinder-csi-plugin",
        "Where its manifests are; `{tag}` stands for cinder_csi_plugin_tag, `/<file>` follows.",
    ),
    Label(
        "csi_cinder_availability_zone",
        NAME,
        "",
        "Availability zone of volumes of the storage class `cinder`; without it that of the node.",
    ),
    Label(
        "csi_cinder_reclaim_policy",
        choice("Delete", "Retain"),
        "Delete",
        "What becomes of its volumes when their claims are deleted.",
    ),
    Label(
        "csi_cinder_volume_binding_mode",
        choice("WaitForFirstConsumer", "Immediate"),
        "WaitForFirstConsumer",
        "When its volumes are made.",
    ),
    Label(
        "csi_cinder_fstype",
        choice("ext4", "ext3", "xfs", "btrfs"),
        "ext4",
        "File system of its volumes.",
    ),
    Label(
        "csi_cinder_allow_volume_expansion",
        BOOLEAN,
        "true",
        "Whether its volumes may grow.",
    ),
)
_COMPONENT_OPTIONS = (
    Label("kubelet_options", OPTIONS, "", "Extra flags of the kubelet."),
    Label(
        "admission_control_list",
        PLUGINS,
        "",
        "Admission plug-ins that the API server uses beside those that are on by default.",
    ),
    Label(
        "api_server_cert_sans",
        HOSTS,
        "",
        "Further names and addresses under which the API server is reached.",
    ),
    Label(
        "cert_manager_api",
        choice("true"),
        "true",
        "The API for certificates; nodes join by it, so it is always on.",
    ),
    Label("kubeapi_options", OPTIONS, "", "Extra flags of the API server."),
    Label("kubescheduler_options", OPTIONS, "", "Extra flags of the scheduler."),
    Label("kubecontroller_options", OPTIONS, "", "Extra flags of the controller manager."),
    Label("kubeproxy_options", KUBE_PROXY, "", "Extra flags of kube-proxy."),
    Label(
        "selinux_mode",
        choice("enforcing", "permissive", "disabled"),
        "enforcing",
        "SELinux on the nodes.",
    ),
    Label(
        "os_auto_update",
        BOOLEAN,
        "false",
        "Whether nodes update their system, and reboot for it, by themselves.",
    ),
)

TABLE = LabelTable(
    (*_COMPONENTS, *_NETWORK, *_CLOUD, *_ADDONS, *_CLOUD_PROGRAMS, *_COMPONENT_OPTIONS), RETIRED
).having(
    meanings={
        "octavia_provider": "Octavia provider of load balancers, of the API and of services.",
        "octavia_lb_algorithm": "How they choose a node; SOURCE_IP_PORT for the provider ovn, else "
        "ROUND_ROBIN.",
    },
)


_NO_RUNTIME = {"containerd_version": "v2.4.2", "runc_version": "v1.5.2"}
"""Of systems that bring no container runtime along, or one that is too old."""

UBUNTU = TABLE.having(
    defaults=_NO_RUNTIME,
    meanings={
        "containerd_version": "Version of containerd.",
        "runc_version": "Version of runc.",
        "os_auto_update": "Whether nodes install updates of their system by themselves.",
    },
    without={"selinux_mode": "Ubuntu confines programs by AppArmor. Leave it out."},
)
FLATCAR = TABLE.having(
    without={"selinux_mode": "Flatcar runs SELinux in permissive mode. Leave it out."},
)
FEDORA_ATOMIC = TABLE.having(
    defaults={**_NO_RUNTIME, "cgroup_v1_allowed": "true"},
    meanings={
        "containerd_version": "Version of containerd.",
        "runc_version": "Version of runc.",
    },
)


def pod_network(values: dict[str, Any], network_driver: str) -> str:
    """Return the network of the pods."""
    return str(values["calico_ipv4pool" if network_driver == "calico" else "flannel_network_cidr"])
