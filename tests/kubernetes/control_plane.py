"""A real control plane of Kubernetes as processes on the loopback interface.

What is not real is the kubelet: ``kubelet.py`` says of pods that they run.
"""

import subprocess
import time
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from jeroboam.certificates import issue_client_certificate
from jeroboam.drivers.base import ClusterSecrets
from jeroboam.drivers.cluster_connection import ADMINISTRATORS
from jeroboam.drivers.kubernetes.client import ClusterApi
from tests.conftest import free_port
from tests.kubernetes.certificates import public_key, server_certificate
from tests.kubernetes.programs.build import CLOUD_CONTROLLER

HOST = "127.0.0.1"
READY_SECONDS = 90


@dataclass
class ControlPlane:
    """etcd, API server, controller manager and scheduler of one cluster.

    Args:
        programs: Where the programs are.
        directory: For state, certificates and logs.
        secrets: The cluster's, as Jeroboam made them.
    """

    programs: Path
    directory: Path
    secrets: ClusterSecrets
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    _started: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"https://{HOST}:{self.port}"

    def api(self) -> ClusterApi:
        return ClusterApi.of(self.address, self.secrets)

    def start(self) -> None:
        self._write_secrets()
        client, peer = free_port(), free_port()
        self._run(
            "etcd",
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-urls=http://{HOST}:{client}",
            f"--advertise-client-urls=http://{HOST}:{client}",
            f"--listen-peer-urls=http://{HOST}:{peer}",
            f"--initial-advertise-peer-urls=http://{HOST}:{peer}",
            f"--initial-cluster=default=http://{HOST}:{peer}",
            "--unsafe-no-fsync",
        )
        self._run("kube-apiserver", *self._api_flags(client))
        self._wait()
        config = f"--kubeconfig={self._kubeconfig()}"
        self._run(
            "kube-controller-manager",
            *(config, "--leader-elect=false", "--secure-port=0"),
            # Nobody renews the heartbeats of nodes that have no kubelet.
            "--controllers=*,-node-lifecycle-controller",
            f"--service-account-private-key-file={self._file('service-account.key')}",
            f"--root-ca-file={self._file('ca.crt')}",
            "--concurrent-deployment-syncs=5",
        )
        self._run("kube-scheduler", config, "--leader-elect=false", "--secure-port=0")

    def stop(self, name: str | None = None) -> None:
        for one in [name] if name else reversed(list(self.processes)):
            process = self.processes.pop(one)
            process.kill()
            process.wait()

    def restart_api(self) -> None:
        """Start the API server anew, where it was."""
        self.run_api()
        self._wait()

    def run_api(self) -> None:
        """Start the API server anew, whether it can be talked to or not."""
        self._run("kube-apiserver", *self._started["kube-apiserver"])

    def run_cloud_controller(self, cloud_conf: Path, cluster_name: str) -> None:
        """Start what looks after nodes in an OpenStack cloud."""
        config = self._kubeconfig()
        self._run(
            CLOUD_CONTROLLER,
            *(f"--kubeconfig={config}", "--leader-elect=false", f"--cluster-name={cluster_name}"),
            *("--cloud-provider=openstack", f"--cloud-config={cloud_conf}"),
            *(f"--bind-address={HOST}", f"--secure-port={free_port()}"),
            f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}",
            "--node-monitor-period=1s",
        )

    def logs(self) -> str:
        texts = (path.read_text()[-1500:] for path in sorted(self.directory.glob("*.log")))
        return "\n---\n".join(texts)

    def _run(self, name: str, *arguments: str) -> None:
        self._started[name] = arguments
        with (self.directory / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [str(self.programs / name), *arguments], stdout=log, stderr=log
            )

    def _wait(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while time.monotonic() < until:
            dead = [name for name, one in self.processes.items() if one.poll() is not None]
            assert not dead, f"{dead} died:\n{self.logs()}"
            try:
                with self.api() as api:
                    api.get("/api/v1/namespaces/default")
                    return
            except Exception as error:  # noqa: BLE001 - it is not there yet, in many ways
                last: Any = error
                time.sleep(0.3)
        raise AssertionError(f"The API server is not ready: {last}\n{self.logs()}")

    def _api_flags(self, etcd: int) -> tuple[str, ...]:
        key = self._file("service-account.key")
        return (
            f"--etcd-servers=http://{HOST}:{etcd}",
            f"--bind-address={HOST}",
            f"--secure-port={self.port}",
            f"--tls-cert-file={self._file('server.crt')}",
            f"--tls-private-key-file={self._file('server.key')}",
            f"--client-ca-file={self._file('ca.crt')}",
            f"--service-account-key-file={self._file('service-account.pub')}",
            f"--service-account-signing-key-file={key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.254.0.0/24",
            "--authorization-mode=Node,RBAC",
            # Pods need no token here, and would wait for theirs.
            "--disable-admission-plugins=ServiceAccount",
        )

    def _file(self, name: str) -> Path:
        return self.directory / name

    def _write_secrets(self) -> None:
        certificate, key = server_certificate(self.secrets.kubernetes, HOST)
        for name, text in (
            ("ca.crt", self.secrets.kubernetes.certificate),
            ("server.crt", certificate),
            ("server.key", key),
            ("service-account.key", self.secrets.service_account_key),
            ("service-account.pub", public_key(self.secrets.service_account_key)),
        ):
            self._file(name).write_text(text)

    def _kubeconfig(self) -> Path:
        issued = issue_client_certificate(
            self.secrets.kubernetes, "controllers", timedelta(days=1), (ADMINISTRATORS,)
        )
        self._file("client.pem").write_text(issued.certificate + issued.private_key)
        path = self._file("kubeconfig")
        user = {
            name: str(self._file("client.pem")) for name in ("client-certificate", "client-key")
        }
        cluster = {"server": self.address, "certificate-authority": str(self._file("ca.crt"))}
        path.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "c",
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "users": [{"name": "c", "user": user}],
                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
                }
            )
        )
        return path
