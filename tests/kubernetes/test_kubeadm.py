"""kubeadm itself takes the files that each driver's nodes are set up from."""

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from jeroboam.certificates import issue_cluster_secrets
from jeroboam.drivers.kubernetes.contents import certificates
from jeroboam.models import ClusterSpec
from tests.kubernetes.programs.build import VERSION
from tests.unit.drivers.heat.clusters import make_spec
from tests.unit.drivers.heat.nodes import DRIVERS, boot, documents, files

SECONDS = 60
LABELS = {
    "kube_tag": VERSION,
    "etcd_tag": "3.6.8-7",
    "coredns_tag": "v1.99.1",
    "admission_control_list": "AlwaysPullImages",
    "api_server_cert_sans": "k8s.example.org",
    "kubelet_options": "--max-pods=50",
    "kubeapi_options": "--profiling=false --audit-log-path=-",
    "kubeproxy_options": "--proxy-mode=nftables --conntrack-max-per-core=0",
    "cgroup_v1_allowed": "true",
    "cloud_provider_enabled": "true",
}
TAINT = {"key": "dedicated", "value": "tests", "effect": "NoSchedule"}
SPECS: dict[str, dict[str, Any]] = {
    "plain": {"labels": {"kube_tag": VERSION}},
    "everything": {
        "labels": {**LABELS, "container_infra_prefix": "registry.example.org/kube"},
        "master_lb_enabled": True,
        "masters": 3,
        "group": {"node_labels": {"a": "b"}, "node_taints": (TAINT,)},
    },
}


@pytest.fixture
def kubeadm(programs: Path) -> Path:
    return programs / "kubeadm"


def run(kubeadm: Path, *arguments: str) -> str:
    """Return what kubeadm prints."""
    done = subprocess.run(
        [str(kubeadm), *arguments], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    assert "unknown field" not in done.stderr, done.stderr
    return done.stdout


def written(spec: ClusterSpec, driver: str, role: str, folder: Path) -> list[Path]:
    """Write the files that a node gives to kubeadm, as its scripts find them."""
    found: dict[str, Any] = files(boot(documents(spec, DRIVERS[driver])[role]))
    paths = []
    for name, text in found.items():
        if Path(name).name.startswith("kubeadm-"):
            path = folder / Path(name).name
            path.write_text(text)
            paths.append(path)
    return paths


@pytest.mark.parametrize("driver", sorted(DRIVERS))
@pytest.mark.parametrize("role", ["master", "worker"])
@pytest.mark.parametrize("name", sorted(SPECS))
def test_configuration_is_valid(
    kubeadm: Path, driver: str, role: str, name: str, tmp_path: Path
) -> None:
    """The strict check of kubeadm finds nothing wrong with what founds a cluster or joins one."""
    paths = written(make_spec(**SPECS[name]), driver, role, tmp_path)
    assert len(paths) == (2 if role == "master" else 1)
    for path in paths:
        run(kubeadm, "config", "validate", "--config", str(path))


def test_configuration_with_a_slip_is_not(kubeadm: Path, tmp_path: Path) -> None:
    """The check would notice a field that does not exist."""
    (path,) = written(make_spec(**SPECS["plain"]), "k8s_ubuntu_v1", "worker", tmp_path)
    path.write_text(path.read_text().replace("discovery:", "discoverie:"))
    with pytest.raises(AssertionError, match="discoverie"):
        run(kubeadm, "config", "validate", "--config", str(path))


def test_images(kubeadm: Path, tmp_path: Path) -> None:
    """Labels decide which images the control plane is made of."""
    paths = written(make_spec(**SPECS["everything"]), "k8s_ubuntu_v1", "master", tmp_path)
    (init,) = [path for path in paths if path.name == "kubeadm-init.yaml"]
    images = run(kubeadm, "config", "images", "list", "--config", str(init)).split()
    assert f"registry.example.org/kube/kube-apiserver:{VERSION}" in images
    assert "registry.example.org/kube/etcd:3.6.8-7" in images
    assert "registry.example.org/kube/coredns:v1.99.1" in images


def test_two_authorities(kubeadm: Path, tmp_path: Path) -> None:
    """While authorities are rotated, kubeadm takes files of two and signs with the first one."""
    former, new = issue_cluster_secrets("demo"), issue_cluster_secrets("demo")
    kinds = {
        kind: replace(getattr(new, kind), also_trusted=(getattr(former, kind).certificate,))
        for kind in ("kubernetes", "etcd", "front_proxy")
    }
    texts = certificates(replace(new, **kinds))
    names = {"ca": "ca", "etcd/ca": "etcd_ca", "front-proxy-ca": "front_proxy_ca"}
    (tmp_path / "etcd").mkdir()
    for name, key in names.items():
        (tmp_path / f"{name}.crt").write_text(texts[f"{key}_crt"])
        (tmp_path / f"{name}.key").write_text(texts[f"{key}_key"])
    config = tmp_path / "init.yaml"
    config.write_text(
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: InitConfiguration\n"
        "localAPIEndpoint: {advertiseAddress: 10.0.0.4}\n---\n"
        "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
        f"kubernetesVersion: {VERSION}\ncertificatesDir: {tmp_path}\n"
    )
    run(kubeadm, "init", "phase", "certs", "all", "--config", str(config))
    for name, kind in (("apiserver", "kubernetes"), ("etcd/server", "etcd")):
        issued = x509.load_pem_x509_certificate((tmp_path / f"{name}.crt").read_bytes())
        signer = x509.load_pem_x509_certificate(getattr(new, kind).certificate.encode())
        issued.verify_directly_issued_by(signer)
