"""The scripts of a node do the right things in the right order, and go on after failures."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import HEAT_VALUES, boot, documents, files
from tests.unit.drivers.heat.sandbox import Sandbox

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
FLANNEL = """
kind: ConfigMap
apiVersion: v1
data:
  net-conf.json: |
    {
      "Network": "10.244.0.0/16",
      "EnableNFTables": false,
      "Backend": {
        "Type": "vxlan"
      }
    }
---
kind: DaemonSet
apiVersion: apps/v1
spec:
  image: ghcr.io/flannel-io/flannel:v0.28.4
"""
CALICO = """
kind: DaemonSet
apiVersion: apps/v1
spec:
  containers:
    - image: quay.io/calico/node:v3.33.0
      env:
            - name: CALICO_IPV4POOL_IPIP
              value: "Always"
            # - name: CALICO_IPV4POOL_CIDR
            #   value: "192.168.0.0/16"
            - name: LAST
              value: "x"
  volumes:
    - hostPath: {path: /usr/libexec/kubernetes/kubelet-plugins/volume/exec/nodeagent~uds}
"""


def node(
    tmp_path: Path, role: str = "master", values: dict[str, str] | None = None, **fields: Any
) -> Sandbox:
    document = boot(documents(make_spec(**fields))[role], **(values or {}))
    return Sandbox.of(tmp_path, document)


def succeed(sandbox: Sandbox, script: str) -> None:
    done = sandbox.run(script)
    assert done.returncode == 0, done.stderr


def test_shellcheck(tmp_path: Path) -> None:
    """Every script that a node gets is free of shellcheck's findings."""
    sandbox = node(tmp_path)
    folder = sandbox.path("/usr/local/lib/jeroboam")
    scripts = sorted(folder.glob("*.sh"))
    assert len(scripts) == 6
    done = subprocess.run(
        [str(SHELLCHECK), "--external-sources", *map(str, scripts)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout


class TestInstall:
    @pytest.fixture
    def sandbox(self, tmp_path: Path) -> Sandbox:
        sandbox = node(tmp_path)
        sandbox.program("uname", "#!/bin/sh\necho x86_64\n")
        sandbox.program("containerd")
        for name in ("kubeadm", "kubelet", "kubectl"):
            sandbox.serve(name, f"#!/bin/sh\n# {name}\n".encode())
        sandbox.serve_archive("crictl-v1.37.0-linux-amd64.tar.gz", "crictl")
        sandbox.serve_archive("cni-plugins-linux-amd64-v1.9.1.tgz", "./bridge")
        return sandbox

    def test_installs_everything(self, sandbox: Sandbox) -> None:
        """Binaries and plug-ins end up executable in their places."""
        succeed(sandbox, "install.sh")
        for path in (
            *(f"/usr/local/bin/{name}" for name in ("kubeadm", "kubelet", "kubectl", "crictl")),
            "/opt/cni/bin/bridge",
        ):
            assert sandbox.path(path).stat().st_mode & 0o111, path
        assert not sandbox.path("/var/lib/jeroboam/downloads").exists()
        binary = "https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet"
        assert any(f" {binary}" in call for call in sandbox.calls("curl"))

    def test_wrong_checksum_is_not_installed(self, sandbox: Sandbox) -> None:
        """A damaged download is thrown away and fetched again."""
        sandbox.mark("broken-kubelet")
        done = sandbox.run("install.sh")
        assert done.returncode == 0
        assert "the checksum of" in done.stderr
        assert "# kubelet" in sandbox.path("/usr/local/bin/kubelet").read_text()

    def test_no_containerd(self, sandbox: Sandbox) -> None:
        """An image without containerd is reported to Heat at once, with the remedy."""
        (sandbox.programs / "containerd").unlink()
        assert sandbox.run("install.sh").returncode == 1
        (signal,) = (json.loads(line) for line in sandbox.signals())
        assert signal["status"] == "FAILURE"
        assert "set the label containerd_version" in signal["reason"]

    def test_unknown_architecture(self, sandbox: Sandbox) -> None:
        """So is a machine for which there is no Kubernetes."""
        sandbox.program("uname", "#!/bin/sh\necho s390\n")
        assert sandbox.run("install.sh").returncode == 1
        assert "s390" in sandbox.signals()[0]

    def test_containerd_of_ones_own(self, tmp_path: Path) -> None:
        """With a version label, containerd is fetched and unpacked below /usr/local."""
        folder = tmp_path / "own"
        folder.mkdir()
        sandbox = node(folder, labels={"containerd_version": "v2.2.0"})
        sandbox.program("uname", "#!/bin/sh\necho aarch64\n")
        for name in ("kubeadm", "kubelet", "kubectl"):
            sandbox.serve(name, b"x")
        sandbox.serve_archive("crictl-v1.37.0-linux-arm64.tar.gz", "crictl")
        sandbox.serve_archive("cni-plugins-linux-arm64-v1.9.1.tgz", "bridge")
        archive = "containerd-2.2.0-linux-arm64.tar.gz"
        sandbox.serve_archive(archive, "bin/containerd", ".sha256sum")
        succeed(sandbox, "install.sh")
        assert sandbox.path("/usr/local/bin/containerd").exists()


class TestCluster:
    def test_first_master_founds(self, tmp_path: Path) -> None:
        """The first master runs kubeadm init on the cluster's authorities, once."""
        sandbox = node(tmp_path)
        succeed(sandbox, "cluster.sh")
        (call,) = sandbox.calls("kubeadm")
        assert call.startswith("kubeadm init --config ")
        key = sandbox.path("/etc/kubernetes/pki/ca.key")
        assert key.read_text() == secrets().kubernetes.private_key
        assert key.stat().st_mode & 0o077 == 0
        assert sandbox.path("/etc/kubernetes/pki/etcd/ca.crt").exists()
        succeed(sandbox, "cluster.sh")
        assert len(sandbox.calls("kubeadm")) == 1

    def test_failed_attempt_is_undone(self, tmp_path: Path) -> None:
        """After a failure the node is reset and tried again, with its certificates."""
        sandbox = node(tmp_path)
        sandbox.plan("kubeadm", "fail", "ok", "ok")
        succeed(sandbox, "cluster.sh")
        verbs = [call.split()[1] for call in sandbox.calls("kubeadm")]
        assert verbs == ["init", "reset", "init"]

    @pytest.mark.parametrize(("role", "index"), [("master", "2"), ("worker", "0")])
    def test_others_join(self, tmp_path: Path, role: str, index: str) -> None:
        """All others wait for the API and join; masters bring the authorities along."""
        sandbox = node(tmp_path, role, {"__NODE_INDEX__": index})
        sandbox.mark("api-is-down")
        sandbox.plan("kubeadm", "fail", "ok", "ok")
        succeed(sandbox, "cluster.sh")
        calls = sandbox.calls("curl", "kubeadm")
        verbs = [call.split()[1] if call.startswith("kubeadm") else "ask" for call in calls]
        assert verbs == ["ask", "ask", "join", "reset", "ask", "join"]
        assert "https://10.0.0.4:6443/readyz" in calls[0]
        assert sandbox.path("/etc/kubernetes/pki/sa.key").exists() is (role == "master")


class TestNetwork:
    def manifest(self, sandbox: Sandbox, name: str, text: str) -> list[dict[str, Any]]:
        driver = "calico" if name.startswith("calico") else "flannel"
        (sandbox.web / name).write_text(text)
        succeed(sandbox, "network.sh")
        applied = sandbox.path(f"/var/lib/jeroboam/{driver}.yaml").read_text()
        return [document for document in yaml.safe_load_all(applied) if document]

    def test_flannel(self, tmp_path: Path) -> None:
        """Flannel gets the cluster's pod network and backend; applying is tried until it works."""
        labels = {"flannel_backend": "host-gw", "flannel_network_cidr": "10.9.0.0/16"}
        sandbox = node(tmp_path, labels=labels)
        sandbox.plan("kubectl", "fail", "ok")
        config, daemon = self.manifest(sandbox, "kube-flannel.yml", FLANNEL)
        net = json.loads(config["data"]["net-conf.json"])
        assert net["Network"] == "10.9.0.0/16"
        assert net["SubnetLen"] == 24
        assert net["Backend"] == {"Type": "host-gw"}
        assert daemon["spec"]["image"] == "ghcr.io/flannel-io/flannel:v0.28.4"
        assert len(sandbox.calls("kubectl")) == 2
        succeed(sandbox, "network.sh")
        assert len(sandbox.calls("kubectl")) == 2

    def test_calico(self, tmp_path: Path) -> None:
        """Calico gets pool, wrapping, a writable folder and the registry of one's own."""
        sandbox = node(
            tmp_path,
            template={"network_driver": "calico"},
            labels={
                "calico_ipv4pool": "10.7.0.0/16",
                "calico_ipv4pool_ipip": "Off",
                "container_infra_prefix": "registry.example.org/k8s",
            },
        )
        (daemon,) = self.manifest(sandbox, "calico.yaml", CALICO)
        container = daemon["spec"]["containers"][0]
        settings = {entry["name"]: entry["value"] for entry in container["env"]}
        assert settings == {
            "CALICO_IPV4POOL_IPIP": "Never",
            "CALICO_IPV4POOL_CIDR": "10.7.0.0/16",
            "LAST": "x",
        }
        assert container["image"] == "registry.example.org/k8s/node:v3.33.0"
        path = daemon["spec"]["volumes"][0]["hostPath"]["path"]
        assert path.startswith("/opt/libexec/kubernetes/")

    def test_checksum(self, tmp_path: Path) -> None:
        """A manifest with a checksum is applied only if it matches."""
        sandbox = node(tmp_path, labels={"flannel_manifest_sha256": "0" * 64})
        (sandbox.web / "kube-flannel.yml").write_text(FLANNEL)
        with pytest.raises(subprocess.TimeoutExpired):
            self.run_briefly(sandbox)
        assert sandbox.calls("kubectl") == []

    def run_briefly(self, sandbox: Sandbox) -> None:
        script = sandbox.path("/usr/local/lib/jeroboam/network.sh")
        subprocess.run(
            ["bash", str(script)],
            env={
                "PATH": f"{sandbox.programs}:/usr/bin:/bin",
                "SANDBOX": str(sandbox.folder),
                "JEROBOAM_ROOT": str(sandbox.folder / "root"),
                "JEROBOAM_PAUSE": "1",
            },
            timeout=3,
            check=True,
            capture_output=True,
        )

    def test_other_masters(self, tmp_path: Path) -> None:
        """The pod network is the first master's business."""
        sandbox = node(tmp_path, values={"__NODE_INDEX__": "1"})
        succeed(sandbox, "network.sh")
        assert sandbox.calls("kubectl", "curl") == []


class TestReady:
    def test_reports_once(self, tmp_path: Path) -> None:
        """Success is reported when the node is ready, until Heat has taken it, and only once."""
        sandbox = node(tmp_path, "worker")
        sandbox.plan("kubectl", "fail", "False", "True")
        sandbox.mark("heat-is-down")
        succeed(sandbox, "ready.sh")
        succeed(sandbox, "ready.sh")
        assert len(sandbox.calls("kubectl")) == 3
        (signal,) = (json.loads(line) for line in sandbox.signals())
        assert set(signal) == {"status", "reason", "id", "data"}
        assert signal["status"] == "SUCCESS"
        assert signal["id"] == HEAT_VALUES["__NODE_NAME__"]

    def test_token_stays_in_its_file(self, tmp_path: Path) -> None:
        """The token is read by curl from a file and shows in no process list and no output."""
        sandbox = node(tmp_path)
        sandbox.plan("kubectl", "True")
        done = sandbox.run("ready.sh")
        token, url = HEAT_VALUES["__SIGNAL_TOKEN__"], HEAT_VALUES["__SIGNAL_URL__"]
        assert token not in str(sandbox.calls("curl")) + done.stdout + done.stderr
        assert (sandbox.folder / "signal.conf").read_text().splitlines() == [
            f'url = "{url}"',
            f'header = "X-Auth-Token: {token}"',
        ]


class TestVolumes:
    VOLUME = "0a1b2c3d-1111-2222-3333-444455556666"

    def test_new_volume(self, tmp_path: Path) -> None:
        """A blank volume gets a file system and is mounted for etcd."""
        sandbox = self.with_volume(tmp_path, "__ETCD_VOLUME__")
        sandbox.plan("mountpoint", "fail")
        succeed(sandbox, "volumes.sh")
        names = [call.split()[0] for call in sandbox.calls("mkfs.xfs", "mount")]
        assert names == ["mkfs.xfs", "mount"]
        assert sandbox.calls("mount")[0].endswith("/var/lib/etcd")

    def test_used_volume(self, tmp_path: Path) -> None:
        """A volume that has a file system keeps it."""
        sandbox = self.with_volume(tmp_path, "__STORAGE_VOLUME__")
        sandbox.plan("mountpoint", "fail")
        sandbox.plan("blkid", "xfs")
        succeed(sandbox, "volumes.sh")
        assert sandbox.calls("mkfs.xfs") == []
        assert sandbox.calls("mount")[0].endswith("/var/lib/containerd")

    def test_no_volume(self, tmp_path: Path) -> None:
        """Without volumes nothing is touched."""
        sandbox = node(tmp_path)
        succeed(sandbox, "volumes.sh")
        assert sandbox.calls("mkfs.xfs", "mount", "blkid") == []

    def with_volume(self, tmp_path: Path, word: str) -> Sandbox:
        sandbox = node(tmp_path, values={word: self.VOLUME})
        device = sandbox.path("/dev/vdb")
        link = sandbox.path(f"/dev/disk/by-id/virtio-{self.VOLUME[:20]}")
        link.parent.mkdir(parents=True)
        device.touch()
        link.symlink_to(device)
        return sandbox


def test_settings_survive_the_shell(tmp_path: Path) -> None:
    """The shell reads from cluster.env what the driver wrote."""
    document = boot(documents(make_spec(labels={"calico_tag": "v3.1.4"}))["worker"])
    path = tmp_path / "cluster.env"
    path.write_text(files(document)["/etc/jeroboam/cluster.env"])
    script = f'set -eu; . {path}; printf "%s" "$KUBE_TAG|$NETWORK_MANIFEST_URL"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "v1.37.1|https://github.com/flannel-io/flannel/releases/download/v0.28.4/kube-flannel.yml"
    )
