"""kubeadm's configuration files (v1beta4), made as data and written as YAML. Pure."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.kubernetes.options import Flags, extra_args
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from jeroboam.drivers.nodes import placeholders
from jeroboam.models import NodeGroup

API_VERSION = "kubeadm.k8s.io/v1beta4"
SOCKET = "unix:///run/containerd/containerd.sock"
DNS_DOMAIN = "cluster.local"

# /usr is read-only on systems that are updated as a whole; the default lies below it.
VOLUME_PLUGINS = "/var/lib/kubelet/volume-plugins"

_SIGNER = {"name": "cluster-signing-cert-file", "value": "/etc/kubernetes/pki/ca-signer.crt"}

# Nodes take no pods until the cloud controller manager has told the cluster what they are.
_EXTERNAL_CLOUD = {"name": "cloud-provider", "value": "external"}

# kube-proxy brings the tool along in its image.
_IGNORED_CHECKS = ["FileExisting-conntrack"]
_FOR_EVER = "0s"
_GROUP_LABEL = "magnum.openstack.org/nodegroup"
_ROLE_LABEL = "magnum.openstack.org/role"


def init_documents(plan: KubernetesPlan, secrets: ClusterSecrets) -> str:
    """Return the file with which the first master is set up."""
    init = {
        "apiVersion": API_VERSION,
        "kind": "InitConfiguration",
        "bootstrapTokens": [
            # Nodes that are added or repaired later join with it, too.
            {
                "token": secrets.bootstrap_token,
                "ttl": _FOR_EVER,
                "usages": ["signing", "authentication"],
                "groups": ["system:bootstrappers:kubeadm:default-node-token"],
            }
        ],
        "localAPIEndpoint": _local_endpoint(plan),
        "nodeRegistration": node_registration(plan, plan.spec.masters),
    }
    rotating = bool(secrets.kubernetes.also_trusted)
    cluster = cluster_configuration(plan, rotating=rotating)
    return _yaml(init, cluster, kubelet(plan), kube_proxy(plan))


def join_document(plan: KubernetesPlan, secrets: ClusterSecrets, group: NodeGroup) -> str:
    """Return the file with which any other node of a group joins."""
    document: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "JoinConfiguration",
        "discovery": {
            "bootstrapToken": {
                "token": secrets.bootstrap_token,
                "apiServerEndpoint": _endpoint(plan),
                "caCertHashes": [
                    certificate_hash(pem)
                    for pem in (
                        secrets.kubernetes.certificate,
                        *secrets.kubernetes.also_trusted,
                    )
                ],
            }
        },
        "nodeRegistration": node_registration(plan, group),
    }
    if group.uuid == plan.spec.masters.uuid:
        document["controlPlane"] = {"localAPIEndpoint": _local_endpoint(plan)}
    return _yaml(document)


def cluster_configuration(plan: KubernetesPlan, *, rotating: bool = False) -> Mapping[str, Any]:
    """Return what holds for the whole cluster.

    Args:
        rotating: Whether two CAs are trusted, of which one signs.
    """
    values = plan.labels
    document = {
        "apiVersion": API_VERSION,
        "kind": "ClusterConfiguration",
        "clusterName": plan.spec.cluster.name,
        "kubernetesVersion": values["kube_tag"],
        "controlPlaneEndpoint": _endpoint(plan),
        "networking": {
            "podSubnet": plan.pod_network,
            "serviceSubnet": values["service_cluster_ip_range"],
            "dnsDomain": DNS_DOMAIN,
        },
        "apiServer": {
            "certSANs": [
                placeholders.API_ADDRESS,
                placeholders.API_PUBLIC_ADDRESS,
                placeholders.PUBLIC_ADDRESS,
                *_listed(values["api_server_cert_sans"]),
            ],
            "extraArgs": [*_admission(plan), *_arguments(values["kubeapi_options"])],
        },
        "controllerManager": {
            "extraArgs": [
                {"name": "flex-volume-plugin-dir", "value": VOLUME_PLUGINS},
                *_node_mask(plan),
                *([_SIGNER] if rotating else ()),
                *_arguments(values["kubecontroller_options"]),
            ]
        },
        "scheduler": {"extraArgs": _arguments(values["kubescheduler_options"])},
        "etcd": {"local": {"dataDir": "/var/lib/etcd", **_image_tag(values["etcd_tag"])}},
        "dns": _image_tag(values["coredns_tag"]),
    }
    return document | ({"imageRepository": plan.image_prefix} if plan.image_prefix else {})


def node_registration(plan: KubernetesPlan, group: NodeGroup) -> Mapping[str, Any]:
    """Return how a node of a group introduces itself."""
    node_labels = {_GROUP_LABEL: group.name, _ROLE_LABEL: group.role, **group.node_labels}
    registration: dict[str, Any] = {
        "name": placeholders.NODE_NAME,
        "criSocket": SOCKET,
        "ignorePreflightErrors": _ignored_checks(plan),
        "kubeletExtraArgs": [
            {"name": "node-ip", "value": placeholders.NODE_ADDRESS},
            {"name": "node-labels", "value": ",".join(f"{k}={v}" for k, v in node_labels.items())},
            *([_EXTERNAL_CLOUD] if plan.has_cloud_provider else ()),
            *_arguments(plan.labels["kubelet_options"]),
        ],
    }
    if group.node_taints:
        registration["taints"] = [dict(taint) for taint in group.node_taints]
    return registration


def kubelet(plan: KubernetesPlan) -> Mapping[str, Any]:
    """Return the configuration of all kubelets."""
    old_system = {"failCgroupV1": False} if plan.labels["cgroup_v1_allowed"] else {}
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "cgroupDriver": plan.labels["cgroup_driver"],
        "volumePluginDir": VOLUME_PLUGINS,
        "rotateCertificates": True,
        **old_system,
    }


def kube_proxy(plan: KubernetesPlan) -> Mapping[str, Any]:
    """Return kube-proxy's configuration; it takes no flags beside a file."""
    flags = dict(plan.labels["kubeproxy_options"] or ())
    document: dict[str, Any] = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clusterCIDR": plan.pod_network,
    }
    if mode := flags.get("proxy-mode"):
        document["mode"] = mode
    if address := flags.get("metrics-bind-address"):
        document["metricsBindAddress"] = address
    if limit := flags.get("conntrack-max-per-core"):
        document["conntrack"] = {"maxPerCore": int(limit)}
    return document


def certificate_hash(certificate: str) -> str:
    """Return the pin of a CA's public key, in kubeadm's form."""
    key = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    encoded = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{sha256(encoded).hexdigest()}"


def public_key(private_key: str) -> str:
    """Return the public half of a PEM private key."""
    key = load_pem_private_key(private_key.encode(), password=None).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _endpoint(plan: KubernetesPlan) -> str:
    return f"{placeholders.API_ADDRESS}:{plan.api_port}"


def _local_endpoint(plan: KubernetesPlan) -> Mapping[str, Any]:
    return {"advertiseAddress": placeholders.NODE_ADDRESS, "bindPort": plan.api_port}


def _node_mask(plan: KubernetesPlan) -> list[dict[str, str]]:
    """Return the size of a node's share of the pod network, where flannel asks for one."""
    if plan.network_driver != "flannel":
        return []
    length = str(plan.labels["flannel_network_subnetlen"])
    return [{"name": "node-cidr-mask-size", "value": length}]


def _ignored_checks(plan: KubernetesPlan) -> list[str]:
    """Return what kubeadm does not insist on; its look at the system refuses old kernels."""
    old_system = ["SystemVerification"] if plan.labels["cgroup_v1_allowed"] else []
    return [*_IGNORED_CHECKS, *old_system]


def _admission(plan: KubernetesPlan) -> list[dict[str, str]]:
    """Return the admission plug-ins; kubeadm's own one has to be named as well."""
    wanted = _listed(plan.labels["admission_control_list"])
    if not wanted:
        return []
    named = ",".join(dict.fromkeys(["NodeRestriction", *wanted]))
    return [{"name": "enable-admission-plugins", "value": named}]


def _image_tag(tag: str | None) -> dict[str, str]:
    return {"imageTag": tag} if tag else {}


def _listed(text: str | None) -> list[str]:
    return text.split(",") if text else []


def _arguments(flags: Flags | None) -> list[dict[str, str]]:
    return extra_args(flags or ())


def _yaml(*documents: Mapping[str, Any]) -> str:
    return yaml.safe_dump_all([dict(one) for one in documents], sort_keys=False)
