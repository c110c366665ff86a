"""Things that run in the cluster of the tests."""

import asyncio
from collections.abc import Callable
from typing import Any

from jeroboam.drivers.kubernetes.client import ClusterApi

NAMESPACE = "default"


def deployment(name: str, replicas: int, **pod: Any) -> dict[str, Any]:
    """Return a deployment; ``pod`` goes to the specification of its pods."""
    labels = {"app": name}
    requests = {"cpu": "500m", "memory": "256Mi"}
    container = {"name": "main", "image": "none", "resources": {"requests": requests}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def deploy(api: ClusterApi, name: str, replicas: int, **pod: Any) -> None:
    """Create a deployment."""
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
    api.create(path, deployment(name, replicas, **pod))


def remove(api: ClusterApi, name: str) -> None:
    """Remove a deployment and its pods."""
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{name}"
    api.request("DELETE", path, {"propagationPolicy": "Background"})


def pods(api: ClusterApi, name: str) -> list[dict[str, Any]]:
    """Return the pods of a deployment that run and stay."""
    found = api.items(f"/api/v1/namespaces/{NAMESPACE}/pods", labelSelector=f"app={name}")
    return [
        pod
        for pod in found
        if pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]
    ]


def protect(api: ClusterApi, name: str, least: int) -> None:
    """Create a disruption budget for the pods of a deployment."""
    selector = {"matchLabels": {"app": name}}
    spec = {"minAvailable": least, "selector": selector}
    path = f"/apis/policy/v1/namespaces/{NAMESPACE}/poddisruptionbudgets"
    api.create(path, {"metadata": {"name": name}, "spec": spec})


async def until(condition: Callable[[], bool], seconds: float = 40) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - nobody sets an event
            await asyncio.sleep(0.2)
