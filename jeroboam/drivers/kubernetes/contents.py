"""The generated files of a node, by the names that a driver's manifest uses. Pure."""

import json
from collections.abc import Mapping

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.kubernetes import cloud_programs, kubeadm
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.nodes import placeholders
from jeroboam.drivers.nodes.texts import environment, proxy_dropin, proxy_settings
from jeroboam.models import NodeGroup

Contents = Mapping[str, str]

_KERNEL_ARGUMENTS = {"permissive": ("enforcing=0",), "disabled": ("selinux=0",)}


def generate(plan: KubernetesPlan, secrets: ClusterSecrets, group: NodeGroup) -> Contents:
    """Return all texts that a node of a group may need; an empty one means that it does not.

    Raises:
        InvalidRequestError: Programs in the cluster need an account of the cloud, and have none.
    """
    proxies = proxy_settings(plan.spec.template, plan.no_proxy)
    return {
        "cluster_env": environment(cluster_settings(plan)),
        "node_env": environment(node_settings()),
        "proxy_env": environment(proxies),
        "proxy_dropin": proxy_dropin(proxies),
        # Heat makes it, a user and a password with which the node reports.
        "signal": placeholders.SIGNAL,
        "hostname": f"{placeholders.NODE_NAME}\n",
        "containerd_config": containerd(plan),
        "containerd_dropin": _containerd_dropin(plan),
        "insecure_registry": plan.spec.template.insecure_registry or "",
        "registry_hosts": _registry_hosts(plan),
        **updates(plan),
        "selinux_config": _selinux_config(plan),
        "kubeadm_init": kubeadm.init_documents(plan, secrets),
        "kubeadm_join": kubeadm.join_document(plan, secrets, group),
        **certificates(secrets),
        **cloud_programs.generate(plan, secrets),
    }


def updates(plan: KubernetesPlan) -> Contents:
    """Return what keeps the system from updating itself, in the words of each system."""
    if plan.labels["os_auto_update"]:
        return {"no_auto_update": "", "zincati_config": ""}
    return {"no_auto_update": "yes", "zincati_config": "[updates]\nenabled = false\n"}


def certificates(secrets: ClusterSecrets) -> Contents:
    """Return the control plane's CAs and keys, named after kubeadm's files.

    While CAs are rotated there are two in a file. kubeadm signs with the first one; the controller
    manager takes no file of two to sign with, and gets one of its own.
    """
    return {
        "ca_crt": secrets.kubernetes.trusted,
        "ca_signer": secrets.kubernetes.certificate if secrets.kubernetes.also_trusted else "",
        "ca_key": secrets.kubernetes.private_key,
        "etcd_ca_crt": secrets.etcd.trusted,
        "etcd_ca_key": secrets.etcd.private_key,
        "front_proxy_ca_crt": secrets.front_proxy.trusted,
        "front_proxy_ca_key": secrets.front_proxy.private_key,
        "sa_key": secrets.service_account_key,
        "sa_pub": "".join(
            kubeadm.public_key(key)
            for key in (secrets.service_account_key, *secrets.also_accepted_keys)
        ),
    }


def kernel_arguments(plan: KubernetesPlan) -> tuple[str, ...]:
    """Return what the kernel is told on the nodes."""
    return _KERNEL_ARGUMENTS.get(plan.labels.get("selinux_mode") or "", ())


def cluster_settings(plan: KubernetesPlan) -> Mapping[str, str]:
    """Return what the scripts need to know and is the same on all nodes."""
    values = plan.labels
    return {
        "KUBE_TAG": values["kube_tag"],
        "KUBE_BINARIES_URL": values["kube_binaries_url"],
        "CRICTL_TAG": values["crictl_tag"],
        "CRICTL_URL": values["crictl_url"],
        "CNI_PLUGINS_TAG": values["cni_plugins_tag"],
        "CNI_PLUGINS_URL": values["cni_plugins_url"],
        "CONTAINERD_VERSION": (values["containerd_version"] or "").removeprefix("v"),
        "CONTAINERD_URL": values["containerd_url"],
        "CONTAINERD_SHA256": values["containerd_tarball_sha256"] or "",
        "CONTAINERD_TARBALL_URL": values["containerd_tarball_url"] or "",
        "RUNC_VERSION": values["runc_version"] or "",
        "RUNC_URL": values["runc_url"],
        "RUNC_SHA256": values["runc_sha256"] or "",
        "SELINUX_MODE": values.get("selinux_mode") or "",
        "METRICS_SERVER_URL": plan.metrics_server_url,
        "ADDON_URLS": values["addon_manifest_urls"] or "",
        "IMAGE_PREFIX": plan.image_prefix,
        "NETWORK_DRIVER": plan.network_driver,
        "NETWORK_MANIFEST_URL": plan.manifest_url,
        "NETWORK_MANIFEST_SHA256": plan.manifest_sha256,
        "POD_NETWORK": plan.pod_network,
        "FLANNEL_BACKEND": values["flannel_backend"],
        "FLANNEL_SUBNET_LENGTH": str(values["flannel_network_subnetlen"]),
        "CALICO_IPIP": values["calico_ipv4pool_ipip"].replace("Off", "Never"),
        "API_PORT": str(plan.api_port),
        "DATA_DIRECTORY": "/var/lib/etcd",
        "STORAGE_DIRECTORY": "/var/lib/containerd",
    }


def node_settings() -> Mapping[str, str]:
    """Return what Heat knows of the single node; its words need no quotes."""
    return {
        "NODE_NAME": placeholders.NODE_NAME,
        "NODE_INDEX": placeholders.NODE_INDEX,
        "NODE_ADDRESS": placeholders.NODE_ADDRESS,
        "API_ADDRESS": placeholders.API_ADDRESS,
        "ETCD_VOLUME": placeholders.ETCD_VOLUME,
        "STORAGE_VOLUME": placeholders.STORAGE_VOLUME,
    }


def containerd(plan: KubernetesPlan) -> str:
    """Return containerd's configuration; what it does not say is containerd's default."""
    systemd = json.dumps(plan.labels["cgroup_driver"] == "systemd")
    lines = [
        "version = 3",
        "",
        "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]",
        "runtime_type = 'io.containerd.runc.v2'",
        "",
        "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]",
        f"SystemdCgroup = {systemd}",
        "",
        "[plugins.'io.containerd.cri.v1.images'.registry]",
        "config_path = '/etc/containerd/certs.d'",
    ]
    if plan.image_prefix:
        sandbox = f"{plan.image_prefix}/pause:3.10"
        lines += [
            "",
            "[plugins.'io.containerd.cri.v1.images'.pinned_images]",
            f"sandbox = '{sandbox}'",
        ]
    return "\n".join([*lines, ""])


def _containerd_dropin(plan: KubernetesPlan) -> str:
    if not (plan.labels["containerd_version"] or plan.labels["containerd_tarball_url"]):
        return ""
    return "[Service]\nExecStart=\nExecStart=@binaries@/containerd\n"


def _selinux_config(plan: KubernetesPlan) -> str:
    """Return what holds from the next boot on, where the kernel's command line is out of reach."""
    mode = plan.labels.get("selinux_mode") or "enforcing"
    return "" if mode == "enforcing" else f"SELINUX={mode}\nSELINUXTYPE=targeted\n"


def _registry_hosts(plan: KubernetesPlan) -> str:
    registry = plan.spec.template.insecure_registry
    if not registry:
        return ""
    return f'[host."http://{registry}"]\ncapabilities = ["pull", "resolve"]\nskip_verify = true\n'
