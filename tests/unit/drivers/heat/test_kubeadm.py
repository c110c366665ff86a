"""kubeadm's files say what the cluster's owner asked for."""

import hashlib
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from jeroboam.drivers.kubernetes import kubeadm
from jeroboam.drivers.kubernetes.plan import KubernetesPlan
from tests.unit.drivers.heat.clusters import make_spec, secrets


def init(**fields: Any) -> dict[str, dict[str, Any]]:
    plan = KubernetesPlan.of(make_spec(**fields))
    return {d["kind"]: d for d in yaml.safe_load_all(kubeadm.init_documents(plan, secrets()))}


def arguments(entries: list[dict[str, str]]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in entries}


def test_kinds() -> None:
    """The first master gets the four documents that kubeadm knows."""
    kinds = {"InitConfiguration", "ClusterConfiguration", "KubeletConfiguration"}
    assert set(init()) == kinds | {"KubeProxyConfiguration"}


def test_cluster() -> None:
    """Names, networks and versions come from the cluster."""
    document = init(name="prod", labels={"kube_tag": "v1.36.4"})["ClusterConfiguration"]
    assert document["apiVersion"] == "kubeadm.k8s.io/v1beta4"
    assert document["clusterName"] == "prod"
    assert document["kubernetesVersion"] == "v1.36.4"
    assert document["controlPlaneEndpoint"] == "__API_ADDRESS__:6443"
    assert document["networking"] == {
        "podSubnet": "10.100.0.0/16",
        "serviceSubnet": "10.254.0.0/16",
        "dnsDomain": "cluster.local",
    }
    assert "imageRepository" not in document


def test_prefix_and_port() -> None:
    """A registry of one's own and another port are used everywhere."""
    documents = init(
        labels={"container_infra_prefix": "registry.example.org/k8s/"},
        template={"apiserver_port": 8443},
    )
    assert documents["ClusterConfiguration"]["imageRepository"] == "registry.example.org/k8s"
    assert documents["ClusterConfiguration"]["controlPlaneEndpoint"] == "__API_ADDRESS__:8443"
    assert documents["InitConfiguration"]["localAPIEndpoint"]["bindPort"] == 8443


@pytest.mark.parametrize(
    ("label", "path"),
    [
        ("kubeapi_options", ("apiServer",)),
        ("kubecontroller_options", ("controllerManager",)),
        ("kubescheduler_options", ("scheduler",)),
    ],
)
def test_component_options(label: str, path: tuple[str, ...]) -> None:
    """Extra flags reach the component, repeated ones too."""
    document: Any = init(labels={label: "--v=4 --profiling=false"})["ClusterConfiguration"]
    for key in path:
        document = document[key]
    found = arguments(document["extraArgs"])
    assert found["v"] == "4"
    assert found["profiling"] == "false"


def test_what_labels_add() -> None:
    """Admission plug-ins, further names of the API, and image tags reach their components."""
    labels = {
        "admission_control_list": "AlwaysPullImages,NodeRestriction",
        "api_server_cert_sans": "k8s.example.org,192.0.2.7",
        "etcd_tag": "3.6.8-0",
        "coredns_tag": "v1.14.1",
    }
    document: Any = init(labels=labels)["ClusterConfiguration"]
    found = arguments(document["apiServer"]["extraArgs"])
    assert found["enable-admission-plugins"] == "NodeRestriction,AlwaysPullImages"
    assert document["apiServer"]["certSANs"][-2:] == ["k8s.example.org", "192.0.2.7"]
    assert document["etcd"]["local"]["imageTag"] == "3.6.8-0"
    assert document["dns"] == {"imageTag": "v1.14.1"}
    plain: Any = init()["ClusterConfiguration"]
    assert "enable-admission-plugins" not in arguments(plain["apiServer"]["extraArgs"])
    assert "imageTag" not in plain["etcd"]["local"]


def test_first_version_of_control_groups() -> None:
    """Where it is allowed, neither kubelets nor kubeadm refuse to run on it."""
    document = init(labels={"cgroup_v1_allowed": "true"})
    assert document["KubeletConfiguration"]["failCgroupV1"] is False
    ignored = document["InitConfiguration"]["nodeRegistration"]["ignorePreflightErrors"]
    assert "SystemVerification" in ignored
    assert "failCgroupV1" not in init()["KubeletConfiguration"]


def test_plugins_are_outside_usr() -> None:
    """/usr is read-only, so volume plug-ins live elsewhere, for all who look for them."""
    documents = init()
    manager = arguments(documents["ClusterConfiguration"]["controllerManager"]["extraArgs"])
    folder = documents["KubeletConfiguration"]["volumePluginDir"]
    assert manager["flex-volume-plugin-dir"] == folder
    assert folder.startswith("/var/")


def test_kube_proxy() -> None:
    """kube-proxy's flags become fields of its file."""
    document = init(
        labels={
            "kubeproxy_options": "--proxy-mode=ipvs --metrics-bind-address=0.0.0.0:10249 "
            "--conntrack-max-per-core=5"
        }
    )["KubeProxyConfiguration"]
    assert document["mode"] == "ipvs"
    assert document["metricsBindAddress"] == "0.0.0.0:10249"
    assert document["conntrack"] == {"maxPerCore": 5}


def test_node_registration() -> None:
    """Nodes carry their group's labels, taints and the kubelet's extra flags."""
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    spec = make_spec(
        labels={"kubelet_options": "--max-pods=50"},
        group={"node_labels": {"tier": "front"}, "node_taints": (taint,)},
    )
    document = yaml.safe_load(
        kubeadm.join_document(KubernetesPlan.of(spec), secrets(), spec.workers[0])
    )
    registration = document["nodeRegistration"]
    flags = arguments(registration["kubeletExtraArgs"])
    assert registration["name"] == "__NODE_NAME__"
    assert registration["taints"] == [taint]
    assert flags["max-pods"] == "50"
    assert flags["node-ip"] == "__NODE_ADDRESS__"
    assert flags["node-labels"] == (
        "magnum.openstack.org/nodegroup=default-worker,magnum.openstack.org/role=worker,tier=front"
    )


def test_join() -> None:
    """Only masters join as masters; everybody pins the authority's key."""
    spec = make_spec(masters=3)
    plan = KubernetesPlan.of(spec)
    master, worker = (
        yaml.safe_load(kubeadm.join_document(plan, secrets(), group))
        for group in (spec.masters, spec.workers[0])
    )
    assert "controlPlane" not in worker
    assert master["controlPlane"]["localAPIEndpoint"]["advertiseAddress"] == "__NODE_ADDRESS__"
    key = x509.load_pem_x509_certificate(secrets().kubernetes.certificate.encode()).public_key()
    der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    token = worker["discovery"]["bootstrapToken"]
    assert token["caCertHashes"] == [f"sha256:{hashlib.sha256(der).hexdigest()}"]
    assert token["token"] == secrets().bootstrap_token
