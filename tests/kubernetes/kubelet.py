"""Stands in for the kubelets: nodes are objects, and pods on them are said to run."""

import threading
import time
from typing import Any, Self

from jeroboam.drivers.kubernetes.client import ClusterApi
from jeroboam.errors import JeroboamError
from tests.kubernetes.control_plane import ControlPlane

PAUSE_SECONDS = 0.2
VERSION = "v1.36.4"


class Kubelets:
    """Answers for all nodes of a cluster, in one thread."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._thread.join()

    def add(self, name: str, *, cpu: str = "4", memory: str = "8Gi", **labels: str) -> None:
        """Register a node that is ready."""
        with self._plane.api() as api:
            meta = {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}}
            api.create("/api/v1/nodes", {"metadata": meta})
            _status(api, f"/api/v1/nodes/{name}", _ready(cpu, memory))
            # The controller that would take it away is switched off, and admission sets it.
            api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})

    def set_ready(self, name: str, *, ready: bool) -> None:
        """Change what a node says of itself."""
        with self._plane.api() as api:
            status = _ready("4", "8Gi")
            if not ready:
                status["conditions"] = [
                    {"type": "Ready", "status": "False", "message": "the runtime is down"}
                ]
            _status(api, f"/api/v1/nodes/{name}", status)

    def _work(self) -> None:
        while not self._stopping.wait(PAUSE_SECONDS):
            try:
                with self._plane.api() as api:
                    for pod in api.items("/api/v1/pods"):
                        _tend(api, pod)
            except JeroboamError:
                # The server is away for a moment, as tests want it.
                time.sleep(PAUSE_SECONDS)


def _tend(api: ClusterApi, pod: dict[str, Any]) -> None:
    meta, status = pod["metadata"], pod.get("status", {})
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
    if not pod["spec"].get("nodeName"):
        return
    if meta.get("deletionTimestamp"):
        api.request("DELETE", path, {"gracePeriodSeconds": 0})
    elif status.get("phase") == "Pending":
        conditions = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")]
        _status(api, path, {"phase": "Running", "conditions": conditions})


def _ready(cpu: str, memory: str) -> dict[str, Any]:
    room = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {
        "capacity": room,
        "allocatable": room,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        "addresses": [{"type": "InternalIP", "address": "192.0.2.10"}],
        "nodeInfo": {
            **dict.fromkeys(
                (
                    *("machineID", "systemUUID", "bootID", "kernelVersion", "osImage"),
                    *("containerRuntimeVersion", "kubeProxyVersion"),
                    *("operatingSystem", "architecture"),
                ),
                "",
            ),
            "kubeletVersion": VERSION,
        },
    }


def _status(api: ClusterApi, path: str, status: dict[str, Any]) -> None:
    api.merge(f"{path}/status", {"status": status})
