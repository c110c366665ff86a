"""Builds etcd, kubeadm, the servers of a control plane and its cloud controller from Go modules.

``go.mod`` beside this file pins the versions and ``go.sum`` their content. The programs go to the
user's cache, under a name made from both files, so that they are built once: about ten minutes of
CPU and 1 GB of downloads the first time, nothing later.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
MODULES = (HERE / "go.mod", HERE / "go.sum")
VERSION = "v1.36.4"
CLOUD_CONTROLLER = "openstack-cloud-controller-manager"
PACKAGES = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kubeadm": "k8s.io/kubernetes/cmd/kubeadm",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    CLOUD_CONTROLLER: f"k8s.io/cloud-provider-openstack/cmd/{CLOUD_CONTROLLER}",
}
FLAGS = f"-s -w -X k8s.io/component-base/version.gitVersion={VERSION}"
BUILD_SECONDS = 3000
NO_GO = (
    "The tests on a real Kubernetes need Go to build its servers: install Go 1.26 or newer "
    "(https://go.dev/dl), so that `go` is in the PATH."
)


def cache() -> Path:
    """Return the directory of the programs."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in MODULES)).hexdigest()[:12]
    return home / "jeroboam" / f"kubernetes-{VERSION}-{digest}"


def ensure() -> Path:
    """Build what is missing; return the directory of the programs.

    Raises:
        RuntimeError: There is no Go, or it cannot build them; the message says why.
    """
    target = cache()
    if all((target / name).exists() for name in PACKAGES):
        return target
    go = shutil.which("go")
    if go is None:
        raise RuntimeError(NO_GO)
    target.mkdir(parents=True, exist_ok=True)
    with _exclusive(target / "lock"):
        for number, (name, package) in enumerate(PACKAGES.items(), start=1):
            if not (target / name).exists():
                _say(f"building {name} ({number} of {len(PACKAGES)}) into {target}")
                _build(go, package, target / name)
    return target


def _build(go: str, package: str, program: Path) -> None:
    started = time.monotonic()
    for file in MODULES:
        shutil.copy(file, program.parent)
    draft = program.with_suffix(".draft")
    done = subprocess.run(
        [go, "build", "-ldflags", FLAGS, "-o", str(draft), package],
        cwd=program.parent,
        env=os.environ | {"GOFLAGS": "-mod=mod -buildvcs=false", "CGO_ENABLED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Go cannot build {package}:\n{done.stdout[-4000:]}")
    # Whole or not at all: a build that is broken off leaves no program.
    draft.rename(program)
    _say(f"built {program.name} in {time.monotonic() - started:.0f} s")


@contextlib.contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another build of Kubernetes")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    sys.stdout.write(f"kubernetes: {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        _say(f"the programs are in {ensure()}")
    except RuntimeError as problem:
        sys.exit(f"kubernetes: {problem}")
