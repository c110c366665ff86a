"""The scripts of a node do the right things in the right order, and go on after failures."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import HEAT_VALUES, boot, documents, files
from tests.unit.drivers.heat.sandbox import Sandbox

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


def run_briefly(sandbox: Sandbox, name: str) -> None:
    """Run a script that does not end by itself."""
    script = sandbox.path(f"/usr/local/lib/jeroboam/{name}")
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


BEHIND_BALANCER = {"__NODE_ADDRESS__": "10.0.0.5", "__API_ADDRESS__": "10.0.0.4"}
ALONE = {"__NODE_ADDRESS__": "10.0.0.4", "__API_ADDRESS__": "10.0.0.4"}
MEMBERS = """\
1111aaaa, started, demo-0123456789ab-master-0, https://10.0.0.5:2380, https://10.0.0.5:2379, false
2222bbbb, started, demo-0123456789ab-master-1, https://10.0.0.6:2380, https://10.0.0.6:2379, false
"""
PODS = "pod/etcd-demo-0123456789ab-master-0\npod/etcd-demo-0123456789ab-master-1\n"


def kubeadm_verbs(sandbox: Sandbox) -> list[str]:
    """Return what kubeadm was asked for, without options."""
    calls = (call.split(" --", 1)[0] for call in sandbox.calls("kubeadm"))
    return [call.removeprefix("kubeadm ") for call in calls]


class TestCluster:
    @pytest.mark.parametrize("values", [BEHIND_BALANCER, ALONE])
    def test_first_master_founds(self, tmp_path: Path, values: dict[str, str]) -> None:
        """The first master runs kubeadm init on the cluster's authorities, once."""
        sandbox = node(tmp_path, values=values)
        succeed(sandbox, "cluster.sh")
        (call,) = sandbox.calls("kubeadm")
        assert call.startswith("kubeadm init --config ")
        assert "ignore-preflight" not in call
        key = sandbox.path("/etc/kubernetes/pki/ca.key")
        assert key.read_text() == secrets().kubernetes.private_key
        assert key.stat().st_mode & 0o077 == 0
        assert sandbox.path("/etc/kubernetes/pki/etcd/ca.crt").exists()
        succeed(sandbox, "cluster.sh")
        assert len(sandbox.calls("kubeadm")) == 1

    def test_founding_waits_for_others(self, tmp_path: Path) -> None:
        """Behind a load balancer, the cluster is asked for some times before one is founded."""
        sandbox = node(tmp_path, values=BEHIND_BALANCER)
        succeed(sandbox, "cluster.sh")
        questions = sandbox.calls("curl")
        assert len(questions) == 3
        assert all("--cacert" in call and "10.0.0.4:6443/readyz" in call for call in questions)

    def test_alone_nobody_is_asked(self, tmp_path: Path) -> None:
        """Where the API has the first master's own address, there is nobody to ask."""
        sandbox = node(tmp_path, values=ALONE)
        succeed(sandbox, "cluster.sh")
        assert sandbox.calls("curl") == []

    def test_failed_attempt_is_undone(self, tmp_path: Path) -> None:
        """After a failure the node is reset and tried again, with its certificates."""
        sandbox = node(tmp_path, values=ALONE)
        sandbox.plan("kubeadm", "fail", "ok", "ok")
        succeed(sandbox, "cluster.sh")
        assert kubeadm_verbs(sandbox) == ["init", "reset", "init"]

    def test_worker_joins(self, tmp_path: Path) -> None:
        """A worker waits for the API and joins; it gets nothing of the authorities."""
        sandbox = node(tmp_path, "worker", {"__NODE_INDEX__": "0"})
        sandbox.mark("api-is-down")
        sandbox.plan("kubeadm", "fail", "ok", "ok")
        succeed(sandbox, "cluster.sh")
        calls = sandbox.calls("curl", "kubeadm")
        verbs = [call.split()[1] if call.startswith("kubeadm") else "ask" for call in calls]
        assert verbs == ["ask", "ask", "join", "reset", "ask", "join"]
        assert "https://10.0.0.4:6443/readyz" in calls[0]
        assert not sandbox.path("/etc/kubernetes/pki/sa.key").exists()

    def rebuilt(self, tmp_path: Path, index: str = "0", **values: str) -> Sandbox:
        """Return a master that is set up anew while the others live."""
        sandbox = node(tmp_path, values={**BEHIND_BALANCER, "__NODE_INDEX__": index, **values})
        sandbox.mark("other-masters")
        sandbox.answer("kubectl", "get", PODS)
        sandbox.answer("kubectl", "list", MEMBERS)
        return sandbox

    @pytest.mark.parametrize("index", ["0", "2"])
    def test_master_joins_living_cluster(self, tmp_path: Path, index: str) -> None:
        """A master joins when others are alive, also the first one; it brings its version along."""
        sandbox = self.rebuilt(tmp_path, index)
        succeed(sandbox, "cluster.sh")
        expected = ["init phase kubeconfig admin", "init phase upload-config all", "join"]
        addons = ["init phase addon all"] if index == "0" else []
        assert kubeadm_verbs(sandbox) == expected + addons
        assert sandbox.path("/etc/kubernetes/pki/sa.key").exists()
        assert not sandbox.path("/var/lib/jeroboam/admin").exists()

    def test_stale_member_is_removed(self, tmp_path: Path) -> None:
        """What etcd and Kubernetes knew of the node is removed through another master."""
        sandbox = self.rebuilt(tmp_path)
        stale = sandbox.path("/var/lib/etcd/member/snap/db")
        stale.parent.mkdir(parents=True)
        stale.touch()
        succeed(sandbox, "cluster.sh")
        calls = sandbox.calls("kubectl")
        (removal,) = [call for call in calls if " member remove " in call]
        assert removal.endswith("remove 1111aaaa")
        assert "exec pod/etcd-demo-0123456789ab-master-1" in removal
        assert any("delete node demo-0123456789ab-master-0" in call for call in calls)
        assert not stale.parent.parent.exists()

    def test_new_master_has_no_stale_member(self, tmp_path: Path) -> None:
        """A master that was never a member removes none."""
        sandbox = self.rebuilt(tmp_path, "2", __NODE_ADDRESS__="10.0.0.9")
        succeed(sandbox, "cluster.sh")
        assert not [call for call in sandbox.calls("kubectl") if " remove " in call]

    def test_without_another_member_nothing_is_joined(self, tmp_path: Path) -> None:
        """Until another master's etcd answers, the node neither joins nor founds."""
        sandbox = self.rebuilt(tmp_path)
        sandbox.answer("kubectl", "get", PODS.splitlines()[0])
        with pytest.raises(subprocess.TimeoutExpired):
            run_briefly(sandbox, "cluster.sh")
        assert "join" not in kubeadm_verbs(sandbox)
        assert "init" not in kubeadm_verbs(sandbox)

    def test_only_master_takes_up_its_cluster(self, tmp_path: Path) -> None:
        """With etcd's data on its volume, the only master starts the same cluster again.

        An attempt that fails must not cost the data.
        """
        sandbox = node(tmp_path, values=ALONE)
        data = sandbox.path("/var/lib/etcd/member")
        data.mkdir(parents=True)
        sandbox.plan("kubeadm", "fail", "ok", "ok")
        succeed(sandbox, "cluster.sh")
        first, reset, second = sandbox.calls("kubeadm")
        option = "--ignore-preflight-errors=DirAvailable--var-lib-etcd"
        assert option in first
        assert option in second
        assert "--skip-phases=remove-etcd-member" in reset
        assert data.exists()


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
            run_briefly(sandbox, "network.sh")
        assert sandbox.calls("kubectl") == []

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

    def test_each_report_has_a_token_of_its_own(self, tmp_path: Path) -> None:
        """The node logs in for each report, so a rebuild after any time can still report."""
        sandbox = node(tmp_path)
        sandbox.plan("kubectl", "True")
        sandbox.mark("keystone-is-down")
        succeed(sandbox, "ready.sh")
        login, retried, report = sandbox.calls("curl")[-3:]
        assert login == retried
        assert login.endswith(" http://keystone:5000/v3/auth/tokens") or (
            " http://keystone:5000/v3/auth/tokens " in login
        )
        assert "/stacks/demo-x/1/resources/ready_handle/signal" in report
        sent = json.loads((sandbox.folder / "login").read_text())["auth"]
        user = sent["identity"]["password"]["user"]
        assert user == {"id": "u5e4", "password": "pa%s5#&^!"}
        assert sent["scope"] == {"project": {"id": "p40j"}}

    def test_reports_of_two_boots_differ(self, tmp_path: Path) -> None:
        """A report holds the id of the boot, so one after a rebuild is known to be another."""
        sandbox = node(tmp_path)
        sandbox.plan("kubectl", "True")
        succeed(sandbox, "ready.sh")
        (signal,) = (json.loads(line) for line in sandbox.signals())
        assert signal["data"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def test_secrets_stay_out_of_sight(self, tmp_path: Path) -> None:
        """Password and token show in no process list and no output."""
        sandbox = node(tmp_path)
        sandbox.plan("kubectl", "True")
        done = sandbox.run("ready.sh")
        shown = str(sandbox.calls("curl")) + done.stdout + done.stderr
        assert "gAAAAABmToken-_" not in shown
        assert "pa%s5#&^!" not in shown
        header = (sandbox.folder / "signal.conf").read_text()
        assert header == 'header = "X-Auth-Token: gAAAAABmToken-_"\n'


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
