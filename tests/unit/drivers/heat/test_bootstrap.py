"""Each driver's nodes boot: what they get is well formed, and its scripts run in their order."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.drivers.heat.clusters import make_spec, secrets
from tests.unit.drivers.heat.nodes import DRIVERS, HEAT_VALUES, boot, documents, files, modes, units
from tests.unit.drivers.heat.sandbox import Sandbox
from tests.unit.drivers.heat.test_ignition import SPECS

SHELLCHECK = Path(sys.executable).with_name("shellcheck")
SYSTEMD = shutil.which("systemd-analyze")
ROLES = ("master", "worker")
EACH = [pytest.param(name, role, id=f"{name}-{role}") for name in sorted(DRIVERS) for role in ROLES]
SCRIPT = re.compile(r"^ExecStart=/usr/bin/bash (\S+)$", re.MULTILINE)
METRICS_SERVER = """\
kind: Deployment
        - --metric-resolution=15s
        image: registry.k8s.io/metrics-server/metrics-server:v0.8.0
"""
LABELS = {
    "metrics_server_enabled": "true",
    "addon_manifest_urls": "http://files/one.yaml http://files/two.yaml",
}
ALONE = {"__NODE_ADDRESS__": "10.0.0.4", "__API_ADDRESS__": "10.0.0.4"}


def booted(name: str, role: str, spec: Any = None, **values: str) -> dict[str, Any]:
    """Return what a node of a driver gets."""
    return boot(documents(spec or make_spec(labels=LABELS), DRIVERS[name])[role], **values)


@pytest.mark.parametrize(("name", "role"), EACH)
def test_boots(name: str, role: str, tmp_path: Path) -> None:
    """All steps succeed in the order of their units, and the node reports that it is ready."""
    document = booted(name, role, **ALONE)
    sandbox = Sandbox.of(tmp_path, document)
    serve(sandbox)
    sandbox.plan("kubectl", "True")
    for script in in_order(units(document)):
        done = sandbox.run(script)
        assert done.returncode == 0, f"{script}: {done.stderr}"
    binaries = "/opt/bin" if name == "k8s_coreos_v1" else "/usr/local/bin"
    for binary in ("kubeadm", "kubelet", "kubectl", "crictl"):
        assert sandbox.path(f"{binaries}/{binary}").stat().st_mode & 0o111
    (founding,) = sandbox.calls("kubeadm")
    assert founding.startswith("kubeadm init" if role == "master" else "kubeadm join")
    applied = [call for call in sandbox.calls("kubectl") if " apply " in call]
    assert len(applied) == (4 if role == "master" else 0)
    (signal,) = (json.loads(line) for line in sandbox.signals())
    assert (signal["status"], signal["id"]) == ("SUCCESS", HEAT_VALUES["__NODE_NAME__"])


@pytest.mark.parametrize(("name", "role"), EACH)
def test_second_boot_changes_nothing(name: str, role: str, tmp_path: Path) -> None:
    """After a reboot the node neither joins nor reports nor applies anything again."""
    document = booted(name, role, **ALONE)
    sandbox = Sandbox.of(tmp_path, document)
    serve(sandbox)
    sandbox.plan("kubectl", "True")
    scripts = in_order(units(document))
    for script in scripts:
        sandbox.run(script)
    before = sandbox.calls("kubeadm", "kubectl", "curl")
    for script in scripts:
        # The unit's condition keeps a member from installing again.
        if script != "install.sh":
            assert sandbox.run(script).returncode == 0
    assert sandbox.calls("kubeadm", "kubectl", "curl") == before


@pytest.mark.parametrize("name", sorted(DRIVERS))
def test_shellcheck(name: str, tmp_path: Path) -> None:
    """Every script that a node gets is free of shellcheck's findings."""
    sandbox = Sandbox.of(tmp_path, booted(name, "master"))
    scripts = sorted(sandbox.path(sandbox.scripts).glob("*.sh"))
    assert {path.name for path in scripts} > {"library.sh", "install.sh", "cluster.sh", "addons.sh"}
    done = subprocess.run(
        [str(SHELLCHECK), "--external-sources", *map(str, scripts)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not installed here")
@pytest.mark.parametrize(("name", "role"), EACH)
def test_systemd_takes_the_units(name: str, role: str, tmp_path: Path) -> None:
    """Systemd finds nothing wrong with the units, their drop-ins and their dependencies."""
    folder = tmp_path / "units"
    spec = make_spec(template={"http_proxy": "http://p:1"})
    for unit in units(booted(name, role, spec)).values():
        lay_out(folder, unit)
    # What is the system's own, as far as ours refer to it.
    for other in ("network-online.target", "multi-user.target", "containerd.service"):
        if not (folder / other).exists():
            kind = "[Service]\nExecStart=/bin/true\n" if other.endswith("service") else ""
            (folder / other).write_text(f"[Unit]\nDescription=x\n{kind}")
    mine = sorted(str(path) for path in folder.glob("*.service"))
    done = subprocess.run(
        [str(SYSTEMD), "verify", "--man=no", "--generators=no", *mine],
        env={"SYSTEMD_UNIT_PATH": str(folder), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    told = [line for line in done.stderr.splitlines() if str(folder) in line]
    # The programs of the node are not on this machine.
    assert [line for line in told if "is not executable" not in line] == []


@pytest.mark.parametrize(("name", "role"), EACH)
@pytest.mark.parametrize("spec", sorted(SPECS))
def test_documents(name: str, role: str, spec: str) -> None:
    """No word is left to replace, secrets are for root, and Nova takes the document."""
    chosen = SPECS[spec]
    if name in {"k8s_coreos_v1", "k8s_ubuntu_v1"}:
        labels = {k: v for k, v in chosen.labels.items() if k != "selinux_mode"}
        cluster = chosen.cluster.model_copy(update={"labels": labels})
        chosen = chosen.model_copy(update={"cluster": cluster})
    document = booted(name, role, chosen)
    texts = {**files(document), **{n: str(unit) for n, unit in units(document).items()}}
    for path, text in texts.items():
        assert not re.search(r"__[A-Z]+_|@[a-z]+@", text), path
        hidden = (secrets().bootstrap_token, "pa%s5#", "password=")
        if "PRIVATE KEY" in text or any(secret in text for secret in hidden):
            assert modes(document)[path] == 0o600, path
    assert "pa%s5#&^!" in texts["/etc/jeroboam/signal.json"]
    assert json.loads(texts["/etc/jeroboam/signal.json"])["password"] == "pa%s5#&^!"
    assert len(base64.b64encode(json.dumps(document).encode())) < 65535


@pytest.mark.parametrize("name", ["k8s_fedora_atomic_v1", "k8s_ubuntu_v1"])
def test_cloud_config(name: str) -> None:
    """cloud-init learns of units when the files are there, and does not wait for them."""
    document = booted(name, "master")
    assert set(document) == {"hostname", "preserve_hostname", "write_files", "runcmd"}
    assert all(re.fullmatch("0[0-7]{3}", entry["permissions"]) for entry in document["write_files"])
    verbs = [command[1] for command in document["runcmd"] if command[0].endswith("systemctl")]
    assert verbs == ["mask", "restart", "daemon-reload", "enable", "start"]
    start = document["runcmd"][-1]
    assert start[2] == "--no-block"
    assert {"containerd.service", "kubelet.service", "jeroboam-ready.service"} < set(start)


def test_updates_of_the_system() -> None:
    """Nodes update themselves only where that is asked for, whatever the system calls it."""
    asked = make_spec(labels={"os_auto_update": "true"})
    timers = {
        "k8s_coreos_v1": "update-engine.service",
        "k8s_fedora_atomic_v1": "rpm-ostreed-automatic.timer",
        "k8s_ubuntu_v1": "unattended-upgrades.service",
    }
    for name, timer in timers.items():
        assert units(booted(name, "worker"))[timer]["mask"] is True
        assert timer not in units(booted(name, "worker", asked))


def test_selinux_of_atomic(tmp_path: Path) -> None:
    """Where the kernel's arguments are out of reach, a file and a command set SELinux's mode."""
    spec = make_spec(labels={"selinux_mode": "permissive"})
    document = booted("k8s_fedora_atomic_v1", "worker", spec)
    assert files(document)["/etc/selinux/config"].startswith("SELINUX=permissive\n")
    assert "/etc/selinux/config" not in files(booted("k8s_fedora_atomic_v1", "worker"))
    sandbox = Sandbox.of(tmp_path, document)
    serve(sandbox)
    sandbox.program("setenforce")
    assert sandbox.run("install.sh").returncode == 0
    assert sandbox.calls("setenforce") == ["setenforce 0"]


def test_runc_with_a_wrong_checksum(tmp_path: Path) -> None:
    """A damaged runc is fetched again, and never installed."""
    sandbox = Sandbox.of(tmp_path, booted("k8s_ubuntu_v1", "worker"))
    serve(sandbox)
    sandbox.mark("broken-runc.amd64")
    done = sandbox.run("install.sh")
    assert done.returncode == 0
    assert "the checksum of" in done.stderr
    assert sandbox.path("/usr/local/bin/runc").read_text() == "runc"


def test_metrics_server_trusts_kubelets(tmp_path: Path) -> None:
    """metrics-server is told to take the kubelets' own certificates."""
    sandbox = Sandbox.of(tmp_path, booted("k8s_ubuntu_v1", "master", None, **ALONE))
    serve(sandbox)
    kept = sandbox.folder / "applied"
    sandbox.program("kubectl", f'#!/usr/bin/bash\ncat "${{@: -1}}" >> {kept}\n')
    assert sandbox.run("addons.sh").returncode == 0
    lines = kept.read_text().splitlines()
    assert lines[1:3] == ["        - --metric-resolution=15s", "        - --kubelet-insecure-tls"]
    assert lines[-2:] == ["one: 1", "two: 2"]


def in_order(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return the scripts of the units in an order that their dependencies allow."""
    graph: dict[str, set[str]] = {}
    for name, unit in found.items():
        text = unit.get("contents", "")
        graph[name] = {
            other
            for line in re.findall(r"^(?:After|Requires)=(.*)$", text, re.MULTILINE)
            for other in line.split()
        }
    for name, unit in found.items():
        for line in re.findall(r"^Before=(.*)$", unit.get("contents", ""), re.MULTILINE):
            for other in line.split():
                graph.setdefault(other, set()).add(name)
    scripts = []
    for name in TopologicalSorter(graph).static_order():
        match = SCRIPT.search(found.get(name, {}).get("contents", ""))
        scripts += [Path(match[1]).name] if match else []
    return scripts


def serve(sandbox: Sandbox) -> None:
    """Put all that a node downloads on the stub's web."""
    sandbox.program("uname", "#!/bin/sh\necho x86_64\n")
    if not (sandbox.path("/etc/jeroboam/cluster.env").read_text().count("CONTAINERD_VERSION=2")):
        sandbox.program("containerd")
    for name in ("kubeadm", "kubelet", "kubectl"):
        # The stub of the same name does the work, and notes the call.
        sandbox.serve(name, (sandbox.programs / "kubeadm").read_bytes())
    sandbox.serve_archive("crictl-v1.37.0-linux-amd64.tar.gz", "crictl")
    sandbox.serve_archive("cni-plugins-linux-amd64-v1.9.1.tgz", "./bridge")
    sandbox.serve_archive("containerd-2.4.2-linux-amd64.tar.gz", "bin/containerd", ".sha256sum")
    sandbox.serve("runc.amd64", b"runc")
    sums = hashlib.sha256(b"runc").hexdigest() + "  runc.amd64\n" + "0" * 64 + "  runc.arm64\n"
    (sandbox.web / "runc.sha256sum").write_text(sums)
    (sandbox.web / "kube-flannel.yml").write_text("kind: DaemonSet\n")
    (sandbox.web / "components.yaml").write_text(METRICS_SERVER)
    (sandbox.web / "one.yaml").write_text("one: 1\n")
    (sandbox.web / "two.yaml").write_text("two: 2\n")


def lay_out(folder: Path, unit: dict[str, Any]) -> None:
    """Write a unit and its drop-ins as the system would have them."""
    folder.mkdir(exist_ok=True)
    if "contents" in unit:
        (folder / unit["name"]).write_text(unit["contents"])
    for dropin in unit.get("dropins", ()):
        target = folder / f"{unit['name']}.d" / dropin["name"]
        target.parent.mkdir(exist_ok=True)
        target.write_text(dropin["contents"])
