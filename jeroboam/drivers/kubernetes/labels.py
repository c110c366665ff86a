"""The labels of the Kubernetes drivers on Heat; names are Magnum's wherever it has one."""

import re
from typing import Any

from jeroboam.drivers.kubernetes.options import parse_flags
from jeroboam.drivers.labels import (
    BOOLEAN,
    NATURAL,
    NETWORK,
    NETWORKS,
    Kind,
    Label,
    LabelTable,
    choice,
)

_VERSION = re.compile(r"v?\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")
_URL = re.compile(r"https?://[^\s\"'\\]+")
_PREFIX = re.compile(r"[a-z0-9][\w.:/-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[\w.:+-]+")


def _matching(name: str, expected: str, pattern: re.Pattern[str]) -> Kind:
    def parse(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(text)
        return text

    return Kind(name, expected, parse)


def _tag(text: str) -> str:
    if not _VERSION.fullmatch(text):
        raise ValueError(text)
    return f"v{text.removeprefix('v')}"


def _subnet_length(text: str) -> int:
    if not 16 <= int(text) <= 30:  # noqa: PLR2004 - what flannel can hand out to a node
        raise ValueError(text)
    return int(text)


VERSION = Kind("version", "a version as v1.2.3", _tag)
URL = _matching("URL", "an http or https URL", _URL)
PREFIX = _matching("registry prefix", "a registry with an optional path", _PREFIX)
SHA256 = _matching("SHA-256", "64 hexadecimal digits", _SHA256)
NAME = _matching("name", "a name without blanks or quotes", _NAME)
OPTIONS = Kind("flags", "flags as --name=value, separated by blanks", parse_flags)
SUBNET_LENGTH = Kind("prefix length", "a number from 16 to 30", _subnet_length)
KUBE_PROXY = Kind(
    "flags",
    "flags out of --proxy-mode, --metrics-bind-address, --conntrack-max-per-core",
    lambda text: parse_flags(
        text, {"proxy-mode", "metrics-bind-address", "conntrack-max-per-core"}
    ),
)

_COMPONENTS = (
    Label("kube_tag", VERSION, "v1.37.1", "Version of Kubernetes."),
    Label(
        "container_infra_prefix",
        PREFIX,
        "",
        "Registry (and path) from which all images of the cluster itself are pulled.",
    ),
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
    Label("cgroup_driver", choice("systemd", "cgroupfs"), "systemd", "Of containerd and kubelet."),
)
_NETWORK = (
    Label(
        "fixed_subnet_cidr",
        NETWORK,
        "10.0.0.0/24",
        "Subnet of the nodes, where the cluster gets a network of its own.",
    ),
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
    Label("availability_zone", NAME, "", "Availability zone of servers and volumes."),
    Label(
        "server_group_policy",
        choice("soft-anti-affinity", "anti-affinity", "soft-affinity", "affinity"),
        "soft-anti-affinity",
        "How masters, and workers, are spread over hosts.",
    ),
    Label("boot_volume_size", NATURAL, "0", "GiB of a boot volume; 0 boots from a local disk."),
    Label("boot_volume_type", NAME, "", "Volume type of boot volumes."),
    Label("etcd_volume_size", NATURAL, "0", "GiB of a volume for etcd; 0 makes none."),
    Label("etcd_volume_type", NAME, "", "Volume type of etcd volumes."),
    Label(
        "docker_volume_type",
        NAME,
        "",
        "Volume type of the volumes for containers (docker_volume_size).",
    ),
    Label("octavia_provider", NAME, "", "Octavia provider of the API's load balancer."),
    Label(
        "octavia_lb_algorithm",
        choice("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"),
        "",
        "How it chooses a master; SOURCE_IP_PORT for the provider ovn, else ROUND_ROBIN.",
    ),
    Label(
        "master_lb_floating_ip_enabled",
        BOOLEAN,
        "",
        "Floating IP for the API's load balancer; as floating_ip_enabled if not set.",
    ),
    Label(
        "master_lb_allowed_cidrs",
        NETWORKS,
        "",
        "Networks that may reach the API's load balancer; all if not set.",
    ),
    Label(
        "min_node_count",
        NATURAL,
        "",
        "Smallest size of the default group of workers, for an autoscaler.",
    ),
    Label(
        "max_node_count",
        NATURAL,
        "",
        "Largest size of the default group of workers, for an autoscaler.",
    ),
    Label(
        "ssh_allowed_cidrs",
        NETWORKS,
        "0.0.0.0/0",
        "Networks that may reach the nodes by SSH; counts only where there is a key pair.",
    ),
)
_COMPONENT_OPTIONS = (
    Label("kubelet_options", OPTIONS, "", "Extra flags of the kubelet."),
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

TABLE = LabelTable((*_COMPONENTS, *_NETWORK, *_CLOUD, *_COMPONENT_OPTIONS))


def reference() -> str:
    """Return the page ``docs/reference/labels-k8s-fedora-coreos.md``."""
    return TABLE.markdown("Labels of the driver k8s_fedora_coreos_v1")


def pod_network(values: dict[str, Any], network_driver: str) -> str:
    """Return the network of the pods."""
    return str(values["calico_ipv4pool" if network_driver == "calico" else "flannel_network_cidr"])
